"""Octets that spell no scalar value, or spell one unlawfully (RFC 3629 sections 3 and 10)."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import out_of_range, overlong, surrogate, surrogate_pair, well_formed
from overlong.conformance.vectors.families.family import Family
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

# Characters in more octets than they need (RFC 3629 sections 3 and 10).

OVERLONG = Family("overlong", "characters in more octets than they need")
FILTERED = {
    0x2F: "'/'", 0x2E: "'.'", 0x5C: "'\\'", 0x3C: "'<'", 0x3E: "'>'", 0x27: "single quote", 0x22: "double quote",
    0x00: "NUL", 0x0D: "CR", 0x0A: "LF", 0x25: "'%'",
}  # fmt: skip
"""Characters that filters search for."""
ROWS = load_layout("rfc2279").rows


@OVERLONG.cases("scalar, name, length", [(*pair, length) for pair, length in product(FILTERED.items(), range(2, 7))])
def filtered_character(scalar: int, name: str, length: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{scalar:04X} {name} in {length:octets}: a filter that looks for it does not see it"""
    return overlong(scalar, length)


@OVERLONG.cases(
    "scalar, needed, length",
    [
        (scalar, needed + 1, length)
        for needed, row in enumerate(ROWS)
        for length in range(needed + 2, len(ROWS) + 1)
        for scalar in (row.numbers.start, row.numbers.stop - 1)
    ],
)
def every_longer_length(scalar: int, needed: int, length: int) -> bytes:
    """the number {scalar:X}, which has {needed:octets}, in {length:octets}"""
    del needed
    return overlong(scalar, length)


@OVERLONG.cases("scalar, length", ((0xD7FF, 4), (0xE000, 4), (0x10FFFF, 5), (0x10FFFF, 6)))
def end_of_a_range(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}"""
    return overlong(scalar, length)


@OVERLONG.cases("lead", (0xC0, 0xC1))
def overlong_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin an overlong form"""
    return bytes([lead])


@OVERLONG.cases("lead", (0xC0, 0xC1))
def overlong_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"A"


@OVERLONG.cases("scalar, length", ((0x2F, 2), (0x7FF, 3), (0xFFFF, 4)))
def between_characters(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}, between well-formed characters"""
    return well_formed(0xE9) + overlong(scalar, length) + well_formed(0x20AC)


@OVERLONG.cases("scalar, length, count", ((0x2F, 3, 2), (0x2F, 4, 2), (0x2F, 4, 3)))
def overlong_cut_short(scalar: int, length: int, count: int) -> bytes:
    """the first {count:octets} of U+{scalar:04X} in {length:octets}: nothing can complete them"""
    return overlong(scalar, length)[:count]


# Surrogates: halves of UTF-16 pairs, which are not characters (RFC 3629 section 3; Unicode D71 to D75).

SURROGATE = Family("surrogate", "halves of UTF-16 pairs, which are no characters")
NAMED = {
    0xD800: "the first high surrogate",
    0xDB7F: "the last high surrogate that is not private",
    0xDB80: "the first private high surrogate",
    0xDBFF: "the last high surrogate",
    0xDC00: "the first low surrogate",
    0xDFFF: "the last low surrogate",
}


@SURROGATE.cases("code_point, name", NAMED.items())
def alone(code_point: int, name: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{code_point:04X}, {name}"""
    return surrogate(code_point)


@SURROGATE.cases("code_point", NAMED)
def surrogate_between_letters(code_point: int) -> bytes:
    """U+{code_point:04X} between ASCII letters"""
    return b"a" + surrogate(code_point) + b"z"


@SURROGATE.cases("code_point", range(0xD800, 0xE000, 0x40))
def each_second_octet(code_point: int) -> bytes:
    """U+{code_point:04X}: one surrogate for every octet that can follow ED"""
    return surrogate(code_point)


SURROGATE.one("pair-of-the-rfc", surrogate_pair(0x233B4), "RFC 3629 section 3: the surrogate pair of U+233B4")


@SURROGATE.cases("scalar", (0x10000, 0x103FF, 0x1F600, 0x10FC00, 0x10FFFF))
def pair(scalar: int) -> bytes:
    """the surrogate pair of U+{scalar:04X}, as CESU-8 writes it"""
    return surrogate_pair(scalar)


SURROGATE.one("reversed-pair", surrogate(0xDC00) + surrogate(0xD800), "a low surrogate before a high one")
SURROGATE.one("two-high", surrogate(0xD800) * 2, "two high surrogates")
SURROGATE.one("two-low", surrogate(0xDC00) * 2, "two low surrogates")


@SURROGATE.case
def high_then_character() -> bytes:
    """a high surrogate before a four-octet character"""
    return surrogate(0xD83D) + well_formed(0x1F600)


@SURROGATE.case
def half_of_a_pair_cut_short() -> bytes:
    """a high surrogate and the first two octets of a low one"""
    return surrogate(0xD83D) + surrogate(0xDE00)[:2]


@SURROGATE.cases("code_point", (0xD800, 0xDFFF))
def surrogate_cut_short(code_point: int) -> bytes:
    """U+{code_point:04X} cut short: these two octets already begin no character"""
    return surrogate(code_point)[:2]


@SURROGATE.case
def before_the_first_character_after_it() -> bytes:
    """the last surrogate before the first character after it"""
    return surrogate(0xDFFF) + well_formed(0xE000)


# Numbers beyond U+10FFFF in four octets (RFC 3629 section 3).

OUT_OF_RANGE = Family("out-of-range", "numbers beyond U+10FFFF")
_LAST_OF_FOUR = load_layout("rfc2279").rows[3].numbers.stop - 1


@OUT_OF_RANGE.cases("number", (CODE_POINTS.stop, 0x13FFFF, 0x140000, 0x17FFFF, 0x180000, 0x1C0000, _LAST_OF_FOUR))
def beyond(number: int) -> bytes:
    """{number:X}: beyond U+10FFFF in four octets"""
    return out_of_range(number)


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def out_of_range_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin a number beyond U+10FFFF"""
    return bytes([lead])


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def lead_with_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets"""
    return bytes([lead]) + b"\x80\x80\x80"


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def out_of_range_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@OUT_OF_RANGE.cases("count", (2, 3))
def out_of_range_cut_short(count: int) -> bytes:
    """the first {count:octets} of 110000: nothing can complete them"""
    return out_of_range(CODE_POINTS.stop)[:count]


@OUT_OF_RANGE.case
def out_of_range_between_letters() -> bytes:
    """beyond the range, between ASCII letters"""
    return b"a" + out_of_range(CODE_POINTS.stop) + b"z"


# Forms of five and six octets, which RFC 2279 allowed until 2003.

OBSOLETE = Family("obsolete", "forms of five and six octets, which only RFC 2279 knew")
_LEADS = range(0xF8, 0xFE)


@OBSOLETE.cases("number", (0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF))
def number(number: int) -> bytes:
    """{number:X}, as RFC 2279 wrote it"""
    return out_of_range(number)


@OBSOLETE.cases("lead", _LEADS)
def obsolete_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone"""
    return bytes([lead])


@OBSOLETE.cases("lead", _LEADS)
def obsolete_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@OBSOLETE.cases("lead", _LEADS)
def lead_with_three_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets, as if it were a lead of four"""
    return bytes([lead]) + b"\x80\x80\x80"


OBSOLETE.one("between-letters", b"a" + out_of_range(0x200000) + b"z", "five octets between ASCII letters")

# FE and FF, which no version of UTF-8 ever used.

IMPOSSIBLE = Family("impossible", "FE and FF, which no UTF-8 ever used")


@IMPOSSIBLE.cases("octets", (b"\xfe", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xff" * 4, b"\xfe\x80\x80\x80\x80\x80\x80"))
def octets(octets: bytes) -> bytes:
    """{octets:hex}: no UTF-8 ever used FE or FF"""
    return octets


@IMPOSSIBLE.cases("octet", (0xFE, 0xFF))
def impossible_between_letters(octet: int) -> bytes:
    """{octet:02X} between ASCII letters"""
    return b"a" + bytes([octet]) + b"z"


@IMPOSSIBLE.cases("scalar", (0xE9, 0x20AC, 0x1F600))
def after_a_character(scalar: int) -> bytes:
    """FF after U+{scalar:04X}"""
    return well_formed(scalar) + b"\xff"
