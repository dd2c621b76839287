"""Answers as codes, as words, and as numbers; and explanations."""

import json

import pytest

from overlong.conformance.oracle import target as kinds
from overlong.conformance.oracle.apart import aside_in_words
from overlong.conformance.oracle.compare import compare, ended_how, expected_of
from overlong.conformance.oracle.faults import HALVES, LONE, NOTHING, encoder_fault
from overlong.conformance.oracle.finding import (
    Bucket,
    Finding,
    expected_in_words,
    explain_code,
    explain_octets,
    observed_in_words,
)
from overlong.conformance.oracle.target import TargetError, expectation
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import (
    CLAIMS,
    KINDS,
    MEMORY_FAULTS,
    Accepted,
    Code,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
    describe,
    memory_fault,
    memory_words,
)
from overlong.conformance.protocol.wire import ANNOUNCE, ENCODE, GUARDED, SEPARATE, UNITS, big_endian
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference import DEFECTS, Decoded, Rejected

FAULTS = {
    Failed("no \x1b[31mmemory"): ("internal error: no \\x1b[31mmemory", "internal error: no \x1b[31mmemory"),
    Crashed("was ended by SIGSEGV"): ("was ended by SIGSEGV", "it was ended by SIGSEGV"),
    TimedOut(2.5): ("no answer within 2.5 s", "it gave no answer within 2.5 s"),
    Misbehaved("said nothing"): ("said nothing", "it broke the protocol: said nothing"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_faults_in_words(fault):
    assert (observed_in_words(fault), describe(fault)) == FAULTS[fault]


@pytest.mark.parametrize(
    ("observed", "operation", "words"),
    [
        (Accepted(None), "V", "accepted"),
        (Accepted((0x41, 0xD800)), "D", "accepted U+0041 U+D800"),
        (Refused(), "V", "refused"),
        (Refused(3), "D", "refused at 3"),
        (Refused(3, 1), "D", "refused at 3, 1 octet"),
        (Refused(3, 2, incomplete=True), "D", "refused at 3, 2 octets, incomplete"),
        (Unsupported(), "D", "not supported"),
        (Refused(), ENCODE, "refused"),
        (Refused(2), ENCODE, "refused at index 2"),
        (Accepted((0xC3, 0xA9)), ENCODE, "encoded as C3 A9"),
        (Accepted((0, 0, 0, 1)), ANNOUNCE, "announced 1 octet"),
        (Accepted((0, 0, 1, 0)), ANNOUNCE, "announced 256 octets"),
        (Accepted((1,)), ANNOUNCE, "announced 01, which is no u32"),
        (Accepted(None), GUARDED, "stayed within its memory, and answered alike"),
        (Refused(4), GUARDED, "left a part of its output unwritten"),
    ],
)
def test_answers_in_words(observed, operation, words):
    assert observed_in_words(observed, operation) == words


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (Refused(1), "died of a read past the end of its input; lived where memory follows it"),
        (Refused(3, 1), "wrote outside its output, given exactly the room that it needs"),
        (Refused(3, 9), "wrote outside its output"),
        (Refused(6, 255), "gave another answer between other neighbours"),
        (Refused(6, 254), "gave another answer at the edge of its memory"),
        (Refused(6, 1), "gave another answer at an address of 0 modulo 64"),
        (Refused(6, 64), "gave another answer at an address of 63 modulo 64"),
        (Refused(6, 65), "gave another answer in another place"),
        (Refused(), "refused"),
    ],
)
def test_faults_of_memory_in_words(refused, words):
    assert memory_words(refused) == words


@pytest.mark.parametrize(("offset", "said"), [(None, "none"), (0, "0"), (8, "8")])
def test_a_fault_of_memory_that_there_is_not_breaks_the_protocol(offset, said):
    assert {number: memory_fault(Refused(number)) for number in range(1, 8)} == MEMORY_FAULTS
    assert memory_fault(Refused(offset)) == Misbehaved(f"it reports memory fault {said}; there are 1 to 7")
    for refused, code in ((Refused(offset), Code.MISBEHAVED), (Refused(1), Code.READ_PAST_END)):
        finding = compare(Vector("", b"a"), GUARDED, refused)
        assert finding is not None
        assert finding.code == code
    assert compare(Vector("", b"a"), GUARDED, Accepted(None)) is None


def greeting(operations="PVD", **said):
    return Greeting.parse(json.dumps({"overlong": 1, "name": "it", "operations": operations, **said}).encode())


WELL, ILL = Vector("", b"\xc3\xa9"), Vector("", b"a\xc3")


@pytest.mark.parametrize(
    ("vector", "operation", "observed", "kind"),
    [
        (WELL, "D", Accepted((0xE9,)), kinds.AGREES),
        (WELL, "D", Accepted((0xE8,)), kinds.OTHER_OUTPUT),
        (WELL, "D", Refused(0), kinds.REFUSED_WELL_FORMED),
        (WELL, "D", Unsupported(), kinds.NOT_SUPPORTED),
        (WELL, "D", Failed("x"), kinds.BROKEN),
        (WELL, "D", Crashed("x"), kinds.CRASHED),
        (WELL, "D", TimedOut(1), kinds.TIMED_OUT),
        (WELL, "D", Misbehaved("x"), kinds.MISBEHAVED),
        (ILL, "V", Accepted(None), kinds.ACCEPTED_ILL_FORMED),
        (ILL, "D", Refused(0), kinds.OTHER_OFFSET),
        (ILL, "D", Refused(1, 2), kinds.OTHER_LENGTH),
        (ILL, "D", Refused(1, 1, incomplete=False), kinds.OTHER_INCOMPLETE),
    ],
)
def test_what_became_of_a_string_is_a_kind(vector, operation, observed, kind):
    assert kinds.kind_of(observed, compare(vector, operation, observed)) == kind


@pytest.mark.parametrize(
    ("said", "operation", "why"),
    [
        ({"operations": "PL"}, "", "a sweep tests D or V, and it offers PL"),
        ({"operations": "PV"}, "D", "a sweep tests D, and it offers PV"),
        ({"wrapper": "xml"}, "", "its octets travel in XML"),
    ],
)
def test_what_a_sweep_cannot_ask(said, operation, why):
    with pytest.raises(TargetError, match=f"^it: {why}"):
        expectation(RFC3629, greeting(**said), operation)


@pytest.mark.parametrize(
    ("nul", "accepted"),
    [("", {b"", b"a\0b", b"\0"}), ("refused", {b""}), ("ends the string", {b"", b"a\0\xff", b"a\0b", b"\0"})],
)
def test_how_octet_00_is_expected_to_be_read(nul, accepted):
    automaton = expectation(RFC3629, greeting(**({"nul": nul} if nul else {}))).automaton
    strings = [b"", b"a\0b", b"\0", b"\xc3\0", b"a\0\xff"]
    assert {each for each in strings if automaton.accepts(each)} == accepted


@pytest.mark.parametrize(
    ("octets", "how"),
    [(b"", "was empty"), (b"ab", "ended well"), (b"a\xc3", "ended early"), (b"\xff", "is ill-formed")],
)
def test_how_an_earlier_stream_ended(octets, how):
    assert ended_how((octets[:1], octets[1:]), WELL) == how


def test_the_least_octets_are_the_example():
    found = [Finding(Vector("", octets), "V", "OV201", Decoded(()), Accepted(None)) for octets in (b"bb", b"a", b"cc")]
    bucket = Bucket(found[0])
    bucket.show(found[2])
    assert bucket.example is found[0]
    bucket.show(found[1])
    assert (bucket.example, bucket.count) == (found[1], 0)


def test_what_was_set_aside_is_told():
    assert aside_in_words({"nul": "refused"}, [0, 0]) == ""
    assert aside_in_words({"nul": "refused"}, [1]) == "1 vector set aside (nul: refused)"
    assert aside_in_words({}, [1200, 34]) == "1 234 vectors set aside (no trait is declared)"


def asked(*numbers):
    return Vector("", big_endian("I", numbers))


@pytest.mark.parametrize(
    ("numbers", "written", "fault"),
    [
        ((0x1F600,), "F0 9F 98 80", None),
        ((0x1F600,), "ED A0 BD ED B8 80", (Code.SURROGATE_ENCODED, HALVES)),
        ((0x41,), "42", (Code.WRONG_OCTETS, "a character of 1 octet")),
        ((0x41,), "41 41", (Code.WRONG_OCTETS, "a character of 1 octet")),
        ((), "41", (Code.WRONG_OCTETS, NOTHING)),
        ((0xD800,), "ED A0 80", (Code.SURROGATE_ENCODED, LONE)),
        ((0x110000,), "F4 90 80 80", (Code.BEYOND_ENCODED, "")),
        ((0xD800, 0x41), "3F 41", (Code.ENCODER_REPLACEMENT, LONE)),
        ((0xD800, 0x41), "41", (Code.ENCODER_REPLACEMENT, LONE)),
    ],
)
def test_what_an_encoder_wrote_wrongly(numbers, written, fault):
    vector = asked(*numbers)
    observed = Accepted(tuple(bytes.fromhex(written)))
    assert encoder_fault(vector, ENCODE, expected_of(vector, ENCODE), observed) == fault


@pytest.mark.parametrize(
    ("numbers", "observed", "fault"),
    [
        ((0x41, 0x1F600), Refused(0), (Code.SCALAR_REFUSED, "a character of 1 octet")),
        ((0x41, 0x1F600), Refused(), (Code.SCALAR_REFUSED, "a character of 4 octets")),
        ((), Refused(), (Code.SCALAR_REFUSED, NOTHING)),
        ((0x41, 0xD800), Refused(1), None),
        ((0x41, 0xD800), Refused(), None),
        ((0x41, 0xD800), Refused(0), (Code.REFUSAL_PLACE, LONE)),
        ((0x41,), Crashed("x"), None),
    ],
)
def test_what_an_encoder_refused_wrongly(numbers, observed, fault):
    vector = asked(*numbers)
    assert encoder_fault(vector, ENCODE, expected_of(vector, ENCODE), observed) == fault


@pytest.mark.parametrize("code", [*DEFECTS, *KINDS])
def test_every_code_is_explained(code):
    lines = list(explain_code(code, 80))
    assert lines[0].startswith(f"{code}  ")
    assert max(map(len, lines[1:])) <= 80
    if code in KINDS:
        assert f"claim    {KINDS[code].claim}: " in "\n".join(lines)
        assert KINDS[code].claim in CLAIMS


def test_there_is_no_explanation_of_another_code():
    with pytest.raises(KeyError):
        list(explain_code("OV999", 80))


@pytest.mark.parametrize(
    ("octets", "dialect", "said"),
    [
        (
            b"\xc3\xa9",
            "rfc3629",
            ["well-formed (rfc3629)", "U+00E9, 2 octets", "accept U+00E9"],
        ),
        (b"A", "rfc3629", ["U+0041, 1 octet"]),
        (b"\xed\xa0\x80", "rfc3629", ["ill-formed (rfc3629)", "→ dead", "no alternative; wanted 80-9F"]),
        (b"a\xe2\x82", "rfc3629", ["the input ends; no alternative; wanted", "ill-formed at offset 1, 2 octets"]),
        (b"\xff", "rfc3629", ["state [start] → dead", "ill-formed at offset 0, 1 octet:"]),
        (b"a" * 70, "rfc3629", ["… 6 more octets"]),
        (b"\xed\xa0\xbd\xed\xb8\x80", "wtf-8", ["ill-formed (wtf-8)"]),
    ],
)
def test_octets_are_walked_through(octets, dialect, said):
    text = "\n".join(explain_octets(octets, 100, Profile(dialect)))
    for each in said:
        assert each in text, text


def test_units_that_no_decoder_should_put_out_are_read_and_written_all_the_same():
    assert UNITS["utf-16"].write([0x110000]) == b"\xff\xff\xff\xff"
    assert UNITS["utf-16"].count([0x1F600]) == 2
    assert expected_of(ILL, "V") == Rejected(1, 1, incomplete=True)


def test_of_a_list_of_values_it_is_said_which_is_wrong():
    assert expected_in_words(Decoded(()), SEPARATE) == "accept the list: each value is well-formed"
    assert expected_in_words(Rejected(1, 1, incomplete=False), SEPARATE) == "refuse the list: value 2 is ill-formed"
    assert observed_in_words(Accepted(None), SEPARATE) == "accepted the list"
    assert observed_in_words(Refused(1), SEPARATE) == "refused the list"
