"""What a condition predicts of replaced text: read like an automaton, and never slowly."""

import pytest

from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.text import text_of
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Code
from overlong.conformance.protocol.wire import REPLACE
from overlong.conformance.vectors.vector import Vector
from overlong.reference import dialect

BEYOND_ASCII = tuple(each for each in text_of(dialect()).products if len(each) > 1)
REFUSES = Condition(Code.REFUSED, BEYOND_ASCII, operation=REPLACE)
ACCEPTS_LONE_TAILS = Condition("accepts", ((frozenset(range(0x80, 0xC0)),),), operation=REPLACE)


def joins(condition, octets, output):
    finding = compare(Vector("input", octets), REPLACE, Accepted(tuple(map(ord, output))))
    assert finding is not None
    return condition.predicts(condition.symptom, finding)


@pytest.mark.parametrize(
    ("condition", "octets", "output", "belongs"),
    [
        (REFUSES, b"a\xc3\xa9b", "a\ufffd\ufffdb", True),  # anything where the character is, ...
        (REFUSES, b"a\xc3\xa9b", "ab", True),
        (REFUSES, b"a\xc3\xa9b", "a\ufffdc", False),  # ... and what is right elsewhere
        (REFUSES, b"a\xe2\x82b", "a\ufffd\ufffdb", True),  # a character cut off may be refused octet by octet
        (REFUSES, b"a\xe2\x82b", "a?b", False),
        (ACCEPTS_LONE_TAILS, b"a\x80b", "a?b", True),
        (ACCEPTS_LONE_TAILS, b"a\x80b", "ab", True),
        (ACCEPTS_LONE_TAILS, b"a\x80\xff", "a?", False),
        (ACCEPTS_LONE_TAILS, b"a\x80b\xff", "a\u0080b\ufffd", True),
    ],
)
def test_the_output_of_a_decoder_with_that_fault_alone(condition, octets, output, belongs):
    assert joins(condition, octets, output) == belongs


def test_many_places_that_may_be_read_in_two_ways_take_no_time():
    assert joins(REFUSES, b"\xe2\x82" * 500, "\ufffd" * 900)
    assert not joins(REFUSES, b"\xe2\x82" * 500, "\ufffd" * 900 + "!")
