"""The columnar engine gives every string the same result as a judge that takes one string after the other."""

import sys
import zlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.certification.certify import certify
from overlong.conformance.cli.output import report_of
from overlong.conformance.oracle.columnar import ColumnarOracle
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    LEFT_OUT,
    MISBEHAVED,
    NOT_SUPPORTED,
    ODD,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    BudgetSpent,
    ExpectedAnswers,
    answer_code,
)
from overlong.conformance.protocol.observation import Accepted, Failed, Misbehaved, Refused, Unsupported
from overlong.conformance.protocol.wire import NOT_SAID, UNITS, Answers, big_endian, read_numbers
from overlong.conformance.results.model import State
from overlong.conformance.results.sweeps import Shard
from overlong.conformance.sweep import columnar
from overlong.conformance.sweep.columnar import Columnar, Columns
from overlong.conformance.sweep.grid import Grid
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.sweep import sweep
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import RFC3629, Vector
from overlong.reference import is_well_formed
from zoo import ZOO

KNOWN_WRONG = ZOO / "known_wrong.py"
HOSTILE = [sys.executable, "-I", "-S", str(ZOO / "hostile_target.py")]
PLANS = ("exhaustive-3", "depth-1", "placed-5", "lengths-9", "pairs", "order")
FEW = 90


def ranges(plan):
    """Some strings of each grid of a plan: at its start, its end and at places within it."""
    for grid in plan_named(plan).grids:
        columns, few = Columns(grid), FEW if grid.longest < 300 else 14
        within = grid.size // 257 + grid.size // 3
        for first in sorted({0, max(grid.size - few, 0), within, max(min(1 << 16, grid.size) - few // 2, 0)}):
            yield grid, columns, first, min(few, grid.size - first)


def expects(operation, units, profile=RFC3629, **more):
    more = {"offsets": True, "strips_signature": False, **more}
    return ExpectedAnswers(profile.dialect.automaton, operation, units, **more)


@pytest.mark.parametrize("plan", PLANS)
def test_columns_hold_the_strings_of_the_grid(plan):
    for grid, columns, first, count in ranges(plan):
        lengths, octets = columns.items(first, count)
        ends = np.cumsum([0, *lengths]).tolist()
        items = [octets[start:end] for start, end in pairwise(ends)]
        assert ends[-1] == len(octets)
        assert items[grid.earlier and 1 :: 2 if grid.earlier else 1] == [
            grid.string(index) for index in range(first, first + count)
        ]
        if grid.earlier:
            assert items[::2] == [grid.asked_before(index) for index in range(first, first + count)]


def test_blocks_are_cut_anywhere(monkeypatch):
    """Wherever a block ends, and with as many axes in it as fit."""
    pieces = (b"", b"a", b"\xc2", b"\xe2\x82", b"\xff", b"bcd\x80")
    grid = Grid((pieces, pieces, pieces), earlier=1)
    for tails in (1, 40, 1 << 16):
        monkeypatch.setattr(columnar, "_TAILS", tails)
        columns = Columns(grid)
        for first, count in ((0, grid.size), *((first, 7) for first in range(0, grid.size - 7, 7))):
            lengths, octets = columns.judged(first, count)
            strings = [grid.string(index) for index in range(first, first + count)]
            assert (lengths.tolist(), octets) == ([*map(len, strings)], b"".join(strings))
            both = [
                octets
                for index in range(first, first + count)
                for octets in (grid.asked_before(index) or b"", grid.string(index))
            ]
            lengths, octets = columns.items(first, count)
            assert (lengths.tolist(), octets) == ([*map(len, both)], b"".join(both))


# -- judging


def checksum(answers, first, operation="D", left=()):
    """The checksum, computed string by string."""
    total = 0
    for place, (status, number) in enumerate(zip(answers.statuses, read_numbers(answers.numbers), strict=True)):
        letter = chr(status)
        if letter != "U" and place not in left:
            code = answer_code(letter, 0 if (letter, operation) == ("A", "V") else number)
            total += (code + 1) * ((first + place) * ODD | 1)
    return total % (1 << 64)


def judged_alone(octets, observed, expected):
    """The result for one string, by the design's rules."""
    vector = Vector("", octets)
    flaw = vector.flaw
    match observed:
        case Unsupported():
            return NOT_SUPPORTED
        case Failed():
            return BROKEN
        case Misbehaved():
            return MISBEHAVED
        case Accepted(values):
            if flaw is not None:
                return ACCEPTED_ILL_FORMED
            if not expected.units or values is None or (expected.strips_signature and octets[:3] == b"\xef\xbb\xbf"):
                return AGREES
            units = UNITS[expected.units]
            return AGREES if values == units.values(units.write([*map(ord, octets.decode())])) else OTHER_OUTPUT
        case Refused(offset, length, incomplete):
            if flaw is None:
                return REFUSED_WELL_FORMED
            if not expected.offsets or offset is None:
                return AGREES
            if expected.has_nul_trait and 0 in octets:
                return AGREES
            if expected.strips_signature and octets[:3] == b"\xef\xbb\xbf":
                return AGREES
            if offset != flaw.offset:
                return OTHER_OFFSET
            if length not in (None, flaw.length):
                return OTHER_LENGTH
            return OTHER_INCOMPLETE if incomplete not in (None, flaw.incomplete) else AGREES
    raise AssertionError(observed)


FAULTS_IN_COLUMNS = {BROKEN, MISBEHAVED, NOT_SUPPORTED}
GRID = Grid(
    (
        (b"", b"a", b"\xef\xbb\xbf", b"\xe2\x82", b"\xff", "\U0001f600".encode()),
        (b"", b"\xac", b"b", b"\xc3\xa9", b"\xed\xa0", b"\0\xc3"),
    )
)
STRINGS = [GRID.string(index) for index in range(GRID.size)]
ANSWER = st.one_of(
    st.none(),
    st.tuples(st.just("A"), st.lists(st.sampled_from((0x61, 0xE9, 0x20AC)), max_size=3)),
    st.tuples(
        st.just("R"), st.sampled_from((0, 1, 3, NOT_SAID)), st.sampled_from((0, 1, 2)), st.sampled_from((0, 1, 0xFF))
    ),
    st.tuples(st.sampled_from("UX"), st.binary(max_size=5)),
)


@pytest.mark.long
@given(
    st.lists(ANSWER, min_size=GRID.size, max_size=GRID.size),
    st.sampled_from([*UNITS, ""]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_any_answers_are_judged_as_if_one_by_one(changes, units, offsets, strips, nul):
    """Some right answers are replaced by others; later answers shift, and are still judged rightly."""
    written = UNITS[units or "utf-32"]
    expected = expects("D", units, offsets=offsets, strips_signature=strips, has_nul_trait=nul)
    right = Batch.of_strings("", STRINGS).expected("D", written)
    columns = [bytearray(), list[int](), bytearray(), bytearray(), bytearray()]
    outputs = right.outputs(written.size)
    right_columns = zip(
        right.statuses, read_numbers(right.numbers), right.lengths, right.incompletes, outputs, strict=True
    )
    for change, row in zip(changes, right_columns, strict=True):
        match change:
            case None:
                status, number, length, incomplete, output = row
            case ("A", scalars):
                output = written.write(scalars)
                status, number, length, incomplete = ord("A"), len(output) // written.size, 0, 0
            case ("R", number, length, incomplete):
                status, output = ord("R"), b""
            case (letter, output):
                status, number, length, incomplete = ord(letter), len(output), 0, 0
        for column, value in zip(columns[:4], (status, number, length, incomplete), strict=True):
            column.append(value)
        columns[4] += output
    answers = Answers.of(
        bytes(columns[0]), big_endian("I", columns[1]), *map(bytes, (columns[2], columns[3], columns[4]))
    )
    strings = Columns(GRID)
    oracle = ColumnarOracle(expected, RFC3629.dialect.layout, written.size)
    judged = oracle.judge(answers, oracle.expected(*strings.judged(0, GRID.size)), 0)
    kinds = [
        judged_alone(octets, observed, expected)
        for octets, observed in zip(STRINGS, answers.observations(written, verdict_only=False), strict=True)
    ]
    assert (judged.kinds.tolist() if judged.kinds is not None else [0] * GRID.size) == kinds
    assert judged.checksum == checksum(answers, 0)
    assert judged.accepted == answers.statuses.count(b"A")
    assert (
        sorted((each.index, each.kind) for each in judged.faults)
        == [(index, kind) for index, kind in enumerate(kinds) if kind in FAULTS_IN_COLUMNS][: len(judged.faults)]
    )
    assert {each.kind for each in judged.faults} == FAULTS_IN_COLUMNS & set(kinds)


def test_a_refusal_may_say_nothing_and_must_not_say_what_there_is_not():
    columns = Columns(Grid(((b"\xff", b"\x80", b"a"),)))
    expected = expects("V", "utf-32")
    oracle, strings = ColumnarOracle(expected, RFC3629.dialect.layout, 4), columns.judged(0, 3)
    right = oracle.expected(*strings)
    silent = Answers.of(b"RRA", big_endian("I", [NOT_SAID, NOT_SAID, 0]), bytes(3), b"\xff\xff\0", b"")
    assert right.wire != silent.columns
    judged = oracle.judge(silent, right, 0)
    assert judged.kinds is None
    known = oracle.expected(*strings)  # from then on they are compared as a whole
    assert known.wire == silent.columns
    assert oracle.judge(silent, known, 0) == judged
    strange = Answers.of(b"RRA", bytes(12), b"\1\1\0", b"\x55\0\0", b"")
    judged = oracle.judge(strange, right, 0)
    assert judged.kinds is not None
    assert judged.kinds.tolist() == [MISBEHAVED, AGREES, AGREES]
    assert [(fault.index, fault.kind) for fault in judged.faults] == [(0, MISBEHAVED)]
    assert "said 55 for incomplete" in judged.faults[0].text


# -- with processes


def engine_of(name, **limits):
    target = resolve(name, Limits(**limits))
    assert isinstance(target, FramedTarget)
    return Columnar(target, RFC3629)


def swept(target, shard):
    engine = engine_of(target)
    try:
        return engine.run(shard), engine
    finally:
        engine.close()


def kinds_of(result):
    return zlib.decompress(result.kinds) if result.kinds else bytes(result.shard.count)


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    "name",
    ["surrogates", "lone_tails", "mask_of_three_octets_is_wrong", "offset_of_the_offender"],
)
def test_known_wrong_decoders_are_judged_as_if_one_by_one(name):
    """The whole complete suite, and octets EC to F1 with any other octet."""
    engine = engine_of(f"py:{KNOWN_WRONG}:{name}")
    expected, found = engine.expectation, Counter[int]()
    for shard in (*plan_named("depth-0").shards(), Shard("exhaustive-2", 1, 0xEC00, 0x0601)):
        result, grid = engine.run(shard), plan_named(shard.plan).grids[shard.grid]
        strings = [grid.string(index) for index in range(shard.first, shard.first + shard.count)]
        (answered,) = engine.target.observe([(Batch.of_strings("", strings), expected.operation)])
        units = engine.target.greeting.units
        observed = answered.answers.observations(units, verdict_only=expected.operation == "V")
        kinds = [judged_alone(*each, expected) for each in zip(strings, observed, strict=True)]
        assert list(kinds_of(result)) == kinds
        assert result.checksum == checksum(answered.answers, shard.first, expected.operation)
        assert result.well_formed == sum(map(is_well_formed, strings))
        assert (result.strings, result.octets) == (len(strings), sum(map(len, strings)))
        found.update(kinds)
    engine.close()
    assert len(found) >= 2


CRASHES = """
import os
def decode(octets: bytes) -> str:
    if octets == bytes.fromhex({!r}):
        os.abort()
    return octets.decode()
"""


def test_a_crash_is_that_string_s_and_its_neighbours_are_judged(tmp_path):
    module = tmp_path / "crashes.py"
    module.write_text(CRASHES.format("F490"), "ascii")
    shard, culprit = Shard("exhaustive-2", 1, 0xF000, 0x0FFF), 0xF490
    result, engine = swept(f"py:{module}:decode", shard)
    right, _ = swept("cpython", shard)
    assert {shard.first + place: kind for place, kind in enumerate(kinds_of(result)) if kind} == {culprit: CRASHED}
    assert [(fault.index, fault.kind, fault.text) for fault in result.faults] == [
        (culprit, CRASHED, "it was ended by SIGABRT")
    ]
    assert not right.kinds
    lost = (answer_code("R", 0) + 1) * (culprit * ODD | 1)
    assert (result.checksum + lost) % (1 << 64) == right.checksum
    assert engine.target.restarts >= 1
    assert (result.strings, result.well_formed) == (right.strings, right.well_formed)


def test_what_is_left_after_too_many_crashes_is_left_out_and_said(tmp_path):
    module = tmp_path / "crashes.py"
    module.write_text(CRASHES.format("F490"), "ascii")
    engine = engine_of(f"py:{module}:decode", restarts=0)
    result = engine.run(Shard("exhaustive-2", 1, 0xF000, 0x0FFF))
    with pytest.raises(BudgetSpent, match="--limit restarts"):
        engine.run(Shard("exhaustive-2", 1, 0, 8))
    engine.close()
    left = kinds_of(result).count(LEFT_OUT)
    assert result.strings == 0x0FFF - left > 0 < left
    assert kinds_of(result)[0xF490 - 0xF000] == LEFT_OUT
    assert [(fault.index, fault.kind) for fault in result.faults] == [(0xF000 + result.strings, LEFT_OUT)]


@pytest.mark.long
def test_an_earlier_string_is_asked_right_before_and_not_judged(tmp_path):
    """A decoder that remembers errors loses that many characters of the next string."""
    (grid,) = plan_named("order").grids
    some = len(grid.axes[1])
    shard = Shard("order", 0, some * 2 + 5, 2 * some)
    result, _ = swept(f"py:{KNOWN_WRONG}:remembers_the_last_error", shard)
    should = [
        OTHER_OUTPUT
        if grid.string(index)
        and is_well_formed(grid.string(index))
        and not is_well_formed(grid.asked_before(index) or b"")
        else AGREES
        for index in range(shard.first, shard.first + shard.count)
    ]
    assert list(kinds_of(result)) == should
    assert OTHER_OUTPUT in should
    assert result.octets == sum(len(grid.string(index)) for index in range(shard.first, shard.first + shard.count))

    before, one = 3, Shard("order", 0, some * 3 + 40, 3)
    earlier = grid.axes[0][before]
    module = tmp_path / "crashes.py"
    module.write_text(CRASHES.format(earlier.hex()), "ascii")
    assert all(grid.string(index) != earlier for index in range(one.first, one.first + one.count))
    result, _ = swept(f"py:{module}:decode", one)
    assert list(kinds_of(result)) == [CRASHED] * 3
    assert {fault.text for fault in result.faults} == {
        "it was ended by SIGABRT, at the string that is tested before it"
    }


def test_targets_without_batches_work_too():
    result, _ = swept([*HOSTILE, "none", "operations=VD", "no-batch"], Shard("exhaustive-1", 0, 0, 256))
    right, _ = swept("cpython", Shard("exhaustive-1", 0, 0, 256))
    assert not result.kinds
    assert (result.well_formed, result.accepted, result.checksum) == (128, 128, right.checksum)


def test_a_sweep_with_unsupported_strings_is_whole_and_its_verdict_is_not(tmp_path):
    target = [*HOSTILE, "unsupported", "on=ff"]
    run = sweep(target, ["exhaustive-1"], output=tmp_path)
    assert (run.incomplete, run.wrong, run.divergences, run.state) == ("", "", 0, State.INCOMPLETE)
    assert run.digest
    assert run.unsupported.startswith("1 string was")
    (subject,) = report_of(tmp_path).subjects
    assert (subject.state, subject.parts[0].failing) == (State.INCOMPLETE, 0)
    certified = certify(target, suites=("core",), plans=["exhaustive-1"])
    assert "1 string was answered 'unsupported'" in certified.run.incomplete
