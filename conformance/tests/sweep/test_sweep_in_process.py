"""Sweeps in a library's own process: sums and kinds equal those of a judge in Python, whatever the library does."""

import json
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

from overlong.conformance import Limits, TargetError
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    CRASHED,
    LEFT_OUT,
    ODD,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    answer_code,
)
from overlong.conformance.results.sweeps import Shard
from overlong.conformance.sweep import adapter
from overlong.conformance.sweep.grid import account
from overlong.conformance.sweep.in_process import InProcess, reason_against
from overlong.conformance.sweep.plan import LARGEST_SHARD, plan_named
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference.core import why_not
from overlong.reference.dialect import dialect
from waiting import HUNG
from zoo import SHARED_LIBRARIES

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on PATH; install gcc or clang"),
]

AUTOMATON = dialect().automaton
SWEEPING = Path(adapter.__file__)
REFUSES, ACCEPTS, LATE, GROUP, SCRAWLS, ABORTS, DIES, HANGS, EXITS, LIES, FORKS, RUDE, SPARSE = (
    *(0xC3, 0xC0, 0xE0, 0xE1, 0xE2),
    *range(0xF8, 0x100),
)
"""First octets of two-octet strings on which the library misbehaves; DIES also does so with three octets."""
SOURCE = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "right.c"

static void leave_nothing_open(void) {
    for (int each = 3; each < 64; each++)
        close(each);
}

static void scrawl(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned char *first, *end;
    while (fgets(line, sizeof line, maps))
        if (strstr(line, " rw-s ") && sscanf(line, "%p-%p", (void **)&first, (void **)&end) == 2)
            memset(first, 0x7F, end - first);
}

size_t odd(const unsigned char *octets, size_t length) {
    if (length == 3 && octets[0] == DIES)
        raise(SIGSEGV);
    if (length == 2)
        switch (octets[0]) {
        case REFUSES: return 0;
        case ACCEPTS: return length;
        case LATE: return 1;
        case GROUP: if (octets[1] == 9) kill(0, SIGKILL); break;
        case SCRAWLS: scrawl(); break;
        case ABORTS: if (octets[1] == 9) abort(); break;
        case DIES: raise(SIGSEGV); break;
        case HANGS: if (octets[1] > 9 && octets[1] % 2) { leave_nothing_open(); for (;;) pause(); } break;
        case EXITS: if (octets[1] == 9) exit(0); break;
        case LIES: return length + octets[1] + 1;
        case FORKS: if (octets[1] == 9) fork(); break;
        case RUDE:
            if (octets[1] == 9) {
                puts("to stdout");
                fflush(stdout);
                if (chdir("/") == 0)
                    signal(SIGTERM, SIG_IGN);
                leave_nothing_open();
            }
            break;
        case SPARSE: if (octets[1] % 2) raise(SIGBUS); break;
        }
    return errpos(octets, length);
}
"""
NAMES = (
    *("REFUSES", "ACCEPTS", "LATE", "GROUP", "SCRAWLS", "ABORTS", "DIES"),
    *("HANGS", "EXITS", "LIES", "FORKS", "RUDE", "SPARSE"),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The path of the library."""
    folder = tmp_path_factory.mktemp("sweep")
    source, built = folder / "odd.c", folder / "odd.so"
    source.write_text(SOURCE)
    defined = [f"-D{name}={globals()[name]}" for name in NAMES]
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", f"-I{SHARED_LIBRARIES}", *defined, source, "-o", built], check=True
    )
    return built


def framed(name, **limits):
    target = resolve(name, Limits(**limits))
    assert isinstance(target, FramedTarget)
    return target


def engine_of(name, **limits):
    return InProcess(framed(name, **limits), RFC3629)


@pytest.fixture(scope="module")
def odd(library):
    engine = engine_of(f"so:{library}:odd?abi=errpos(ptr,len)", timeout=2.0)
    yield engine
    engine.close()
    assert engine.notes == []


@pytest.fixture(scope="module")
def patient(library):
    engine = engine_of(f"so:{library}:odd?abi=errpos(ptr,len)", timeout=60, restarts=20, sandbox=False)
    yield engine
    engine.close()
    assert engine.notes == []


def decided(octets):
    """The answer of ``odd`` to one or two octets that it survives: a status and a number."""
    if len(octets) == 2 and octets[0] in (REFUSES, LATE):
        return "R", octets[0] == LATE
    if len(octets) == 2 and octets[0] == LIES:
        return "X", 0
    return right(octets) if len(octets) != 2 or octets[0] != ACCEPTS else ("A", 0)


def right(octets):
    if AUTOMATON.accepts(octets):
        return "A", 0
    return "R", max(place for place in range(len(octets)) if AUTOMATON.accepts(octets[:place]))


def kind_of(octets, status, number):
    well_formed = AUTOMATON.accepts(octets)
    if status == "X":
        return BROKEN
    if status == "A":
        return 0 if well_formed else ACCEPTED_ILL_FORMED
    return REFUSED_WELL_FORMED if well_formed else 0 if (status, number) == right(octets) else OTHER_OFFSET


def expected(shard, decide=decided, faults=None):
    """The fields of a result, from a judge in Python; ``faults``: the kinds of strings without an answer."""
    grid, sums, kinds = plan_named(shard.plan).grids[shard.grid], [0] * 5, bytearray()
    for index in range(shard.first, shard.first + shard.count):
        octets, kind = grid.string(index), (faults or {}).get(index)
        if kind != LEFT_OUT:
            sums[:3] = sums[0] + 1, sums[1] + len(octets), sums[2] + AUTOMATON.accepts(octets)
        if kind is None:
            status, number = decide(octets)
            kind = kind_of(octets, status, number)
            sums[3] += status == "A"
            sums[4] += (answer_code(status, number) + 1) * (index * ODD | 1)
        kinds.append(kind)
    return (*sums[:4], sums[4] % (1 << 64), bytes(kinds))


def found(result):
    kinds = zlib.decompress(result.kinds) if result.kinds else bytes(result.shard.count)
    return result.strings, result.octets, result.well_formed, result.accepted, result.checksum, kinds


def block(first, count=1, length=2):
    """The strings of that length with these first octets."""
    size = 256 ** (length - 1)
    return Shard("exhaustive-3", length - 1, first * size, count * size)


def test_the_result_is_that_of_a_judge_in_python(odd):
    whole = odd.run(shard := block(ACCEPTS, LATE - ACCEPTS + 1))
    assert found(whole) == expected(shard)
    assert set(found(whole)[-1]) == {0, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OFFSET}
    assert "namespace" in odd.isolation or "process" in odd.isolation


@pytest.mark.parametrize(
    ("first", "text"),
    [(ABORTS, "was ended by SIGABRT"), (EXITS, "exited with status 0"), (GROUP, "was ended by SIGKILL")],
    ids=["abort", "exit", "its process group"],
)
def test_a_string_that_it_does_not_survive_is_named_and_its_neighbours_are_judged(odd, first, text):
    before = odd.restarts
    result = odd.run(shard := block(first))
    culprit = shard.first + 9
    assert [(each.index, each.kind, each.text) for each in result.faults] == [(culprit, CRASHED, text)]
    assert found(result) == expected(shard, faults={culprit: CRASHED})
    assert odd.restarts == before + 1


def test_strings_that_it_dies_of_in_a_row_are_tried_and_then_left_out_and_never_called_crashed(odd):
    before, shard = odd.restarts, block(DIES - 1, 3, length=3)
    result = odd.run(shard)
    kinds = zlib.decompress(result.kinds)
    start, end = 1 << 16, 2 << 16
    assert not any(kinds[:start] + kinds[end:])
    crashed, left_out = kinds.count(CRASHED), kinds.count(LEFT_OUT)
    assert crashed == odd.restarts - before < 64
    assert crashed + left_out == end - start
    assert kinds[start : start + 32] == bytes([CRASHED]) * 32
    assert kinds[end - 1] == CRASHED
    assert result.strings == shard.count - left_out
    assert result.octets == 3 * result.strings
    assert {(each.kind, each.text) for each in result.faults} == {(CRASHED, "was ended by SIGSEGV")}
    assert len(result.faults) == 16
    whole = plan_named(shard.plan).grids[shard.grid].string
    assert not AUTOMATON.accepts(whole(shard.first + start)[:1] + b"\x80\x80")  # nothing there is well-formed, so:
    assert result.accepted == result.well_formed


def test_a_decoder_that_dies_of_every_other_string_is_given_up_behind_its_limit(patient):
    kinds = zlib.decompress((result := patient.run(shard := block(SPARSE))).kinds)
    assert kinds[: 2 * 20] == bytes([0, CRASHED]) * 20
    assert kinds[40:] == bytes([LEFT_OUT]) * (shard.count - 41) + bytes([CRASHED])
    faults = {shard.first + place: kind for place, kind in enumerate(kinds) if kind}
    assert found(result) == expected(shard, faults=faults)


def test_a_call_that_does_not_return_is_ended_and_after_three_the_rest_is_left_out(odd):
    result = odd.run(shard := block(HANGS))
    hangs = dict.fromkeys((shard.first + place for place in (11, 13, 15)), TIMED_OUT)
    faults = hangs | dict.fromkeys(range(shard.first + 16, shard.first + shard.count), LEFT_OUT)
    assert found(result) == expected(shard, faults=faults)
    assert [each.index for each in result.faults] == list(hangs)
    assert {each.text for each in result.faults} == {"gave no answer within 2 s"}


def test_after_three_calls_that_do_not_return_the_limit_is_short_in_all_shards(library):
    engine = engine_of(f"so:{library}:odd?abi=errpos(ptr,len)", timeout=3.0)
    texts = [[each.text for each in engine.run(block(HANGS)).faults] for _ in range(2)]
    engine.close()
    assert texts == [["gave no answer within 3 s"] * 3, ["gave no answer within 1 s"] * 3]


def test_an_answer_against_the_convention_is_said_in_words(odd):
    result = odd.run(shard := block(LIES))
    assert found(result) == expected(shard)
    assert [each.index for each in result.faults] == list(range(shard.first, shard.first + 16))
    assert [each.text for each in result.faults[:2]] == [f"it says offset {3 + each} of 2 octets" for each in (0, 1)]


def test_counters_that_the_function_writes_over_are_no_result_and_the_next_shard_is_asked(odd):
    with pytest.raises(TargetError, match="the function may have written over memory that is not its own"):
        odd.run(block(SCRAWLS))
    odd.close()
    assert found(odd.run(block(0))) == expected(block(0))


@pytest.mark.parametrize("first", [FORKS, RUDE], ids=["forks", "rude"])
def test_what_it_does_besides_has_no_effect(odd, first):
    before = odd.restarts
    for shard in (block(first), block(0)):
        result = odd.run(shard)
        assert found(result) == expected(shard)
        assert result.faults == ()
    assert odd.restarts == before


def test_a_shard_of_the_largest_size_fits_in_what_is_shared(library):
    """Two ASCII octets and any three, judged by a laxer dialect: divergences are everywhere."""
    name, lax = f"so:{library}:odd?abi=errpos(ptr,len)", Profile("lax")
    shard = next(each for each in plan_named("exhaustive-5", lax).shards() if each.grid == 4)
    assert shard.count == LARGEST_SHARD == 256**3
    engine = InProcess(framed(name), lax)
    try:
        result = engine.run(shard)
    finally:
        engine.close()
    three = plan_named("exhaustive-3", lax).grids[2]
    accepted, right = (account(three, automaton).well_formed for automaton in (lax.dialect.automaton, AUTOMATON))
    assert (result.strings, result.well_formed, result.accepted) == (shard.count, accepted, right)
    assert zlib.decompress(result.kinds).count(REFUSED_WELL_FORMED) == accepted - right


def state_and_parent(process):
    """The state and the parent of a process; a process that is gone counts as a zombie."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "Z", 0
    return state, int(parent)


def children_of(parent):
    return [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and state_and_parent(each.name)[1] == parent
    ]


def is_gone(process):
    deadline = time.monotonic() + HUNG
    while state_and_parent(process)[0] != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    return state_and_parent(process)[0] == "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("ending", ["the harness", "the adapter"])
def test_no_process_outlives_the_harness_or_the_adapter(library, ending):
    command = [sys.executable, str(SWEEPING), str(library), "odd", "errpos(ptr,len)"]
    fields = {"plan": "exhaustive-3", "grid": 1, "first": HANGS * 256, "count": 256, "speaks": "rfc3629"}
    payload = json.dumps(fields | {"operation": "V", "timeout": 60, "restarts": 9}).encode()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["operations"] == "PBV"
        process.stdin.write(struct.pack(">II", 5 + len(payload), 1) + b"W" + payload)
        process.stdin.flush()
        assert process.stdout.read(9) == struct.pack(">II", 5, 0) + b"W"  # at work
        (child,) = children_of(process.pid)
        if ending == "the harness":
            process.stdin.close()
        else:
            process.kill()
        assert is_gone(child)
        assert process.wait(HUNG) == (0 if ending == "the harness" else -signal.SIGKILL)


@pytest.mark.parametrize("after", [0, 0.005, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("pause", [0.001, 0.01, 0.2])
def test_a_shard_can_be_broken_off_from_another_thread_at_any_moment(patient, after, pause):
    patient.close()
    errors = []

    def hang():
        with pytest.raises(TargetError) as caught:
            patient.run(block(HANGS))
        errors.append(str(caught.value))

    thread = threading.Thread(target=hang)
    thread.start()
    time.sleep(after)
    deadline = time.monotonic() + HUNG
    while thread.is_alive() and time.monotonic() < deadline:  # the first time, it may not have begun
        patient.close()
        thread.join(pause)
    assert not thread.is_alive()
    assert "not measured: at its start " in errors[0] or "not measured: at the shard exhaustive-3/1/" in errors[0]
    assert found(patient.run(shard := block(0))) == expected(shard)


def test_the_adapter_answers_what_it_greets_with(library):
    target = framed(f"so:{library}:odd?abi=errpos(ptr,len)")
    target.command = [str(SWEEPING) if "shared_library" in word else word for word in target.command]
    strings = [b"", b"a", b"a\x80", bytes([LIES, 0])]
    target.open()
    try:
        batch = Batch.of([Vector(str(number), octets) for number, octets in enumerate(strings)])
        (answered,) = target.observe([(batch, "V")])
    finally:
        target.close()
    assert target.notes == []
    assert answered.answers.statuses == b"AARX"
    assert answered.answers.units == b"it says offset 3 of 2 octets"


def test_targets_that_no_loop_can_call_are_named_for_it(tmp_path):
    (tmp_path / "judge.py").write_text("def judge(function, address, length):\n    return True\n")
    through_python = framed(f"so:libc.so.6:abs?abi=py:{tmp_path}/judge.py:judge")
    assert "abi=py:" in reason_against(through_python)
    assert "so:" in reason_against(framed("cpython"))
    with pytest.raises(TargetError, match="cannot be tested in its own process"):
        InProcess(framed("cpython"), RFC3629)
