"""Halves of UTF-16 pairs, which are no characters (RFC 3629 section 3; Unicode D71 to D75)."""

from __future__ import annotations

from overlong.conformance.vectors.builders import surrogate, surrogate_pair, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("surrogate", "halves of UTF-16 pairs, which are no characters")

NAMED = {
    0xD800: "the first high surrogate",
    0xDB7F: "the last high surrogate that is not private",
    0xDB80: "the first private high surrogate",
    0xDBFF: "the last high surrogate",
    0xDC00: "the first low surrogate",
    0xDFFF: "the last low surrogate",
}


@FAMILY.cases("code_point, name", NAMED.items())
def alone(code_point: int, name: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{code_point:04X}, {name}"""
    return surrogate(code_point)


@FAMILY.cases("code_point", NAMED)
def between_letters(code_point: int) -> bytes:
    """U+{code_point:04X} between ASCII letters"""
    return b"a" + surrogate(code_point) + b"z"


@FAMILY.cases("code_point", range(0xD800, 0xE000, 0x40))
def each_second_octet(code_point: int) -> bytes:
    """U+{code_point:04X}: one surrogate for every octet that can follow ED"""
    return surrogate(code_point)


@FAMILY.case
def pair_of_the_rfc() -> bytes:
    """RFC 3629 section 3: the surrogate pair of U+233B4"""
    return surrogate_pair(0x233B4)


@FAMILY.cases("scalar", (0x10000, 0x103FF, 0x1F600, 0x10FC00, 0x10FFFF))
def pair(scalar: int) -> bytes:
    """the surrogate pair of U+{scalar:04X}, as CESU-8 writes it"""
    return surrogate_pair(scalar)


@FAMILY.case
def reversed_pair() -> bytes:
    """a low surrogate before a high one"""
    return surrogate(0xDC00) + surrogate(0xD800)


@FAMILY.case
def two_high() -> bytes:
    """two high surrogates"""
    return surrogate(0xD800) * 2


@FAMILY.case
def two_low() -> bytes:
    """two low surrogates"""
    return surrogate(0xDC00) * 2


@FAMILY.case
def high_then_character() -> bytes:
    """a high surrogate before a four-octet character"""
    return surrogate(0xD83D) + well_formed(0x1F600)


@FAMILY.case
def half_of_a_pair_cut_short() -> bytes:
    """a high surrogate and the first two octets of a low one"""
    return surrogate(0xD83D) + surrogate(0xDE00)[:2]


@FAMILY.cases("code_point", (0xD800, 0xDFFF))
def cut_short(code_point: int) -> bytes:
    """U+{code_point:04X} cut short: these two octets already begin no character"""
    return surrogate(code_point)[:2]


@FAMILY.case
def before_the_first_character_after_it() -> bytes:
    """the last surrogate before the first character after it"""
    return surrogate(0xDFFF) + well_formed(0xE000)
