"""Responses and greetings at the limits of the protocol."""

import json

import pytest

from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Accepted, Refused, Unsupported
from overlong.conformance.protocol.wire import (
    OCTETS,
    UNITS,
    Answers,
    ProtocolError,
    again_payload,
    big_endian,
    stream_payload,
)


def test_a_word_that_there_is_not_is_named():
    line = {"overlong": 1, "name": "it", "operations": "PS", "stream_offsets": "elsewhere"}
    with pytest.raises(ProtocolError, match=r"\"stream_offsets\" is 'elsewhere'; there are stream, chunk, kept"):
        Greeting.parse(json.dumps(line).encode())


def test_what_streams_are_asked():
    first, second = stream_payload(b"ab", [1, 1]), stream_payload(b"c", [1])
    assert first == b"\0\2" + big_endian("I", [1, 1]) + b"ab"
    assert again_payload(first, second) == big_endian("I", [len(first)]) + first + second


def test_octets_of_an_encoder_are_octets():
    assert OCTETS.write([0xC3, 0xA9]) == b"\xc3\xa9"
    assert OCTETS.values(b"\xc3\xa9") == (0xC3, 0xA9)
    assert UNITS["utf-8"].write([0x41, 0x1FFFFF]) == b"A\xf7\xbf\xbf\xbf"


@pytest.mark.parametrize(
    ("status", "payload", "chunks", "marked", "error"),
    [
        (b"A", b"\0\0\0\1", 2, False, "its stream response has no count for each of 2 chunks"),
        (b"A", b"\0\0\0\1abc", 1, False, "its output of 3 octets is no whole number of 4-octet units"),
        (b"R", b"\0\0\0\1", 2, True, "its refusal of a stream carries 4 octets; as it promises marks"),
        (b"A", b"\0\0\0", None, False, "its output of 3 octets is no whole number of 4-octet units"),
        (b"R", b"\0\0\0", None, False, "its refusal carries 3 octets; it may carry none"),
        (b"R", b"\0" * 7, None, False, "its refusal carries 7 octets; it may carry none"),
        (b"Z", b"", None, False, "its response has status 5A"),
        (b"", b"", None, False, "its response has status "),
    ],
)
def test_a_single_response_that_does_not_add_up(status, payload, chunks, marked, error):
    with pytest.raises(ProtocolError, match=error):
        Answers.from_single(status, payload, chunks, 4, marked=marked)


def test_single_responses_become_columns():
    stream = Answers.from_single(b"A", big_endian("I", [0, 1, 0x41]), 2, 4)
    assert (stream.columns, stream.marks) == (b"A" + big_endian("I", [1]) + b"\0\0\0\0\0A", big_endian("I", [0, 1]))
    refused = Answers.from_single(b"R", big_endian("I", [3]) + b"\1\0" + big_endian("I", [2]), 2, 4, marked=True)
    assert (refused.columns, refused.marks) == (b"R" + big_endian("I", [3]) + b"\1\0", big_endian("I", [2]))
    assert Answers.from_single(b"R", b"", 2, 4).columns == b"R\xff\xff\xff\xff\0\xff"
    assert Answers.from_single(b"X", b"odd", None, 4).columns == b"X" + big_endian("I", [3]) + b"\0\0odd"
    assert Answers.from_single(b"A", b"", None, 4).columns == b"A" + bytes(6)


def test_answers_that_are_alike_are_one():
    two = Answers.of(b"RR", big_endian("I", [1, 1]), b"\1\1", b"\0\0", b"")
    one = two.alike()
    assert one is not None
    assert one.columns == b"R" + big_endian("I", [1]) + b"\1\0"
    assert Answers.of(b"", b"", b"", b"", b"").alike() is None
    assert Answers.of(b"RR", big_endian("I", [1, 2]), b"\1\1", b"\0\0", b"").alike() is None


def test_marks_of_a_batch_of_streams_stand_behind_its_columns():
    """One mark for each chunk of an accepted stream, one for a refused stream if promised, none for others."""
    columns = b"ARU" + big_endian("I", [1, 3, 0]) + b"\0\1\0" + b"\0\0\0" + big_endian("I", [0x41])
    marks = big_endian("I", [0, 1, 2])
    answers = Answers.from_batch(columns + marks, 3, [2, 5, 1], 4, marked=True)
    assert (answers.columns, answers.marks) == (columns, marks)
    assert list(answers.observations(UNITS["utf-32"], verdict_only=False)) == [
        Accepted((0x41,)), Refused(3, 1, incomplete=False), Unsupported(),
    ]  # fmt: skip
    with pytest.raises(ProtocolError, match="its own columns add up to 33"):
        Answers.from_batch(columns + marks, 3, [2, 5, 1], 4)  # the target promised no mark for the refusal
