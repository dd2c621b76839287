"""The judge of encoders: it expects the octets of Python's encoder, and catches every known-wrong encoder."""

import codecs
import struct
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.certification.replay import asks, replay
from overlong.conformance.oracle.finding import expected_in_words, observed_in_words
from overlong.conformance.protocol.greeting import WORDS, Greeting
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import ANNOUNCE, ENCODE, ENCODE_UTF16, OCTETS, big_endian
from overlong.conformance.results.certificate import NOT_COVERED
from overlong.conformance.results.run import offered
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.expected import encoded, pieces
from overlong.conformance.vectors.suites import OF_OCTETS, QUICK, SUITES, suite_named
from overlong.conformance.vectors.suites.encoding import ALPHABET, BEYOND
from overlong.conformance.vectors.vector import IdError, Vector
from overlong.reference import Decoded, NotEncodable, Rejected, dialect, encode_utf16
from zoo import ZOO, wrong_encoders

ENCODERS = ZOO / "wrong_encoders.py"
ASKED = ["encoder-edges", "encoder-utf-16"]
LONG = ["encoder-long", "encoder-utf-16-long"]
EVERY = ["fatal", "replacement", "question mark"]
RFC3629 = dialect()

code_points = st.lists(st.one_of(st.integers(0, 0x10FFFF), st.integers(0xD7FE, 0xE001)), max_size=8)
code_units = st.lists(st.one_of(st.integers(0, 0xFFFF), st.integers(0xD7FE, 0xE001)), max_size=8)


def _replacement(error):
    return b"\xef\xbf\xbd" * (error.end - error.start), error.end


codecs.register_error("U+FFFD", _replacement)
HANDLERS = {"fatal": "strict", "replacement": "U+FFFD", "question mark": "replace"}


def by_python(text, encode_errors):
    """The octets, or the index of the refused character."""
    try:
        return text.encode("utf-8", HANDLERS[encode_errors])
    except UnicodeEncodeError as error:
        return error.start


def told(outcome):
    return bytes(outcome.scalars) if isinstance(outcome, Decoded) else outcome.offset


def test_the_words_of_a_greeting_are_all_known():
    assert tuple(EVERY) == WORDS["encode_errors"]


@given(code_points, st.sampled_from(EVERY))
def test_code_points_as_python_has_them(points, encode_errors):
    payload = big_endian("I", points)
    right = by_python("".join(map(chr, points)), encode_errors)
    assert told(encoded(ENCODE, payload, RFC3629, encode_errors)) == right
    announced = right if isinstance(right, int) else len(right).to_bytes(4, "big")
    assert told(encoded(ANNOUNCE, payload, RFC3629, encode_errors)) == announced


@given(code_units, st.sampled_from(EVERY))
def test_utf_16_as_python_has_it(units, encode_errors):
    payload = big_endian("H", units)
    text = payload.decode("utf-16-be", "surrogatepass")
    right = by_python(text, encode_errors)
    if isinstance(right, int):  # a refusal counts code units, where Python counts characters
        right = len(text[:right].encode("utf-16-be", "surrogatepass")) // 2
    assert told(encoded(ENCODE_UTF16, payload, RFC3629, encode_errors)) == right
    if encode_errors == "fatal":
        try:
            assert encode_utf16(units) == right
        except NotEncodable as error:
            assert error.index == right


@given(code_points, st.integers(0x110000, 0xFFFFFFFF), code_points)
def test_numbers_beyond_are_treated_as_surrogates_are(before, number, after):
    payloads = [big_endian("I", [*before, each, *after]) for each in (number, 0xD800)]
    for operation in (ENCODE, ANNOUNCE):
        for encode_errors in EVERY:
            one, other = (encoded(operation, payload, RFC3629, encode_errors) for payload in payloads)
            assert one == other


def test_other_dialects_have_other_octets():
    assert told(encoded(ENCODE, big_endian("I", [0x10000]), dialect("cesu-8"))) == bytes.fromhex("EDA080EDB080")
    assert told(encoded(ENCODE, big_endian("I", [0xD800]), dialect("wtf-8"))) == bytes.fromhex("EDA080")


# The suites


def test_every_scalar_value_is_asked_once():
    points = [
        point for batch in SUITES["encoder-scalars"].batches() for (point,) in struct.iter_unpack(">I", batch.octets)
    ]
    assert points == [*range(0xD800), *range(0xE000, 0x110000)]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("operation", [ENCODE, ANNOUNCE])
def test_closed_answers_are_the_references(operation):
    batches = list(SUITES["encoder-scalars"].batches())
    for batch in [*batches[:3], batches[len(batches) // 2], batches[-1]]:
        assert batch.closed is not None
        assert batch.expected(operation, OCTETS) == replace(batch, closed=None).expected(operation, OCTETS)
    cesu = replace(batches[-1], profile=replace(batches[-1].profile, speaks="cesu-8"))
    assert cesu.expected(operation, OCTETS) == replace(cesu, closed=None).expected(operation, OCTETS)


def test_the_edges_are_all_there():
    batches = list(SUITES["encoder-edges"].batches())
    strings = [struct.unpack(f">{len(each.octets) // 4}I", each.octets) for batch in batches for each in batch]
    assert () in strings
    assert {(surrogate,) for surrogate in range(0xD800, 0xE000)} <= set(strings)
    assert {(number,) for number in BEYOND} <= set(strings)
    assert {1 << bits for bits in range(21, 32)} | {0x110000, 0xFFFFFFFF} <= set(BEYOND)
    assert min(BEYOND) == 0x110000
    for string in strings:  # if strings are UTF-16, the two surrogates would be one character
        assert not any(a in range(0xD800, 0xDC00) and b in range(0xDC00, 0xE000) for a, b in pairwise(string))


def test_the_vectors_of_utf_16():
    batches = list(SUITES["encoder-utf-16"].batches())
    strings = {struct.unpack(f">{len(each.octets) // 2}H", each.octets) for batch in batches for each in batch}
    assert sum(len(string) <= 3 and set(string) <= set(ALPHABET) for string in strings) == 1 + 10 + 100 + 1000
    assert (0xD800, 0xD800, 0xDC00, 0xDC00) in strings


@pytest.mark.parametrize("operation", [ENCODE, ENCODE_UTF16])
def test_long_texts_have_everything_around_the_ends_of_blocks(operation):
    name, code = ("encoder-long", "I") if operation == ENCODE else ("encoder-utf-16-long", "H")
    vectors = [vector for batch in SUITES[name].batches() for vector in batch]
    assert len(vectors) < 5000, "each takes as long as thousands of short ones"
    assert sum(len(vector.octets) for vector in vectors) < 5 << 20
    payloads = {vector.octets for vector in vectors}
    flaws = [(0xD83D,), (0xDEB2,), (0xDEB2, 0xD83D), *[(0x110000,)] * (operation == ENCODE)]
    for size, letter, behind in product((16, 32, 64), (0x61, 0xE9, 0x4E2D), (0, 1)):
        for some, before in product([*flaws, (0x61,), (0xE9,), (0x4E2D,)], range(-3, 2)):
            numbers = [*[letter] * (size + before), *some, *[letter] * size * behind]
            assert big_endian(code, numbers) in payloads, (size, letter, some)
    for index, some, letter in product(range(100), flaws, (0x61, 0x4E2D)):
        numbers = [*[letter] * index, *some, *[letter] * (107 - index - len(some))]
        assert big_endian(code, numbers) in payloads, (index, letter, some)
    assert {256, 1000, 1024, 4096, 65536} <= {
        piece.place for octets in payloads for piece in flaws_in(operation, octets)
    }


def flaws_in(operation, octets):
    return [piece for piece in pieces(operation, octets, RFC3629) if piece.octets is None]


@pytest.mark.parametrize("name", [*ASKED, *LONG])
def test_vectors_say_what_they_are_for_and_can_be_asked_again(name):
    for batch in SUITES[name].batches():
        for vector in batch:
            assert vector.comment
            assert vector.comment.isascii()
            if name in LONG:
                continue  # their ids have digests
            again = Vector.from_id(vector.id)
            assert (again.category, again.octets) == (vector.category, vector.octets)
            assert asks(again) == SUITES[name].asks


# The judge


def judged(name, suites=ASKED):
    certificate = certify(f"py:{ENCODERS}:{name}", suites=suites)
    assert not certificate.run.incomplete
    assert not certificate.run.restarts
    return certificate.run


@pytest.mark.long_after(1)
@pytest.mark.usefixtures("unexamined")
@pytest.mark.parametrize("name", wrong_encoders.WRONG)
def test_caught_for_what_it_is(name):
    run = judged(name, ["encoder-scalars"] if name == "one_character_is_another" else ASKED)
    assert run.codes == wrong_encoders.WRONG[name]
    assert {claim: state for claim, state in run.claims.items() if state != "not measured"} == {"encoder": "fails"}
    for bucket in run.buckets.values():
        assert bucket.example.claim == "encoder"
        assert bucket.example.expected_words.startswith(("encode as", "announce", "refuse at index"))


def test_every_kind_is_deserved_by_some():
    assert {f"OV70{digit}" for digit in range(1, 8)} | {"OV601"} == set().union(*wrong_encoders.WRONG.values())


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", wrong_encoders.RIGHT)
def test_no_right_encoder_is_accused(name):
    run = judged(name)
    assert run.buckets == {}
    assert run.claims["encoder"] == "holds"


@pytest.mark.long
@pytest.mark.parametrize("name", ["cpython", "node-buffer", "node-textdecoder", "go-utf8", "rust-std"])
def test_no_right_encoder_that_people_use_is_accused(name):
    if why := BUILTINS[name].missing():
        pytest.skip(why)
    run = certify(name, suites=["encoder-scalars", *ASKED, *LONG]).run
    assert run.buckets == {}
    assert run.claims["encoder"] == "holds"


@pytest.mark.long
def test_buckets_are_causes():
    assert sentences("unit_by_unit") == {
        "writes surrogates for U+D800 to U+DFFF",
        "writes surrogates for U+D800 to U+DFFF or U+10000 to U+10FFFF",  # in UTF-16
    }
    assert ("OV703", "reversed pair") in judged("pairs_in_any_order").buckets
    assert sentences("three_octets_from_7ff_on") == {"writes other octets for U+07FF"}
    assert sentences("raises_for_surrogates") == {"fails with an internal error at U+D800 to U+DFFF"}
    noncharacters = "refuses to encode 34 characters, such as U+FFFE, U+8FFFE and U+10FFFF"
    assert sentences("noncharacters_refused") == {noncharacters}
    assert sentences("ends_with_nul") == {"writes other octets for any text"}


def sentences(name):
    return {bucket.why.sentence for bucket in judged(name).buckets.values() if bucket.why is not None}


# Around the judge


def test_the_quick_suites_have_the_edges():
    assert {*ASKED, *LONG} <= set(QUICK)
    assert "encoder-scalars" not in QUICK


def greeting(operations, error_mode="replacement"):
    return Greeting("", "", "", operations, OCTETS, error_mode)


def test_what_is_offered_of_what_is_asked():
    assert offered(ENCODE + ANNOUNCE, greeting("PBVZFE")) == "EZ"
    assert offered("ST", greeting("PVST", error_mode="a word of its own")) == "ST"
    assert offered("VDL", greeting("PEF")) == ""


@pytest.mark.long
def test_a_certificate_of_an_encoder_alone_lacks_no_suite():
    certificate = certify(f"py:{ENCODERS}:right")
    assert certificate.refused == ""
    assert certificate.conformant
    assert {part.suite.name for part in certificate.run.suites} == {"encoder-scalars", *ASKED, *LONG}
    assert certificate.not_covered == [each for each in NOT_COVERED if each != "encoding"]
    partly = certify(f"py:{ENCODERS}:right", suites=["encoder-edges"])
    assert partly.refused == (
        "only part of the suites ran (not encoder-scalars, encoder-long, encoder-utf-16, encoder-utf-16-long)"
    )


def test_what_is_not_asked_is_not_covered():
    assert certify("cpython", suites=["core"]).not_covered == list(NOT_COVERED)


@pytest.mark.parametrize(
    ("identifier", "target", "words"),
    [
        (
            "encoding/000000e9",
            "right",
            [
                ("E", "encode as C3 A9", "encoded as C3 A9", None),
                ("Z", "announce 2 octets", "announced 2 octets", None),
            ],
        ),
        ("utf-16/d800", "right", [("F", "refuse at index 0", "refused at index 0", None)]),
        ("utf-16/d800", "right_replacing", [("F", "encode as EF BF BD", "encoded as EF BF BD", None)]),
        ("utf-16/d83dde00", "unit_by_unit", [("F", "encode as F0 9F 98 80", "encoded as ED A0 BD ED B8 80", "OV703")]),
        (
            "encoding/empty",
            "right",
            [
                ("E", "encode as (empty)", "encoded as (empty)", None),
                ("Z", "announce 0 octets", "announced 0 octets", None),
            ],
        ),
        ("utf-16/empty", "signature_before_all", [("F", "encode as (empty)", "encoded as EF BB BF", "OV702")]),
    ],
)
def test_replay(identifier, target, words):
    said = replay(Vector.from_id(identifier), f"py:{ENCODERS}:{target}")
    assert [
        (
            answer.operation,
            answer.expected and expected_in_words(answer.expected, answer.operation),
            observed_in_words(answer.observed, answer.operation),
            answer.finding and answer.finding.code,
        )
        for answer in said
    ] == words


@pytest.mark.parametrize("identifier", ["encoding/e9", "utf-16/d800dc"])
def test_ids_cut_short_are_refused(identifier):
    with pytest.raises(IdError, match="cut short"):
        asks(Vector.from_id(identifier))


def test_ids_of_decoders_ask_decoders():
    assert asks(Vector.from_id("overlong/c080")) == asks(Vector.from_id("C080")) == "VDLG"
    assert asks(Vector.from_id("chunking/e282.ac")) == "ST"
    assert asks(Vector.from_id("again/c0+e282.ac")) == "NM"


def test_words_for_what_is_out_of_the_ordinary():
    assert observed_in_words(Refused(), ENCODE) == "refused"
    assert observed_in_words(Accepted((0, 0)), ANNOUNCE) == "announced 00 00, which is no u32"
    assert observed_in_words(Accepted((0, 0, 0, 1)), ANNOUNCE) == "announced 1 octet"
    assert expected_in_words(Rejected(3, 1, False), ENCODE_UTF16) == "refuse at index 3"


def test_numbers_are_not_written_to_files_of_octets():
    for name in ("encoder-scalars", *ASKED, *LONG):
        assert name not in OF_OCTETS
        with pytest.raises(KeyError):
            suite_named(name)
    assert suite_named("core") is SUITES["core"]
