"""Columns of answers with traits and earlier strings are judged like single answers."""

import sys
from array import array
from dataclasses import replace

import pytest

np = pytest.importorskip("numpy", reason="sweeps need NumPy; pip install '.[native]'")

from overlong.conformance.oracle import columnar  # noqa: E402
from overlong.conformance.oracle.columnar import ColumnReader, Read  # noqa: E402
from overlong.conformance.oracle.expectation import ExpectedAnswers  # noqa: E402
from overlong.conformance.oracle.judging import Judge  # noqa: E402
from overlong.conformance.oracle.kinds import (  # noqa: E402
    AGREES,
    BROKEN,
    CRASHED,
    NOT_SUPPORTED,
    OTHER_OFFSET,
    OTHER_OUTPUT,
)
from overlong.conformance.protocol.observation import Crashed  # noqa: E402
from overlong.conformance.protocol.wire import Answers, big_endian  # noqa: E402
from overlong.conformance.sweep.columns import Columns  # noqa: E402
from overlong.conformance.sweep.columns_expected import ColumnOracle  # noqa: E402
from overlong.conformance.sweep.grid import Axis, Grid  # noqa: E402
from overlong.conformance.vectors.profile import Profile  # noqa: E402
from overlong.reference import dialect  # noqa: E402

AUTOMATON = dialect().automaton
EXPECTED = ExpectedAnswers(AUTOMATON, "D", "utf-32", offsets=True, strips_signature=False)


def judged(strings, expected, answers):
    columns = Columns(Grid((Axis("only", strings),)))
    judge = Judge(columns.items, expected, unit_size=4)
    found = judge.judge(answers, ColumnOracle(columns, expected, Profile()).expected(0, len(strings)), 0)
    return [AGREES] * len(strings) if found.kinds is None else found.kinds.tolist()


def answers_of(statuses, numbers, units=b""):
    count = len(statuses)
    return Answers.of(statuses, big_endian("I", numbers), bytes(count), b"\xff" * count, units)


def test_where_a_string_is_refused_is_set_aside_as_traits_say():
    strings = (b"\xef\xbb\xbf\xff", b"\0\xff", b"a\xff", b"\xff")
    wrong = answers_of(b"RRRR", [0, 0, 0, 0])
    assert judged(strings, EXPECTED, wrong) == [OTHER_OFFSET, OTHER_OFFSET, OTHER_OFFSET, AGREES]
    strips, nul = replace(EXPECTED, strips_signature=True), replace(EXPECTED, has_nul_trait=True)
    assert judged(strings, strips, wrong) == [AGREES, OTHER_OFFSET, OTHER_OFFSET, AGREES]
    assert judged(strings, nul, wrong) == [OTHER_OFFSET, AGREES, OTHER_OFFSET, AGREES]
    assert judged(strings, replace(EXPECTED, offsets=False), wrong) == [AGREES] * 4


def test_a_signature_that_is_stripped_is_no_other_output():
    strings = (b"\xef\xbb\xbfa", b"ab", b"b")
    stripped = answers_of(b"AAA", [1, 2, 1], big_endian("I", [0x61, 0x61, 0x63, 0x62]))
    assert judged(strings, EXPECTED, stripped) == [OTHER_OUTPUT, OTHER_OUTPUT, AGREES]
    assert judged(strings, replace(EXPECTED, strips_signature=True), stripped) == [AGREES, OTHER_OUTPUT, AGREES]


def test_outputs_that_are_empty_and_those_that_are_shorter():
    assert judged((b"", b"\xff"), EXPECTED, answers_of(b"AR", [0, 0])) == [AGREES, AGREES]
    assert judged((b"ab",), EXPECTED, answers_of(b"A", [2], big_endian("I", [0x61, 0x63]))) == [OTHER_OUTPUT]
    assert judged((b"ab",), EXPECTED, answers_of(b"A", [2], big_endian("I", [0x61, 0x62]))) == [AGREES]
    shorter = answers_of(b"AA", [1, 1], big_endian("I", [0x62, 0x62]))
    assert judged((b"ab", b"a"), EXPECTED, shorter) == [OTHER_OUTPUT, OTHER_OUTPUT]


def test_what_went_wrong_at_an_earlier_string_is_told_at_its_own():
    earlier = Columns(Grid((Axis("only", (b"a", b"b")),)))
    lengths, octets = earlier.items(0, 2)

    def items(_first, _count):
        return type(lengths)("I", [1, 1, 1, 1]), b"zazb"

    oracle = ColumnOracle(earlier, EXPECTED, Profile()).expected(0, 2)
    judge = Judge(items, EXPECTED, unit_size=4, step=2)
    answers = answers_of(b"AAAX", [1, 1, 1, 3], big_endian("I", [0x7A, 0x61, 0x7A]) + b"odd")
    crashed = Crashed("was ended by SIGSEGV")
    found = judge.judge(answers, oracle, 10, from_earlier=True, faults={0: crashed, 4: crashed})
    assert octets == b"ab"
    assert found.kinds is not None
    assert found.kinds.tolist() == [CRASHED, BROKEN]
    assert [(each.index, each.kind, each.text) for each in found.faults] == [
        (10, CRASHED, "it was ended by SIGSEGV, at the string that is asked before it"),
        (11, BROKEN, "odd"),
    ]
    assert found.ahead == crashed


def test_what_is_not_offered_is_not_supported():
    assert judged((b"a", b"b"), EXPECTED, answers_of(b"UA", [3, 1], b"why" + big_endian("I", [0x62]))) == [
        NOT_SUPPORTED,
        AGREES,
    ]


@pytest.mark.parametrize("by_numba", [False, True])
def test_long_strings_are_read_like_short_ones(by_numba):
    if by_numba and columnar.compiled() is None:
        pytest.skip("Numba is not there")
    strings = [b"a" * 5000 + b"\xff", b"b", b"\xe2\x82\xac" * 2000, b"c\xff", b"", b"d" * 4999 + b"\xf0\x9f"]
    lengths = np.array([len(each) for each in strings], np.uint32)
    reader, alone = (ColumnReader(AUTOMATON, compiled=by_numba) for _ in range(2))
    found = reader.read(b"".join(strings), lengths)
    assert isinstance(found, Read)
    assert found.last.tolist() == [5000, 1, 6000, 1, 0, 4999]
    assert found.live.tolist() == [5000, 1, 6000, 1, 0, 5001]
    assert [alone.read_one(each)[:2] for each in strings] == list(
        zip(found.last.tolist(), found.live.tolist(), strict=True)
    )


def test_the_loop_that_numba_compiles_reads_as_the_automaton_runs():
    octets = np.frombuffer(b"a\xe2\x82\xac\xff\xff\xe2b", np.uint8)
    last, live, states = np.zeros(3, np.uint32), np.zeros(3, np.uint32), np.zeros(3, np.uint8)
    table, accepting = np.array(AUTOMATON.table, np.uint8), np.array(AUTOMATON.accepting)
    dead = AUTOMATON.dead
    assert dead is not None
    columnar._read(octets, np.array([5, 7, 8]), table, accepting, dead, 0, 0, last, live, states)
    assert (last.tolist(), live.tolist()) == ([4, 0, 1], [4, 0, 1])
    assert [int(each) == dead for each in states] == [True, True, False]


def test_without_numba_or_before_it_pays_strings_are_read_by_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert columnar.compiled.__wrapped__() is None
    monkeypatch.setattr(columnar, "compiled", FakeCache())
    reader = ColumnReader(AUTOMATON)
    assert reader.read_one(b"ab\xff" * 600)[:2] == (2, 2)
    assert reader.read(b"ab\xff", np.array([3], np.uint32)).last.tolist() == [2]
    monkeypatch.setattr(columnar, "PATIENCE", 0.0)
    assert reader.read_one(b"ab\xff" * 600)[:2] == (2, 2)


class FakeCache:
    """A cache without an installed Numba."""

    def __call__(self):
        return None

    def cache_info(self):
        return self

    currsize = 0


def test_verdicts_alone_have_no_output():
    oracle = ColumnOracle(Columns(Grid((Axis("only", (b"a", b"\xff")),))), replace(EXPECTED, units=""), Profile())
    assert oracle.expected(0, 2).units == b""
    verdicts = columnar.ColumnarOracle(replace(EXPECTED, units=""), dialect().layout)
    assert verdicts.expected(array("I", [1, 1]), b"a\xff").units == b""
