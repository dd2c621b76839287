"""Tail octets where a character must begin."""

from __future__ import annotations

from overlong.conformance.vectors.builders import overlong, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("unexpected-tail", "tail octets where a character must begin")

_TAILS = (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)
_OF_EACH_LENGTH = (0x61, 0xE9, 0x20AC, 0x1F600)


@FAMILY.cases("octet", _TAILS)
def alone(octet: int) -> bytes:
    """{octet:02X} alone"""
    return bytes([octet])


@FAMILY.cases("octet", _TAILS)
def between_letters(octet: int) -> bytes:
    """{octet:02X} between ASCII letters"""
    return b"a" + bytes([octet]) + b"z"


@FAMILY.cases("length", (2, 3, 4, 5, 6, 7, 8, 16, 64))
def run(length: int) -> bytes:
    """a run of {length} tail octets"""
    return b"\x80" * length


@FAMILY.case
def every_tail() -> bytes:
    """all 64 tail octets in order"""
    return bytes(range(0x80, 0xC0))


@FAMILY.cases("scalar", _OF_EACH_LENGTH)
def one_too_many(scalar: int) -> bytes:
    """one tail octet too many after U+{scalar:04X}"""
    return well_formed(scalar) + b"\x80"


@FAMILY.cases("scalar", _OF_EACH_LENGTH)
def two_too_many(scalar: int) -> bytes:
    """two tail octets too many after U+{scalar:04X}, then a letter"""
    return well_formed(scalar) + b"\x80\xbf" + b"a"


@FAMILY.cases("scalar", _OF_EACH_LENGTH)
def before_a_character(scalar: int) -> bytes:
    """a tail octet before U+{scalar:04X}"""
    return b"\xbf" + well_formed(scalar)


@FAMILY.case
def after_an_overlong_form() -> bytes:
    """a tail octet after an overlong form"""
    return overlong(0x2F, 2) + b"\x80"
