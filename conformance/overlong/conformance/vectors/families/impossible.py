"""FE and FF, which no version of UTF-8 ever used."""

from __future__ import annotations

from overlong.conformance.vectors.builders import well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("impossible", "FE and FF, which no UTF-8 ever used")


@FAMILY.cases("octets", (b"\xfe", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xff" * 4, b"\xfe\x80\x80\x80\x80\x80\x80"))
def octets(octets: bytes) -> bytes:
    """{octets:hex}: no UTF-8 ever used FE or FF"""
    return octets


@FAMILY.cases("octet", (0xFE, 0xFF))
def between_letters(octet: int) -> bytes:
    """{octet:02X} between ASCII letters"""
    return b"a" + bytes([octet]) + b"z"


@FAMILY.cases("scalar", (0xE9, 0x20AC, 0x1F600))
def after_a_character(scalar: int) -> bytes:
    """FF after U+{scalar:04X}"""
    return well_formed(scalar) + b"\xff"
