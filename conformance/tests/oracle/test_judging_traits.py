"""Columns of answers with traits and earlier strings are judged like single answers."""

from array import array
from dataclasses import replace

from overlong.conformance.oracle.columnar import ColumnarOracle
from overlong.conformance.oracle.target import (
    AGREES,
    BROKEN,
    CRASHED,
    NOT_SUPPORTED,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    ExpectedAnswers,
)
from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.protocol.wire import Answers, big_endian
from overlong.reference import dialect

AUTOMATON = dialect().automaton
EXPECTED = ExpectedAnswers(AUTOMATON, "D", "utf-32", offsets=True, strips_signature=False)


def judged(strings, expected, answers):
    oracle = ColumnarOracle(expected, dialect().layout, 4)
    found = oracle.judge(answers, oracle.expected(array("I", map(len, strings)), b"".join(strings)), 0)
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
    oracle = ColumnarOracle(EXPECTED, dialect().layout, 4)
    right = oracle.expected(array("I", [1, 1]), b"ab")
    answers = answers_of(b"AAAX", [1, 1, 1, 3], big_endian("I", [0x7A, 0x61, 0x7A]) + b"odd")
    crashed = Crashed("was ended by SIGSEGV")
    found = oracle.judge(answers, right, 10, step=2, from_earlier=True, faults={0: crashed, 4: crashed})
    assert found.kinds is not None
    assert found.kinds.tolist() == [CRASHED, BROKEN]
    assert [(each.index, each.kind, each.text) for each in found.faults] == [
        (10, CRASHED, "it was ended by SIGSEGV, at the string that is tested before it"),
        (11, BROKEN, "odd"),
    ]
    assert found.ahead == crashed


def test_what_is_not_offered_is_not_supported():
    assert judged((b"a", b"b"), EXPECTED, answers_of(b"UA", [3, 1], b"why" + big_endian("I", [0x62]))) == [
        NOT_SUPPORTED,
        AGREES,
    ]
