"""The documents' statements on UTF-8 and its relatives, one by one: docs/behaviours.md names the test of each.

The right answers have independent sources: Python's codecs, arithmetic on bits that uses neither grammar nor layout,
and the documents' own examples.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.reference import (
    DIALECTS,
    Decoded,
    Grammar,
    MaximalSubpart,
    NotEncodable,
    Rejected,
    WellFormed,
    decode,
    decode_scalars,
    dialect,
    encode,
    encode_scalars,
    encode_utf16,
    is_well_formed,
    outcome,
    segment,
    segments,
)
from overlong.reference.automaton import equivalent, witness
from overlong.reference.layout import load_layout
from overlong.reference.machine import verdict_machine
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UTF8, RFC2279 = dialect(), dialect("rfc2279")
AUTOMATA = [dialect(name).automaton for name in DIALECTS]  # compiled here, since examples have a deadline
TAILS = range(0x80, 0xC0)
LEADS, TRAILS, SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000), range(0xD800, 0xE000)
ENDS = 0, 0x80, 0x800, 0xD800, 0xDC00, 0xE000, 0xFEFF, 0xFFFD, 0x10000, 0x110000, 0x200000, 1 << 26, 1 << 31
SHORTEST = ["rfc3629", "utf-8-sig", "rfc2279", "cesu-8", "mutf-8", "lax-surrogates", "lax-1fffff"]
"""Dialects that have one form of each number and no memory between characters."""
EDGES = sorted(
    {
        number + by
        for end in ENDS
        for number in (end, end + 0x40)
        for by in (-2, -1, 0, 1, 2)
        if 0 <= number + by < 1 << 31
    }
)
numbers = st.one_of(st.sampled_from(EDGES), st.integers(0, 0x110000), st.integers(0, (1 << 31) - 1))
units = st.lists(st.one_of(st.integers(0, 0xFFFF), st.integers(0xD7FE, 0xE001)), max_size=12)


def of(text: str) -> bytes:
    return bytes.fromhex(text)


def spelled(number: int, length: int) -> bytes:
    """The octets of ``number`` in a sequence of that length, which may be longer than needed."""
    if length == 1:
        return bytes([number])
    tail = [0x80 | number >> 6 * place & 0x3F for place in reversed(range(length - 1))]
    return bytes([0xFF << 8 - length & 0xFF | number >> 6 * (length - 1), *tail])


def needed(number: int) -> int:
    return next(n for n, bits in enumerate((7, 11, 16, 21, 26, 31), 1) if number >> bits == 0)


def by_bits(octets: bytes, longest: int, greatest: int, *, shortest: bool, surrogates: bool) -> list[int] | None:
    """The answer of a loop over leads and tails; None if it refuses. It refuses surrogates in three octets only."""
    result, place = list[int](), 0
    while place < len(octets):
        ones = next((n for n in range(8) if not octets[place] << n & 0x80), 8)
        length = ones or 1
        tail = octets[place + 1 : place + length]
        if ones == 1 or length > longest or len(tail) < length - 1 or any(octet >> 6 != 2 for octet in tail):
            return None
        number = octets[place] & (0x7F if ones == 0 else 0x7F >> ones)
        for octet in tail:
            number = number << 6 | octet & 0x3F
        if number > greatest or (shortest and needed(number) != length):
            return None
        if not surrogates and length == 3 and number in SURROGATES:
            return None
        result.append(number)
        place += length
    return result


def joined_pairs(scalars: list[int]) -> list[int]:
    text = "".join(map(chr, scalars)).encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    return list(map(ord, text))


def by_codec(octets: bytes, codec: str = "utf-8", errors: str = "strict") -> list[int] | None:
    try:
        return list(map(ord, octets.decode(codec, errors)))
    except UnicodeDecodeError:
        return None


def utf16_units(octets: bytes) -> list[int] | None:
    """The UTF-16 code units of CESU-8 and of Java: each in one to three octets, surrogates too."""
    found = by_codec(octets, errors="surrogatepass")
    return None if found is None or any(number > 0xFFFF for number in found) else found


def cesu_8(octets: bytes) -> list[int] | None:
    found = utf16_units(octets)
    text = None if found is None else struct.pack(f">{len(found)}H", *found)
    return None if text is None else by_codec(text, "utf-16-be")


def mutf_8(octets: bytes) -> list[int] | None:
    found = None if b"\0" in octets else utf16_units(octets.replace(b"\xc0\x80", b"\0"))
    return None if found is None else joined_pairs(found)


def mutf_8_lax(octets: bytes) -> list[int] | None:
    found = by_bits(octets, 3, 0xFFFF, shortest=False, surrogates=True)
    return None if found is None else joined_pairs(found)


def wtf_8(octets: bytes) -> list[int] | None:
    found = by_codec(octets, errors="surrogatepass")
    if found is None or any(one in LEADS and other in TRAILS for one, other in pairwise(found)):
        return None
    return found


ORACLES: dict[str, Callable[[bytes], list[int] | None]] = {
    "rfc3629": by_codec,
    "utf-8-sig": lambda octets: by_codec(octets, "utf-8-sig"),
    "rfc2279": lambda octets: by_bits(octets, 6, (1 << 31) - 1, shortest=True, surrogates=True),
    "cesu-8": cesu_8,
    "mutf-8": mutf_8,
    "mutf-8-lax": mutf_8_lax,
    "wtf-8": wtf_8,
    "lax-surrogates": lambda octets: by_codec(octets, errors="surrogatepass"),
    "lax-overlongs": lambda octets: by_bits(octets, 4, 0x10FFFF, shortest=False, surrogates=False),
    "lax-1fffff": lambda octets: by_bits(octets, 4, 0x1FFFFF, shortest=True, surrogates=False),
    "lax": lambda octets: by_bits(octets, 4, 0x1FFFFF, shortest=False, surrogates=True),
    "lax-rfc2279": lambda octets: by_bits(octets, 6, (1 << 31) - 1, shortest=False, surrogates=True),
}


def assert_answered_as_by(oracle: Callable[[bytes], list[int] | None], name: str, octets: bytes) -> None:
    expected, found = oracle(octets), outcome(octets, "fatal", dialect(name))
    assert (list(found.scalars) if isinstance(found, Decoded) else None) == expected, octets.hex(" ")


@st.composite
def sequences(draw: st.DrawFn) -> bytes:
    """A sequence laid out from the bits of a number, often longer than needed, sometimes truncated."""
    number = draw(numbers)
    octets = spelled(number, draw(st.integers(needed(number), 6)))
    return octets[: draw(st.integers(1, len(octets)))] if draw(st.integers(0, 9)) == 0 else octets


octet_strings = st.lists(
    st.one_of(sequences(), sequences(), st.sampled_from([b"\xef\xbb\xbf", b"a"]), st.binary(max_size=2)), max_size=6
).map(b"".join)


# Every dialect, against an oracle


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_answers_its_own_complete_suite_as_an_oracle_does(name: str) -> None:
    """If the oracle has no more states than the dialect's machine, the two never differ."""
    for octets in verdict_machine(dialect(name)).complete_strings():
        assert_answered_as_by(ORACLES[name], name, octets)


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", DIALECTS)
@given(octets=octet_strings)
def test_each_dialect_answers_as_an_oracle_does(name: str, octets: bytes) -> None:
    assert_answered_as_by(ORACLES[name], name, octets)


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_agrees_with_an_oracle_on_all_strings_of_up_to_three_edge_octets(name: str) -> None:
    classes = {octets.least for automaton in AUTOMATA for octets in automaton.classes}
    for length in range(4):
        for octets in product(sorted(classes), repeat=length):
            assert_answered_as_by(ORACLES[name], name, bytes(octets))


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", DIALECTS)
@given(scalars=st.lists(numbers, max_size=6))
def test_what_a_dialect_encodes_it_decodes(name: str, scalars: list[int]) -> None:
    """Pairs of surrogates are joined before they are encoded, as RFC 3629 section 3 demands for UTF-16."""
    spoken = dialect(name)
    whole = [number for number in scalars if number < 0x110000]
    for asked in ([number for number in scalars if number >= 0x110000], joined_pairs(whole)):
        try:
            octets = encode_scalars(asked, spoken)
        except NotEncodable as error:
            with pytest.raises(NotEncodable):
                encode_scalars([error.number], spoken)
            assert asked[error.index] == error.number
            continue
        signature = spoken.rule.drops_signature and asked[:1] == [0xFEFF]
        assert list(decode_scalars(octets, spoken=spoken)) == asked[signature:]


def test_every_grammar_says_how_it_departs() -> None:
    folder = files("overlong.reference") / "grammars"
    assert {each.name for each in folder.iterdir() if each.name.endswith(".abnf")} == {f"{n}.abnf" for n in DIALECTS}
    for name in DIALECTS:
        text = (folder / f"{name}.abnf").read_text("ascii")
        assert Grammar.parse(text, name).start.name.endswith("-octets")
        comments = [line for line in text.splitlines() if line.startswith(";")]
        assert any("Departures from" in line for line in comments) == (name != "rfc3629")
        assert equivalent(dialect(name).automaton, dialect(name).unfolded)


@pytest.mark.parametrize(
    ("name", "more", "fewer"),
    [  # the shortlex-least strings that the dialect accepts and RFC 3629 does not, and vice versa
        ("utf-8-sig", None, None),
        ("rfc2279", "ED A0 80", None),
        ("cesu-8", "ED A0 80 ED B0 80", "F0 90 80 80"),
        ("mutf-8", "C0 80", "00"),
        ("mutf-8-lax", "C0 80", "F0 90 80 80"),
        ("wtf-8", "ED A0 80", None),
        ("lax-surrogates", "ED A0 80", None),
        ("lax-overlongs", "C0 80", None),
        ("lax-1fffff", "F4 90 80 80", None),
        ("lax", "C0 80", None),
        ("lax-rfc2279", "C0 80", None),
    ],
)
def test_the_least_strings_that_tell_a_dialect_from_rfc_3629(name: str, more: str | None, fewer: str | None) -> None:
    spoken = dialect(name).automaton
    found = witness(spoken, UTF8.automaton, one_way=True), witness(UTF8.automaton, spoken, one_way=True)
    assert found == tuple(None if text is None else of(text) for text in (more, fewer))


# Lengths and numbers


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("rfc3629", [(0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF)]),
        (
            "rfc2279",
            [
                *((0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x1FFFFF)),
                *((0x200000, 0x3FFFFFF), (0x4000000, 0x7FFFFFFF)),
            ],
        ),
    ],
)
def test_the_rows_of_the_table(name: str, rows: list[tuple[int, int]]) -> None:
    """At both ends of each row, the row's place gives the number of octets, and the bits are laid out in order."""
    spoken = dialect(name)
    assert [(row.numbers.start, row.numbers.stop - 1) for row in spoken.layout.rows] == rows
    assert [len(row.templates) for row in spoken.layout.rows] == list(range(1, len(rows) + 1))
    for length, ends in enumerate(rows, 1):
        for number in ends:
            octets = spelled(number, length)
            assert encode_scalars([number], spoken) == octets
            assert decode_scalars(octets, spoken=spoken) == (number,)
    with pytest.raises(NotEncodable):
        encode_scalars([rows[-1][1] + 1], spoken)


def intervals(name: str) -> list[tuple[int, int, int]]:
    """For each product of octet ranges in the grammar: its first and last number, and its number of octets."""
    spoken, result = dialect(name), list[tuple[int, int, int]]()
    for ranges in well_formed_products(spoken.automaton):
        first, last = (spoken.layout.number(bytes(each[end] for each in ranges)) for end in (0, -1))
        assert last - first + 1 == prod(map(len, ranges))
        result.append((first, last, len(ranges)))
    return sorted(result)


@pytest.mark.parametrize("name", SHORTEST)
def test_a_number_has_one_form(name: str) -> None:
    """The paths of the grammar give ranges of numbers that do not overlap."""
    assert all(one[1] < other[0] for one, other in pairwise(intervals(name)))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("rfc3629", 0x110000 - 0x800),
        ("rfc2279", 1 << 31),
        ("cesu-8", 0x110000 - 0x800),
        ("mutf-8", 0x10000),
        ("lax-surrogates", 0x110000),
        ("lax-1fffff", 0x200000 - 0x800),
        ("lax", 128 + (32 << 6) + (16 << 12) + (8 << 18)),
        ("lax-rfc2279", 128 + (32 << 6) + (16 << 12) + (8 << 18) + (4 << 24) + (2 << 30)),
    ],
)
def test_how_many_sequences_a_dialect_has(name: str, count: int) -> None:
    assert sum(last - first + 1 for first, last, _ in intervals(name)) == count


def test_the_number_of_octets_grows_with_the_number() -> None:
    for name in ("rfc3629", "rfc2279", "cesu-8"):
        lengths = [length for _, _, length in intervals(name)]
        assert lengths == sorted(lengths)


def test_21_bits_suffice() -> None:
    assert max(last for _, last, _ in intervals("rfc3629")).bit_length() == 21
    assert max(last for _, last, _ in intervals("rfc2279")).bit_length() == 31


# Examples


@pytest.mark.parametrize(
    ("number", "octal", "octets"),
    [(0x24, "044", "24"), (0xA2, "302 242", "C2 A2"), (0x20AC, "342 202 254", "E2 82 AC"),
     (0x10348, "360 220 215 210", "F0 90 8D 88")],
)  # fmt: skip
def test_four_characters_of_four_lengths(number: int, octal: str, octets: str) -> None:
    assert encode_scalars([number]) == of(octets) == bytes(int(each, 8) for each in octal.split())
    assert decode_scalars(of(octets)) == (number,)


@pytest.mark.long
def test_octal_digits_show_through() -> None:
    """Two, three and four octets are 3xx 2yy, 340 + xx and 36w before groups of two octal digits."""
    for number in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 61)):
        octets = encode_scalars([number])
        groups = [int(f"{number:08o}"[place : place + 2], 8) for place in (0, 2, 4, 6)][-len(octets) :]
        lead = {2: 0o300, 3: 0o340, 4: 0o360}[len(octets)]
        assert list(octets) == [lead + groups[0], *(0o200 + group for group in groups[1:])]


def test_the_lowest_character_of_each_lead_octet() -> None:
    lowest = {0xE0: 0x800, 0xF0: 0x10000, 0xF4: 0x100000}
    lowest |= {lead: (lead - 0xC0) << 6 for lead in range(0xC2, 0xE0)}
    lowest |= {lead: (lead - 0xE0) << 12 for lead in range(0xE1, 0xF0)}
    lowest |= {lead: (lead - 0xF0) << 18 for lead in range(0xF1, 0xF4)}
    found = dict[int, int]()
    for ranges in well_formed_products(UTF8.automaton):
        for lead in ranges[0]:
            first = bytes([lead, *(each[0] for each in ranges[1:])])
            found[lead] = min(found.get(lead, 0x110000), UTF8.layout.number(first))
    assert {lead: number for lead, number in found.items() if lead >= 0x80} == lowest


def test_the_misprint_of_the_security_example_is_ill_formed_for_another_reason() -> None:
    """2F 0C AE 2E 2F has a form feed, and a tail without a lead. The example meant C0 AE, an overlong full stop."""
    misprint, meant = segment(of("2F 0C AE 2E 2F"), 2), segment(of("2F C0 AE 2E 2F"), 1)
    assert isinstance(misprint, MaximalSubpart)
    assert isinstance(meant, MaximalSubpart)
    assert (misprint.defect.code, meant.defect.code) == ("OV206", "OV201")
    assert decode_scalars(of("2F C0 AE 2E 2F"), spoken=dialect("lax-overlongs")) == tuple(b"/../")


# Octets that appear, and their roles


def octets_used(name: str) -> set[int]:
    automaton = dialect(name).automaton
    live = [row for state, row in enumerate(automaton.table) if state != automaton.dead]
    return {octet for row in live for octet, to in enumerate(row) if to != automaton.dead}


@pytest.mark.parametrize("name", DIALECTS)
def test_fe_and_ff_never_appear(name: str) -> None:
    assert octets_used(name).isdisjoint({0xFE, 0xFF})


def test_c0_c1_and_f5_to_ff_never_appear() -> None:
    assert octets_used("rfc3629") == set(range(0x100)) - {0xC0, 0xC1, *range(0xF5, 0x100)}


@pytest.mark.parametrize("name", [each for each in DIALECTS if each != "wtf-8"])
def test_ascii_octets_are_ascii_characters_and_nothing_else(name: str) -> None:
    spoken = dialect(name)
    for ranges in well_formed_products(spoken.automaton):
        assert len(ranges) == 1 or all(octets[0] >= 0x80 for octets in ranges)
    for octet in range(1 if name == "mutf-8" else 0, 0x80):
        assert decode_scalars(bytes([octet]), spoken=spoken) == (octet,)


@given(st.text(st.characters(max_codepoint=0x7F)), st.text())
def test_ascii_text_is_unchanged_and_stands_out_of_any_other(plain: str, text: str) -> None:
    assert encode(plain) == plain.encode("ascii")
    assert decode(plain.encode("ascii")) == plain
    assert [octet for octet in encode(text) if octet < 0x80] == [ord(char) for char in text if char < "\x80"]
    assert [decode(line) for line in encode(text).split(b"\n")] == text.split("\n")
    assert [decode(name) for name in encode(text).split(b"/")] == text.split("/")
    assert [decode(string) for string in encode(text).split(b"\0")] == text.split("\0")


@pytest.mark.parametrize("name", [each for each in DIALECTS if each not in {"cesu-8", "wtf-8"}])
def test_the_first_octet_tells_the_length(name: str) -> None:
    """The leading ones of the first octet give the length; not in CESU-8, where a lead for three may begin six."""
    for ranges in well_formed_products(dialect(name).automaton):
        for lead in ranges[0]:
            ones = len(f"{lead:08b}") - len(f"{lead:08b}".lstrip("1"))
            assert len(ranges) == max(ones, 1)


@pytest.mark.parametrize("name", [each for each in DIALECTS if each not in {"cesu-8", "wtf-8"}])
def test_leads_and_tails_share_no_octet(name: str) -> None:
    for first, *rest in well_formed_products(dialect(name).automaton):
        assert not set(first) & set(TAILS)
        assert all(set(octets) <= set(TAILS) for octets in rest)


@given(st.text(min_size=1), st.data())
def test_the_start_of_a_character_is_at_most_three_octets_back(text: str, data: st.DataObject) -> None:
    octets = encode(text)
    place = data.draw(st.integers(0, len(octets) - 1))
    start = next(back for back in range(place, -1, -1) if octets[back] not in TAILS)
    assert place - start <= 3
    assert start in [found.offset for found in segments(octets)]


@given(st.text(min_size=1), st.data())
def test_what_a_stream_cut_anywhere_yields_is_its_own_characters(text: str, data: st.DataObject) -> None:
    """The part from any place on, and the part up to it, give no character that the text does not have."""
    octets = encode(text)
    place = data.draw(st.integers(0, len(octets)))
    for part in (octets[place:], octets[:place]):
        assert decode(part, "skip") in text


def test_a_truncated_character_is_refused_where_it_begins() -> None:
    """Every proper prefix of every character: about 17,000."""
    prefixes = {
        bytes(prefix)
        for ranges in well_formed_products(UTF8.automaton)
        for length in range(1, len(ranges))
        for prefix in product(*ranges[:length])
    }
    assert len(prefixes) == 51 + (61_440 + 1_048_576 // 64) // 64 + 1_048_576 // 64
    for prefix in prefixes:
        assert outcome(b"a" + prefix) == Rejected(1, len(prefix), incomplete=True)


@given(st.text(), st.text(min_size=1))
def test_searching_octets_finds_whole_characters(text: str, wanted: str) -> None:
    """Boyer and Moore's search does so, too: all searches for octets find the same."""
    text = text + wanted + text
    octets, needle = encode(text), encode(wanted)
    by_octets = [place for place in range(len(octets)) if octets.startswith(needle, place)]
    by_characters = [place for place in range(len(text)) if text.startswith(wanted, place)]
    assert by_octets == [len(encode(text[:place])) for place in by_characters]


# Order


@pytest.mark.parametrize("name", ["rfc3629", "rfc2279", "lax-surrogates", "lax-1fffff"])
def test_octets_sort_as_numbers_do(name: str) -> None:
    """No character's octets are a prefix of another's, so comparing characters is enough."""
    in_octet_order = [
        dialect(name).layout.number(bytes(each[end] for each in ranges))
        for ranges in well_formed_products(dialect(name).automaton)
        for end in (0, -1)
    ]
    assert in_octet_order == sorted(in_octet_order)


@given(st.lists(st.lists(numbers, max_size=4), max_size=6))
def test_strings_sort_as_ucs_4_does(strings: list[list[int]]) -> None:
    octets = [encode_scalars(each, RFC2279) for each in strings]
    assert sorted(octets) == [encode_scalars(each, RFC2279) for each in sorted(strings)]


# To and from UTF-16 and UCS-4


@given(st.text())
def test_round_trip_with_utf_16_and_ucs_4(text: str) -> None:
    octets = encode(text)
    pairs = text.encode("utf-16-be")
    assert encode_utf16(struct.unpack(f">{len(pairs) // 2}H", pairs)) == octets
    assert decode(octets).encode("utf-16-be") == pairs
    assert struct.pack(f">{len(text)}I", *decode_scalars(octets)) == text.encode("utf-32-be")


def test_up_to_three_octets_are_ucs_2() -> None:
    for first, last, length in intervals("rfc2279"):
        assert (length <= 3) == (first <= 0xFFFF) == (last <= 0xFFFF)
    for unit in (*range(SURROGATES.start), *range(SURROGATES.stop, 0x10000)):
        assert encode_utf16([unit]) == spelled(unit, needed(unit))


@pytest.mark.parametrize("lead", [0xD800, 0xD801, 0xD84C, 0xDBFE, 0xDBFF])
def test_pairs_are_undone_before_they_are_encoded(lead: int) -> None:
    for trail in TRAILS:
        octets = encode_utf16([lead, trail])
        assert octets == struct.pack(">2H", lead, trail).decode("utf-16-be").encode()
        assert octets == encode_utf16([lead, trail], RFC2279)
        with pytest.raises(NotEncodable):
            encode_utf16([trail, lead])


def test_surrogates_are_no_characters() -> None:
    """Surrogates alone or in pairs, in three octets or four, are refused."""
    for number in SURROGATES:
        found = segment(spelled(number, 3))
        assert isinstance(found, MaximalSubpart)
        assert (found.length, found.defect.code) == (1, "OV202")
        assert not is_well_formed(spelled(number, 4))
        with pytest.raises(NotEncodable):
            encode_utf16([number])
    for lead, trail in product((0xD800, 0xD84C, 0xDBFF), (0xDC00, 0xDFB4, 0xDFFF)):
        assert not is_well_formed(spelled(lead, 3) + spelled(trail, 3))


def test_numbers_beyond_10ffff_are_no_characters() -> None:
    """Their least ill-formed prefixes are F4 90 to F4 BF, and F5 to FD alone: no octet continues those."""
    two = [bytes([0xF4, second]) for second in range(0x90, 0xC0)]
    for prefix in two + [bytes([lead]) for lead in range(0xF5, 0xFE)]:
        assert UTF8.automaton.run(prefix) == UTF8.automaton.dead
    for number in [each for each in EDGES if each > 0x10FFFF]:
        found = segment(spelled(number, needed(number)))
        assert isinstance(found, MaximalSubpart)
        assert found.defect.code == ("OV203" if number < 0x200000 else "OV208")
        with pytest.raises(NotEncodable):
            encode_scalars([number])


# Overlong forms


@pytest.mark.parametrize("number", sorted({0x20AC, *(each for each in EDGES if each < 0x110000)}))
def test_no_form_but_the_shortest_is_accepted(number: int) -> None:
    """All forms of up to six octets; a lax dialect accepts the forms that it is lax about."""
    for length in range(needed(number), 7):
        octets = spelled(number, length)
        shortest = length == needed(number)
        assert is_well_formed(octets) == (shortest and number not in SURROGATES)
        assert is_well_formed(octets, RFC2279) == shortest
        assert decode_scalars(octets, spoken=dialect("lax-rfc2279")) == (number,)
        if length <= 4:
            assert decode_scalars(octets, spoken=dialect("lax")) == (number,)


def test_overlong_forms_are_recognised_by_their_first_two_octets() -> None:
    two = [bytes([lead]) for lead in (0xC0, 0xC1)]
    three = [bytes([0xE0, second]) for second in range(0x80, 0xA0)]
    four = [bytes([0xF0, second]) for second in range(0x80, 0x90)]
    for prefix in two + three + four:
        assert UTF8.automaton.run(prefix) == UTF8.automaton.dead
        whole = (prefix + b"\x80\x80\x80")[: {0xC0: 2, 0xC1: 2, 0xE0: 3, 0xF0: 4}[prefix[0]]]
        found = segment(whole)
        assert isinstance(found, MaximalSubpart)
        assert found.defect.code == "OV201"
        assert isinstance(segment(whole, 0, dialect("lax-overlongs")), WellFormed)


def test_the_euro_sign_in_four_octets() -> None:
    assert encode("\u20ac") == of("E2 82 AC")
    assert not is_well_formed(of("F0 82 82 AC"))
    assert not is_well_formed(of("F0 82 82 AC"), RFC2279)
    assert decode_scalars(of("F0 82 82 AC"), spoken=dialect("lax-overlongs")) == (0x20AC,)


# Relatives


@given(units)
def test_windows_file_names_survive_wtf_8(name: list[int]) -> None:
    """UTF-16 that may be ill-formed: RFC 3629 cannot encode it, and WTF-8 was made for it."""
    octets = encode_utf16(name, dialect("wtf-8"))
    text = "".join(map(chr, decode_scalars(octets, spoken=dialect("wtf-8"))))
    data = text.encode("utf-16-be", "surrogatepass")
    assert list(struct.unpack(f">{len(data) // 2}H", data)) == name
    assert is_well_formed(octets) == (by_codec(struct.pack(f">{len(name)}H", *name), "utf-16-be") is not None)


@given(units)
def test_cesu_8_is_utf_16_unit_by_unit(text: list[int]) -> None:
    """This holds for well-formed UTF-16; text beyond FFFF is no UTF-8."""
    well_formed = by_codec(struct.pack(f">{len(text)}H", *text), "utf-16-be")
    octets = b"".join(spelled(unit, needed(unit)) for unit in text)
    if well_formed is None:
        assert not is_well_formed(octets, dialect("cesu-8"))
    else:
        assert encode_utf16(text, dialect("cesu-8")) == octets
        assert list(decode_scalars(octets, spoken=dialect("cesu-8"))) == well_formed
        assert is_well_formed(octets) == all(number < 0x10000 for number in well_formed)


@given(units)
def test_modified_utf_8_has_no_octet_00(text: list[int]) -> None:
    octets = encode_utf16(text, dialect("mutf-8"))
    assert b"\0" not in octets
    assert octets == b"".join(spelled(unit, needed(unit) if unit else 2) for unit in text)
    assert list(decode_scalars(octets, spoken=dialect("mutf-8"))) == joined_pairs(text)
    assert encode_scalars([0], dialect("mutf-8")) == b"\xc0\x80"


@given(st.text(st.sampled_from("\ufeffa\u20ac")))
def test_a_signature_is_dropped_once_and_only_where_the_dialect_drops_it(text: str) -> None:
    octets = encode(text)
    assert octets.startswith(b"\xef\xbb\xbf") == text.startswith("\ufeff")
    assert decode(octets) == text
    without = decode_scalars(octets, spoken=dialect("utf-8-sig"))
    assert "".join(map(chr, without)) == text.removeprefix("\ufeff") == octets.decode("utf-8-sig")


# Other encodings mistaken for UTF-8


def well_formed_strings(length: int, least_octet: int = 0) -> int:
    """The number of well-formed strings of ``length`` octets, none below the least: paths of the automaton."""
    paths = [1] + [0] * (len(UTF8.automaton) - 1)
    for _ in range(length):
        following = [0] * len(paths)
        for state, count in enumerate(paths):
            for to in UTF8.automaton.table[state][least_octet:]:
                following[to] += count
        paths = following
    return sum(count for state, count in enumerate(paths) if UTF8.automaton.accepting[state])


@pytest.mark.long
def test_other_text_is_seldom_well_formed_and_the_longer_the_less() -> None:
    """The exact share among all strings of n octets, and among strings of octets 80 to FF only."""
    assert [well_formed_strings(2), well_formed_strings(2, 0x80)] == [
        sum(by_codec(bytes(pair)) is not None for pair in product(octets, repeat=2))
        for octets in (range(0x100), range(0x80, 0x100))
    ]
    characters = (128, 1_920, 61_440, 1_048_576)  # of one to four octets
    counts = [1]
    for length in range(1, 65):
        counts.append(sum(by * counts[-size] for size, by in enumerate(characters, 1) if size <= length))
        assert well_formed_strings(length) == counts[-1]
    shares = [Fraction(well_formed_strings(n), 256**n) for n in range(65)]
    high = [Fraction(well_formed_strings(n, 0x80), 128**n) for n in range(2, 65)]
    assert all(later < earlier for shares in (shares, high) for earlier, later in pairwise(shares))
    assert [round(100 * float(share), 2) for share in high[:5]] == [11.72, 2.93, 1.76, 0.69, 0.34]
    assert shares[16] < Fraction(1, 5_000)
    assert high[14] < Fraction(1, 100_000)


def test_an_accented_letter_before_ascii_or_at_the_end_gives_other_text_away() -> None:
    for octet in range(0x80, 0x100):
        assert not is_well_formed(bytes([octet]))
        assert not any(is_well_formed(bytes([octet, ascii_octet])) for ascii_octet in range(0x80))
    assert not is_well_formed("d\xe9j\xe0 vu".encode("latin-1"))
    assert decode("\xc2\xa3".encode("latin-1")) == "\xa3"  # the rare case: it is mistaken for a pound sign


def test_no_octet_of_an_ill_formed_piece_is_ascii() -> None:
    for prefix in product((0x00, 0x7F, 0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF), repeat=4):
        for found in segments(bytes(prefix)):
            if isinstance(found, MaximalSubpart):
                assert min(prefix[found.offset : found.offset + found.length]) >= 0x80


def test_numbers_not_yet_characters_decode_as_any_others() -> None:
    """The version of Unicode does not matter: unassigned code points, noncharacters, Hangul before it moved."""
    for number in (0x378, 0x3400, 0x3D2D, 0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x50000, 0x10FFFF):
        assert decode_scalars(spelled(number, needed(number))) == (number,)


def test_layouts_have_the_octets_that_lead_octets_announce() -> None:
    def announced() -> Iterator[int | None]:
        for lead in range(0x100):
            row = load_layout("rfc2279").announced(lead)
            yield None if row is None else len(row.templates)

    lengths = [1] * 0x80 + [None] * 0x40 + [2] * 0x20 + [3] * 0x10 + [4] * 8 + [5] * 4 + [6] * 2 + [None] * 2
    assert list(announced()) == lengths
