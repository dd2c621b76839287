"""Inputs by number in a library's own process: sums and kinds equal those of a judge in Python, for any library."""

import ctypes
import functools
import mmap
import shutil
import subprocess
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
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    ExpectedAnswers,
    answer_code,
)
from overlong.conformance.sweep.request import PROGRESS_OCTETS, Progress
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.fuzz.engines.compiled import InputLoop
from overlong.fuzz.engines.executor import Executor, inputs_from
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.engines.probe import Probe
from overlong.fuzz.generated import Generated
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
"""
FIRST, COUNT = 3000, 10_000
"""The shard: its inputs begin after the single tokens."""
DEADLY, ENDLESS = 5_011, 11_009
"""The numbers of inputs."""


def wanted(first=FIRST, count=COUNT):
    return inputs_from(first, count)


def run(executor, shard):
    assert executor.in_process is not None
    return executor.in_process.run(shard)


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
            limits = Limits(timeout=timeout)
            job = CampaignJob((name,), SEED, seeds=seeds, limits=limits)
            opened[key] = Executor(job, Probe(name, limits), Generated(SEED, seeds))
        return opened[key]

    yield made
    for each in opened.values():
        each.close()
        assert each.in_process is not None
        assert each.in_process.notes == []


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
    whole = engine.in_process.run(wanted())
    assert found(whole) == expected(wanted(), inputs, odd)
    assert set(found(whole)[-1]) == {0, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OFFSET, BROKEN}
    bounds = [FIRST + place for place in (0, 1, 4096, COUNT)]
    parts = [engine.in_process.run(wanted(start, end - start)) for start, end in pairwise(bounds)]
    *sums, kinds = zip(*map(found, parts), strict=True)
    *totals, checksum = map(sum, sums)
    assert (*totals, checksum % (1 << 64), b"".join(kinds)) == found(whole)
    assert {fault.text for fault in whole.faults} == {
        f"it says offset {len(octets) + 1} of {len(octets)} octets"
        for octets in (inputs.string(fault.index) for fault in whole.faults)
    }


def test_an_input_that_crashes_it_and_one_that_hangs_it_are_named_and_all_others_are_judged(executor, inputs):
    engine = executor("fragile", timeout=2.0)
    result = engine.in_process.run(wanted())
    faults = {DEADLY: CRASHED, ENDLESS: TIMED_OUT}
    assert found(result) == expected(wanted(), inputs, odd, faults)
    told = [(fault.index, fault.kind, fault.text) for fault in result.faults if fault.kind != BROKEN]
    assert told == [(DEADLY, CRASHED, "was ended by SIGSEGV"), (ENDLESS, TIMED_OUT, "gave no answer within 2 s")]
    assert engine.in_process.restarts == 2


def test_a_right_one_agrees_with_many_inputs_and_far_ones_and_a_trusting_one_is_caught(executor, inputs):
    engine = executor("errpos")
    for shard in (wanted(0, 200_000), wanted((1 << 62) - COUNT, COUNT)):
        result = engine.in_process.run(shard)
        assert (result.kinds, result.faults, result.strings) == (b"", (), shard.count)
        assert 0 < result.well_formed == result.accepted < shard.count
    ahead = expected(shard := wanted(FIRST, 2000), inputs, trusting)
    assert found(executor("trusting").in_process.run(shard)) == ahead
    assert ACCEPTED_ILL_FORMED in ahead[-1]


def trusting(octets):
    """The octet after an input completes a character."""
    if right(octets) < 0 or (octets and right(octets + b"\x80") < 0):
        return "A", 0, ACCEPTED_ILL_FORMED if right(octets) >= 0 else 0
    return "R", right(octets), 0


def test_what_asks_in_columns_has_the_same_results(executor, library, monkeypatch):
    mine, name = executor("odd").kinds(0, 100_000), f"so:{library}:odd?abi=errpos(ptr,len)"
    monkeypatch.setattr("overlong.fuzz.engines.executor.reason_against", lambda _: "asked in columns")
    other = Executor(CampaignJob((name,), SEED), Probe(name), Generated(SEED, SEEDS))
    try:
        theirs = other.kinds(0, 100_000)
    finally:
        other.close()
    assert other.in_process is None
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
    engines = [Executor(job, Probe(name), inputs) for name in names]
    try:
        plain, refusing = (found(run(engine, wanted(FIRST, 4000))) for engine in engines)
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
    assert engine.in_process.run(shard).octets == octets != without
    folder = engine.folder.path
    assert folder.exists()
    engine.close()
    assert not folder.exists()


def test_only_functions_of_libraries_are_asked_in_their_process(library):
    for name in ("cpython", f"so:{library}:errpos?abi=errpos(ptr,len)"):
        executor = Executor(CampaignJob((name,), SEED), Probe(name), Generated(SEED))
        assert (executor.in_process is None) == (name == "cpython")
        executor.close()
