"""Inputs by number in a library's own process: sums and kinds equal those of a judge in Python, for any library."""

import ctypes
import functools
import mmap
import shutil
import subprocess
import sys
import zlib
from itertools import pairwise

import pytest

from overlong.conformance import Limits
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    CRASHED,
    ODD,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    ExpectedAnswers,
    answer_code,
)
from overlong.conformance.sweep.request import PROGRESS_OCTETS, Progress
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.vectors.vector import RFC3629
from overlong.fuzz.execution.compiled import InputLoop
from overlong.fuzz.execution.executor import ColumnarExecutor, Executor, InProcessExecutor, inputs_from
from overlong.fuzz.execution.job import CampaignJob
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.generation.generated import Generated
from overlong.reference.core import why_not
from overlong.reference.dialect import dialect
from zoo import SHARED_LIBRARIES

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on PATH; install gcc or clang"),
]

AUTOMATON = dialect().automaton
SEED = 7
SEEDS = ("na\u00efve caf\u00e9 \u20ac5".encode() * 3, bytes(range(256)))
OF = 64
"""One input in a number gets each wrong answer, regardless of its octets."""
REFUSES, ACCEPTS, LATE, LIES = range(1, 5)
SOURCE = """
#include <signal.h>
#include <unistd.h>
#include "right.c"

static unsigned sum(const uint8_t *s, size_t n) {
  unsigned found = 31 * n;
  for (size_t place = 0; place < n; place++) found += s[place] * (place + 1);
  return found %% 64;
}

size_t odd(const uint8_t *s, size_t n) {
  switch (sum(s, n)) {
  case REFUSES: return 0;
  case ACCEPTS: return n;
  case LATE: if (errpos(s, n) + 1 < n) return errpos(s, n) + 1; break;
  case LIES: return n + 1;
  }
  return errpos(s, n);
}

static const uint8_t deadly[] = {%(deadly)s}, endless[] = {%(endless)s};
size_t fragile(const uint8_t *s, size_t n) {
  if (n == sizeof deadly && !memcmp(s, deadly, n)) raise(SIGSEGV);
  if (n == sizeof endless && !memcmp(s, endless, n)) for (;;) pause();
  return odd(s, n);
}

/* A decoder that looks one octet further than it may, and believes it. */
size_t trusting(const uint8_t *s, size_t n) { return is_bool(s, n) || (n && is_bool(s, n + 1)) ? n : errpos(s, n); }

ptrdiff_t odd32(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t written = utf32(s, n, out, cap);
  if (sum(s, n) == LATE && written > 0) out[4 * written - 4] ^= 1;
  return sum(s, n) == REFUSES && written > 0 ? written - 1 : written;
}

result odd16(const uint8_t *s, size_t n, uint8_t *out) {
  result found = utf16_result(s, n, out);
  if (!found.error && sum(s, n) == LATE && found.count) out[2 * found.count - 1] ^= 0x80;
  if (found.error && sum(s, n) == LATE) found.count = n - 1;
  return found;
}

ptrdiff_t odd8(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t written = utf8(s, n, out, cap);
  if (sum(s, n) == LATE && written > 0) out[0] ^= 1;
  return written;
}
"""
FIRST, COUNT = 3000, 10_000
"""The shard: its inputs begin after the single tokens."""
DEADLY, ENDLESS = 5_011, 11_009
"""The numbers of inputs."""


def wanted(first=FIRST, count=COUNT):
    return inputs_from(first, count)


@pytest.fixture(scope="module")
def inputs():
    found = Generated(SEED, SEEDS)
    vars(found)["string"] = functools.cache(found.string)
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory, inputs):
    """The path of the library."""
    folder = tmp_path_factory.mktemp("executor")
    source, built = folder / "odd.c", folder / "odd.so"
    culprits = {"deadly": inputs.string(DEADLY), "endless": inputs.string(ENDLESS)}
    source.write_text(SOURCE % {name: ", ".join(map(str, octets)) for name, octets in culprits.items()})
    beside = SHARED_LIBRARIES
    defined = [f"-D{name}={globals()[name]}" for name in ("REFUSES", "ACCEPTS", "LATE", "LIES")]
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{beside}", *defined, source, "-o", built], check=True)
    return built


@pytest.fixture(scope="module")
def executor(library):
    """Make engines for its functions, and end them."""
    opened = {}

    def made(symbol, abi="errpos(ptr,len)", seeds=SEEDS, timeout=5.0):
        name, key = f"so:{library}:{symbol}?abi={abi}", (symbol, abi, seeds, timeout)
        if key not in opened:
            opened[key] = InProcessExecutor(
                CampaignJob((name,), SEED, seeds=seeds, limits=Limits(timeout=timeout)), name
            )
        return opened[key]

    yield made
    for each in opened.values():
        each.close()
        assert each.engine.notes == []


def wrongness(octets):
    return (31 * len(octets) + sum(octet * place for place, octet in enumerate(octets, 1))) % OF


def right(octets):
    """The offset of the refusal, or -1."""
    try:
        octets.decode()
    except UnicodeDecodeError as error:
        return error.start
    return -1


def odd(octets):
    """A status, a number and a kind for every input."""
    offset, wrong = right(octets), wrongness(octets)
    if wrong == LIES:
        return "X", 0, BROKEN
    if wrong == REFUSES and octets:
        return "R", 0, REFUSED_WELL_FORMED if offset < 0 else OTHER_OFFSET if offset else 0
    if wrong == ACCEPTS and offset >= 0:
        return "A", 0, ACCEPTED_ILL_FORMED
    if wrong == LATE and 0 <= offset < len(octets) - 1:
        return "R", offset + 1, OTHER_OFFSET
    return ("A", 0, 0) if offset < 0 else ("R", offset, 0)


def expected(shard, inputs, decide, faults=()):
    """The fields of a result, by a judge in Python; ``faults``: kinds of unanswered inputs."""
    sums, kinds, faults = [0] * 5, bytearray(), dict(faults)
    for index in range(shard.first, shard.first + shard.count):
        octets = inputs.string(index)
        sums[:3] = sums[0] + 1, sums[1] + len(octets), sums[2] + (right(octets) < 0)
        if index in faults:
            kinds.append(faults[index])
            continue
        status, number, kind = decide(octets)
        kinds.append(kind)
        sums[3] += status == "A"
        sums[4] += (answer_code(status, number) + 1) * (index * ODD | 1)
    return (*sums[:4], sums[4] % (1 << 64), bytes(kinds))


def found(result):
    kinds = zlib.decompress(result.kinds) if result.kinds else bytes(result.shard.count)
    return result.strings, result.octets, result.well_formed, result.accepted, result.checksum, kinds


def test_the_result_is_that_of_a_judge_in_python_and_its_parts_add_up_to_it(executor, inputs):
    engine = executor("odd")
    whole = engine.engine.run(wanted())
    assert found(whole) == expected(wanted(), inputs, odd)
    assert set(found(whole)[-1]) == {0, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OFFSET, BROKEN}
    bounds = [FIRST + place for place in (0, 1, 4096, COUNT)]
    parts = [engine.engine.run(wanted(start, end - start)) for start, end in pairwise(bounds)]
    *sums, kinds = zip(*map(found, parts), strict=True)
    *totals, checksum = map(sum, sums)
    assert (*totals, checksum % (1 << 64), b"".join(kinds)) == found(whole)
    assert {fault.text for fault in whole.faults} == {
        f"it says offset {len(octets) + 1} of {len(octets)} octets"
        for octets in (inputs.string(fault.index) for fault in whole.faults)
    }


def test_an_input_that_crashes_it_and_one_that_hangs_it_are_named_and_all_others_are_judged(executor, inputs):
    engine = executor("fragile", timeout=2.0)
    result = engine.engine.run(wanted())
    faults = {DEADLY: CRASHED, ENDLESS: TIMED_OUT}
    assert found(result) == expected(wanted(), inputs, odd, faults)
    told = [(fault.index, fault.kind, fault.text) for fault in result.faults if fault.kind != BROKEN]
    assert told == [(DEADLY, CRASHED, "was ended by SIGSEGV"), (ENDLESS, TIMED_OUT, "gave no answer within 2 s")]
    assert engine.engine.restarts == 2


def test_a_right_one_agrees_with_many_inputs_and_far_ones_and_a_trusting_one_is_caught(executor, inputs):
    engine = executor("errpos")
    for shard in (wanted(0, 200_000), wanted((1 << 62) - COUNT, COUNT)):
        result = engine.engine.run(shard)
        assert (result.kinds, result.faults, result.strings) == (b"", (), shard.count)
        assert 0 < result.well_formed == result.accepted < shard.count
    ahead = expected(shard := wanted(FIRST, 2000), inputs, trusting)
    assert found(executor("trusting").engine.run(shard)) == ahead
    assert ACCEPTED_ILL_FORMED in ahead[-1]


def trusting(octets):
    """The octet after an input completes a character."""
    if right(octets) < 0 or (octets and right(octets + b"\x80") < 0):
        return "A", 0, ACCEPTED_ILL_FORMED if right(octets) >= 0 else 0
    return "R", right(octets), 0


@pytest.mark.parametrize(
    ("abi", "symbol", "units"),
    [
        ("utf32(ptr,len,out,cap)", "32", f"utf-32-{sys.byteorder[0]}e"),
        ("utf16-result(ptr,len,out)", "16", f"utf-16-{sys.byteorder[0]}e"),
        ("utf8(ptr,len,out,cap)", "8", "utf-8"),
    ],
)
def test_what_is_put_out_is_judged_unit_by_unit(executor, inputs, abi, symbol, units):
    width = int(symbol) // 8

    def decoded(octets, *, wrongly):
        offset, wrong = right(octets), wrongly and wrongness(octets)
        if offset >= 0 and width == 2:
            late = wrong == LATE and offset != len(octets) - 1
            return "R", len(octets) - 1 if late else offset, OTHER_OFFSET if late else 0
        if offset >= 0:
            return "R", 0xFFFFFFFF, 0
        count = len(octets.decode().encode(units)) // width
        short = width == 4 and wrong == REFUSES and count > 0
        return "A", count - short, OTHER_OUTPUT if short or (wrong == LATE and count) else 0

    shard = wanted(FIRST, 4000)
    result = executor(f"odd{symbol}", abi).engine.run(shard)
    assert found(result) == expected(shard, inputs, lambda octets: decoded(octets, wrongly=True))
    assert OTHER_OUTPUT in found(result)[-1]
    sound = executor("utf16_result" if width == 2 else f"utf{symbol}", abi).engine.run(shard)
    assert found(sound) == expected(shard, inputs, lambda octets: decoded(octets, wrongly=False))


def test_the_engine_that_asks_in_columns_has_the_same_results(executor, library):
    mine = executor("odd").kinds(0, 100_000)
    probe = Probe(f"so:{library}:odd?abi=errpos(ptr,len)", Limits(), RFC3629)
    try:
        theirs = ColumnarExecutor(probe, Generated(SEED, SEEDS), RFC3629).kinds(0, 100_000)
    finally:
        probe.close()
    assert theirs == mine
    assert any(theirs[1])


def test_the_loop_in_this_process_judges_as_python_does(library, inputs):
    """Where the sanitizers watch it (conformance/tests/sweep/test_sweep_sanitized.py)."""
    abi, address = ABIS["errpos(ptr,len)"], ctypes.cast(ctypes.CDLL(str(library))["odd"], ctypes.c_void_p).value or 0
    judge = ExpectedAnswers(AUTOMATON, "V", "", offsets=True, strips_signature=False)
    progress, kinds, shard = Progress(mmap.mmap(-1, PROGRESS_OCTETS)), bytearray(COUNT), wanted()
    progress.begin(FIRST)
    InputLoop(abi, [address], judge, dialect().layout).run(inputs, FIRST + COUNT, progress, kinds, FIRST)
    sums = tuple(progress.sums.values())
    assert (*sums, bytes(kinds)) == expected(shard, inputs, odd)


def test_traits_change_what_is_right(library, inputs):
    name = f"so:{library}:errpos?abi=errpos(ptr,len)"
    names = name, f"{name}&nul=refused"  # which is false
    job = CampaignJob(names, SEED, seeds=SEEDS)
    engines = [InProcessExecutor(job, name) for name in names]
    try:
        plain, refusing = (found(engine.engine.run(wanted(FIRST, 4000))) for engine in engines)
    finally:
        for each in engines:
            each.close()
    strings = [inputs.string(index) for index in range(FIRST, FIRST + 4000)]
    with_nul = [right(octets) < 0 and b"\0" in octets for octets in strings]
    assert sum(with_nul) > 0
    kinds = bytes(ACCEPTED_ILL_FORMED if each else 0 for each in with_nul)
    assert refusing == (*plain[:2], plain[2] - sum(with_nul), *plain[3:5], kinds)


def test_seeds_have_a_say_and_the_file_that_they_travel_in_is_gone_in_the_end(executor, inputs):
    engine, shard = executor("odd"), wanted(FIRST, 2000)
    octets = sum(len(inputs.string(index)) for index in range(FIRST, FIRST + 2000))
    without = sum(map(len, map(Generated(SEED).string, range(FIRST, FIRST + 2000))))
    assert engine.engine.run(shard).octets == octets != without
    folder = engine.folder.path
    assert folder.exists()
    engine.close()
    assert not folder.exists()


def test_only_functions_of_libraries_are_asked_in_their_process(library):
    for name, kind in (("cpython", type(None)), (f"so:{library}:errpos?abi=errpos(ptr,len)", InProcessExecutor)):
        executor = Executor(CampaignJob((name,), SEED), Probe(name), Generated(SEED))
        assert isinstance(executor.in_process, kind)
        executor.close()
