"""The reference decoder, against CPython's decoder, the standards' examples, and itself under any chunking."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.reference import (
    DIALECTS,
    Decoded,
    IllFormed,
    IncrementalDecoder,
    NotEncodable,
    Rejected,
    WellFormed,
    decode,
    dialect,
    encode,
    encode_scalars,
    is_well_formed,
    outcome,
    segment,
    segments,
)
from overlong.reference.defect import _classify

# Octets near every edge: purely random octets are almost never nearly well-formed.
EDGES = [edge for octets in dialect().automaton.classes for r in octets.ranges for edge in {r.low, r.high}]
hostile = st.lists(
    st.one_of(
        st.sampled_from(EDGES).map(lambda octet: bytes([octet])), st.binary(max_size=3), st.text().map(str.encode)
    )
).map(b"".join)


def cpython(octets: bytes) -> Decoded | Rejected:
    try:
        return Decoded(tuple(map(ord, octets.decode())))
    except UnicodeDecodeError as error:
        return Rejected(error.start, error.end - error.start, error.reason == "unexpected end of data")


def assert_agrees(octets: bytes) -> None:
    expected = cpython(octets)
    assert outcome(octets) == expected
    assert is_well_formed(octets) == isinstance(expected, Decoded)
    assert decode(octets, "replacement") == octets.decode(errors="replace")


@pytest.mark.long
def test_cpython_agrees_on_all_strings_of_up_to_two_octets():
    for length in range(3):
        for octets in product(range(256), repeat=length):
            assert_agrees(bytes(octets))


@pytest.mark.parametrize("longest", [3, pytest.param(4, marks=pytest.mark.long)])
def test_cpython_agrees_on_all_strings_of_edge_octets(longest):
    """Over the ends of every range of every octet class, so each class is represented: 24^4 strings of four octets."""
    assert len(EDGES) == 24
    for octets in product(EDGES, repeat=longest):
        assert_agrees(bytes(octets))


@given(hostile)
def test_cpython_agrees_on_longer_strings(octets):
    assert_agrees(octets)


@given(hostile)
def test_segments_cover_the_input_and_their_defects_fit(octets):
    found = list(segments(octets))
    assert sum(each.length for each in found) == len(octets)
    assert [each.offset for each in found] == [sum(e.length for e in found[:i]) for i in range(len(found))]
    for each in found:
        if not isinstance(each, WellFormed):
            assert each.incomplete == (each.defect.code == "OV204")
            assert not each.incomplete or each is found[-1]


@given(hostile, st.data())
def test_every_chunking_gives_the_same_result(octets, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(octets)), max_size=6)))
    assert_chunking_changes_nothing(octets, cuts)


def assert_chunking_changes_nothing(octets: bytes, cuts: list[int]) -> None:
    bounds = [0, *cuts, len(octets)]
    chunks = [octets[start:end] for start, end in pairwise(bounds)]
    refusing = IncrementalDecoder()
    text = ""
    try:
        for number, chunk in enumerate(chunks, 1):
            text += refusing.decode(chunk, number == len(chunks))
        result: Decoded | Rejected = Decoded(tuple(map(ord, text)))
    except IllFormed as error:
        result = Rejected(error.offset, error.length, error.incomplete)
    assert result == outcome(octets)


def test_every_split_of_short_strings_gives_the_same_result():
    """All cuts of all strings of up to three octets over the octet classes, and of the hard four-octet ones."""
    classes = [octets.least for octets in dialect().automaton.classes]
    words = [bytes(word) for length in range(4) for word in product(classes, repeat=length)]
    words += [b"\xf0\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf1\x80\x80A", b"\xf0\x80\x80\x80"]
    for word in words:
        for cuts in product([False, True], repeat=max(len(word) - 1, 0)):
            assert_chunking_changes_nothing(word, [place for place, cut in enumerate(cuts, 1) if cut])


def test_a_refused_chunk_leaves_the_decoder_as_it_was():
    decoder = IncrementalDecoder()
    assert decoder.decode(b"ab\xe2\x82") == "ab"
    with pytest.raises(IllFormed) as caught:
        decoder.decode(b"(")
    assert (caught.value.offset, caught.value.length, caught.value.incomplete) == (2, 2, False)
    assert decoder.decode(b"\xac") == "€"


@pytest.mark.parametrize(
    ("octets", "scalars"),
    [  # RFC 3629 section 7 and RFC 2279 section 4
        ("41 E2 89 A2 CE 91 2E", [0x0041, 0x2262, 0x0391, 0x002E]),
        ("ED 95 9C EA B5 AD EC 96 B4", [0xD55C, 0xAD6D, 0xC5B4]),
        ("E6 97 A5 E6 9C AC E8 AA 9E", [0x65E5, 0x672C, 0x8A9E]),
        ("EF BB BF F0 A3 8E B4", [0xFEFF, 0x233B4]),
    ],
)
def test_the_examples_of_the_standards(octets, scalars):
    assert outcome(bytes.fromhex(octets)) == Decoded(tuple(scalars))
    assert encode_scalars(scalars) == bytes.fromhex(octets)


@pytest.mark.parametrize("octets", ["C0 80", "ED A1 8C ED BE B4", "2F C0 AE 2E 2F"])
def test_the_invalid_examples_of_the_standards(octets):
    assert not is_well_formed(bytes.fromhex(octets))


@pytest.mark.parametrize(
    ("octets", "code", "length"),
    [
        ("C0 80", "OV201", 1), ("C0", "OV201", 1), ("C1 BF", "OV201", 1), ("E0 9F", "OV201", 1),
        ("F0 80 80 80", "OV201", 1), ("F0 8F BF BF", "OV201", 1),
        ("ED A0 80", "OV202", 1), ("ED BF", "OV202", 1),
        ("F4 90 80 80", "OV203", 1), ("F5", "OV203", 1), ("F7 BF BF BF", "OV203", 1),
        ("C2", "OV204", 1), ("E0 A0", "OV204", 2), ("F4 8F BF", "OV204", 3), ("ED", "OV204", 1),
        ("C2 41", "OV205", 1), ("E0 41", "OV205", 1), ("E1 80 C2 80", "OV205", 2),
        ("F1 80 80 F1", "OV205", 3), ("F4 FF", "OV205", 1),
        ("80", "OV206", 1), ("BF 41", "OV206", 1),
        ("FE FF", "OV207", 1), ("FF", "OV207", 1),
        ("F8 88 80 80 80", "OV208", 1), ("FD", "OV208", 1),
    ],
)  # fmt: skip
def test_defects(octets, code, length):
    found = segment(bytes.fromhex(octets))
    assert not isinstance(found, WellFormed)
    assert (found.defect.code, found.length) == (code, length)


@pytest.mark.parametrize("name", DIALECTS)
def test_octets_that_are_no_tail_leave_the_same_defect(name):
    """So one of them stands for all in the cache of defects."""
    automaton = dialect(name).automaton
    others = [bytes([octet]) for octet in {*range(256)} - {*range(0x80, 0xC0)}]
    starts = [bytes(each) for length in (1, 2) for each in product(EDGES, repeat=length)]
    for start in starts:
        if (state := automaton.run(start)) != automaton.dead and not automaton.accepting[state]:
            assert len({_classify(start, octet, hopeless=False) for octet in others}) == 1, start


@pytest.mark.parametrize("number", [0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x110000, 0x1FFFFF, 0x7FFFFFFF, -1])
def test_the_encoder_refuses_what_is_no_scalar_value(number):
    with pytest.raises(NotEncodable) as caught:
        encode_scalars([0x41, number])
    assert (caught.value.number, caught.value.index) == (number, 1)


def test_the_encoder_refuses_every_surrogate():
    for code_point in range(0xD800, 0xE000):
        with pytest.raises(NotEncodable):
            encode(chr(code_point))


def test_errors_say_what_and_where():
    with pytest.raises(IllFormed, match=r"^ill-formed at offset 1 \(1 octet\): OV201 overlong form"):
        decode(b"a\xc0\xaf")
    with pytest.raises(ValueError, match="no error mode 'replce'; there is fatal, replacement"):
        decode(b"", "replce")
    with pytest.raises(ValueError, match="no dialect"):
        dialect("utf-9")
