"""Judgements that few decoders cause: wrong streams, limits, instability, columns with traits."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from overlong.conformance.oracle.apart import AGAIN, RERUN, RerunQueue, expected_under, judged, limits_of, without
from overlong.conformance.oracle.compare import compare, compare_batch, judge, own_mode_fault
from overlong.conformance.oracle.divergences import divergences
from overlong.conformance.oracle.finding import expected_in_words
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Accepted, Code, Crashed, Refused
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    DECODE,
    GUARDED,
    REFUSED,
    UNITS,
    UNSUPPORTED,
    Answers,
    big_endian,
)
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference import Decoded, Rejected

if TYPE_CHECKING:
    from overlong.conformance.oracle.target import Target

EURO = "€".encode()
BAD = 0xFFFD


def says(units="utf-32", **traits):
    return Greeting("it", "1", "", "PVDLSTNMEZ", UNITS[units], "replacement", traits=traits)


@pytest.mark.parametrize(
    ("octets", "chunks", "operation", "observed", "place"),
    [
        (EURO, (1, 2), "S", Refused(), "state lost after 1 of 3 octets, at the end of a chunk"),
        (EURO, (2, 1), "S", Accepted((0x20AD,)), "state lost after 2 of 3 octets, at the end of a chunk"),
        (b"ab", (1, 1), "S", Accepted((0x61,)), "UTF8-1: %x00-7F"),
        (b"\xff\xffa", (1, 2), "T", Accepted((BAD, 0x61)), "impossible octet"),
        (
            b"a\xff" + EURO,
            (3, 2),
            "T",
            Accepted((0x61, BAD, BAD)),
            "state lost after 1 of 3 octets, at the end of a chunk",
        ),
    ],
)
def test_a_stream_that_goes_wrong_has_lost_a_state_if_a_character_was_cut(octets, chunks, operation, observed, place):
    finding = compare(Vector("", octets, chunks=chunks), operation, observed)
    assert finding is not None
    assert (finding.code, finding.place) == (Code.CHUNKING, place)


def test_of_a_decoder_used_before_the_earlier_stream_is_blamed():
    finding = compare(Vector("", b"a", chunks=(1,), earlier=(b"\xe2",)), "N", Refused())
    assert finding is not None
    assert (finding.code, finding.place) == (Code.EARLIER_STREAM, "after a stream that ended early")


@pytest.mark.parametrize(
    ("octets", "operation", "observed", "code", "place"),
    [
        (b"a\xff", "L", Refused(), Code.REPLACEMENT_TEXT, "impossible octet"),
        (b"abc", "V", Refused(), Code.REFUSED, "UTF8-1: %x00-7F"),
        (b"ab\xc3\xa9", "V", Refused(), Code.REFUSED, "UTF8-2: %xC2-DF UTF8-tail"),
        (b"ab\xc3\xa9", "V", Refused(1), Code.REFUSED, "UTF8-1: %x00-7F"),
        (b"", "D", Accepted((0x41,)), Code.SCALARS, "UTF8-octets"),
    ],
)
def test_where_in_the_grammar_it_shows(octets, operation, observed, code, place):
    finding = compare(Vector("", octets), operation, observed)
    assert finding is not None
    assert (finding.code, finding.place) == (code, place)


def test_a_fault_says_nothing_of_when_a_stream_is_judged():
    vector = Vector("", EURO, chunks=(1, 2))
    assert list(judge(vector, "S", Decoded((0x20AC,)), Crashed("x"), [], says())) == []
    assert list(judge(vector, "S", Decoded((0x20AC,)), Accepted((0x20AC,)), [0, 1], says())) == []
    assert expected_in_words(Decoded(()), GUARDED) == "stay within its memory, and give the same answer everywhere"


@pytest.mark.parametrize(
    ("marks", "status", "codes"),
    [([0, 1], ACCEPTED, []), ([0, 0], ACCEPTED, [Code.HELD_BACK]), ([], REFUSED, [Code.CHUNKING])],
)
def test_streams_of_a_batch_are_judged_by_result_and_then_by_time(marks, status, codes):
    batch = Batch.of([Vector("", EURO, chunks=(1, 2))])
    units = big_endian("I", [0x20AC]) if status == ACCEPTED else b""
    number = [1] if status == ACCEPTED else [0]
    columns = b"".join((status, big_endian("I", number), b"\0", b"\0", units))
    answers = Answers(1, columns, big_endian("I", marks))
    assert [each.code for each in compare_batch(Answered(batch, "S", answers), says())] == codes


def test_what_is_put_out_before_a_fault_must_be_what_stands_there():
    vector = Vector("", b"ab\xff")
    assert own_mode_fault(vector, Accepted((0x62, 0x61, 0x3F))) == (Code.REPLACEMENT_TEXT, "impossible octet")
    assert own_mode_fault(vector, Accepted((0x61, 0x62, 0x3F))) is None
    assert own_mode_fault(vector, Refused()) is None


NUL, ENDS, STRIPS, XML = ({"nul": "refused"}, {"nul": "ends the string"}, {"bom": "strips"}, {"wrapper": "xml"})


@pytest.mark.parametrize(
    ("octets", "operation", "traits", "expected"),
    [
        (b"ab", "D", NUL, (Decoded((0x61, 0x62)),)),
        (b"a\0b", "D", NUL, (Rejected(1, 1, incomplete=False),)),
        (b"\xffa\0", "D", NUL, (Rejected(0, 1, incomplete=False),)),
        (b"a\0b", "L", NUL, ()),
        (b"a\0\xff", "D", ENDS, (Decoded((0x61,)),)),
        (b"\xef\xbb\xbfa\0", "D", ENDS | STRIPS, ()),
        (b"\xef\xbb\xbfa", "D", STRIPS, (Decoded((0x61,)),)),
        (b"a\r\nb", "D", XML, (Decoded((0x61, 0x0D, 0x0A, 0x62)), Decoded((0x61, 0x0A, 0x62)))),
        (b"\x01", "V", XML, (Rejected(0, 1, incomplete=False),)),
    ],
)
def test_what_a_decoder_with_a_limit_may_answer(octets, operation, traits, expected):
    assert expected_under(Vector("", octets), operation, limits_of(says(**traits))) == expected


@pytest.mark.parametrize(
    ("octets", "observed", "traits", "found"),
    [
        (b"a\0b", Refused(), NUL, None),
        (b"a\0b", Accepted((0x61, 0, 0x62)), NUL, "nul: refused; strings with octet 00 are set aside"),
        (b"a\0b", Accepted((0x61,)), NUL, "nul: refused; strings with octet 00 are set aside; the answer is wrong"),
        (b"a\0b", Crashed("was ended by SIGSEGV"), NUL, ""),
        (b"\xef\xbb\xbfa\0", Refused(), ENDS | STRIPS, None),
        (b"a\0\xff", Accepted(None), ENDS, None),
    ],
)
def test_a_limit_that_is_declared_is_held_to(octets, observed, traits, found):
    finding = judged(Vector("", octets), DECODE, observed, limits_of(says(**traits)))
    if found is None:
        assert finding is None
        return
    assert finding is not None
    assert finding.code == (Code.UNDECLARED if found else Code.CRASHED)
    assert finding.place.startswith(found)


class Forgetful:
    """A target that changes its answer each time."""

    greeting = says()

    def observe(self, asked):
        for number, (batch, operation) in enumerate(asked):
            status, text = ((ACCEPTED, big_endian("I", [0x41])), (REFUSED, b""))[number % 2]
            length = [len(text) // 4]
            yield Answered(batch, operation, Answers.of(status, big_endian("I", length), b"\0", b"\0", text))


def test_other_answers_when_asked_again_are_unstable():
    noted = RerunQueue()
    finding = compare(Vector("", b"\xff"), "D", Accepted((0x41,)))
    crash = compare(Vector("", b"\xff"), "D", Crashed("x"))
    assert finding is not None
    assert crash is not None
    noted.add(crash)
    noted.add(finding)
    assert (noted.wanted(finding.bucket), noted.wanted(crash.bucket)) == (RERUN - 1, RERUN)
    (found,) = noted.flaky(cast("Target", Forgetful()))
    assert (found.code, found.detail[0]) == (Code.UNSTABLE, "each time")
    assert found.detail[1].count("accepted U+0041") == AGAIN // 2 + AGAIN % 2


def test_where_columns_do_not_tell_all_each_answer_is_looked_at():
    target, batch = says(), Batch.of([Vector("", b"a"), Vector("", b"\xff")])
    refused = Answers.of(b"RR", big_endian("I", [0, 0]), bytes(2), bytes(2), b"")
    assert divergences(Answered(batch, "D", refused), target) is None
    sig = Batch.of([Vector("", b"a", profile=Profile("utf-8-sig"))])
    for asked, operation in ((sig, "D"), (next(iter(SUITES["streams"].batches())), "S")):
        assert divergences(Answered(asked, operation, refused), target) is None


def test_what_is_not_supported_is_no_divergence():
    batch = next(iter(SUITES["runs"].batches())).part(0, 1)
    found = divergences(Answered(batch, "D", Answers.of(UNSUPPORTED, bytes(4), b"\0", b"\0", b"")), says())
    assert found is not None
    assert len(found) == 0


def test_strings_without_what_a_limit_touches_are_all_kept():
    batch = Batch.of([Vector("", b"a\xef\xbb\xbf"), Vector("", b"b")])
    assert without(batch, limits_of(says(**STRIPS))) == (batch, [])


def test_an_encoder_that_replaces_does_not_refuse():
    vector = Vector("", big_endian("I", [0xD800]), profile=replace(RFC3629, encodes="replacement"))
    finding = compare(vector, "E", Refused(0))
    assert finding is not None
    assert (finding.code, finding.place) == (Code.ENCODER_REPLACEMENT, "lone surrogate refused")


def test_an_offset_in_a_stream_is_from_its_start_if_it_is_said_to_be():
    vector, target = Vector("", b"ab\xff", chunks=(1, 2)), replace(says(), stream_offsets="stream")
    right = Rejected(2, 1, incomplete=False)
    assert list(judge(vector, "S", right, Refused(2), [2], target)) == []
    assert [each.code for each in judge(vector, "S", right, Refused(1), [2], target)] == [Code.STREAM_OFFSET]


def test_of_an_error_mode_that_nobody_knows_much_is_open():
    own = replace(RFC3629, own_mode="mine")
    marked = Vector("", b"\xef\xbb\xbf\xff", profile=own)
    assert expected_under(marked, "L", limits_of(says(**STRIPS))) == ()
    stream = Batch.of([Vector("", b"a\xff", chunks=(1, 1), profile=own)])
    put_out = Answers(1, b"A" + big_endian("I", [2]) + b"\0\0" + big_endian("I", [0x61, 0x3F]), big_endian("I", [1, 1]))
    assert list(compare_batch(Answered(stream, "T", put_out), says())) == []


def test_what_was_asked_as_a_stream_is_looked_at_answer_by_answer():
    batch = next(iter(SUITES["runs"].batches())).part(0, 1)
    assert batch.is_closed
    assert divergences(Answered(batch, "S", Answers.of(ACCEPTED, bytes(4), b"\0", b"\0", b"")), says()) is None
