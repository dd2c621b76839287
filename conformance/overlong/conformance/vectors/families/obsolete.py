"""Five and six octets, as RFC 2279 had them until 2003."""

from __future__ import annotations

from overlong.conformance.vectors.builders import out_of_range
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("obsolete", "forms of five and six octets, which only RFC 2279 knew")

_LEADS = range(0xF8, 0xFE)


@FAMILY.cases("number", (0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF))
def number(number: int) -> bytes:
    """{number:X}, as RFC 2279 wrote it"""
    return out_of_range(number)


@FAMILY.cases("lead", _LEADS)
def lead_alone(lead: int) -> bytes:
    """{lead:02X} alone"""
    return bytes([lead])


@FAMILY.cases("lead", _LEADS)
def lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@FAMILY.cases("lead", _LEADS)
def lead_with_three_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets, as if it were a lead of four"""
    return bytes([lead]) + b"\x80\x80\x80"


@FAMILY.case
def between_letters() -> bytes:
    """five octets between ASCII letters"""
    return b"a" + out_of_range(0x200000) + b"z"
