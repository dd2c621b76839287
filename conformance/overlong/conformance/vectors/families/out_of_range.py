"""Numbers beyond U+10FFFF in four octets (RFC 3629 section 3)."""

from __future__ import annotations

from overlong.conformance.vectors.builders import out_of_range
from overlong.conformance.vectors.families.family import Family
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

FAMILY = Family("out-of-range", "numbers beyond U+10FFFF")

_LAST_OF_FOUR = load_layout("rfc2279").rows[3].numbers.stop - 1


@FAMILY.cases("number", (CODE_POINTS.stop, 0x13FFFF, 0x140000, 0x17FFFF, 0x180000, 0x1C0000, _LAST_OF_FOUR))
def beyond(number: int) -> bytes:
    """{number:X}: beyond U+10FFFF in four octets"""
    return out_of_range(number)


@FAMILY.cases("lead", range(0xF5, 0xF8))
def lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin a number beyond U+10FFFF"""
    return bytes([lead])


@FAMILY.cases("lead", range(0xF5, 0xF8))
def lead_with_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets"""
    return bytes([lead]) + b"\x80\x80\x80"


@FAMILY.cases("lead", range(0xF5, 0xF8))
def lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@FAMILY.cases("count", (2, 3))
def cut_short(count: int) -> bytes:
    """the first {count:octets} of 110000: nothing can complete them"""
    return out_of_range(CODE_POINTS.stop)[:count]


@FAMILY.case
def between_letters() -> bytes:
    """beyond the range, between ASCII letters"""
    return b"a" + out_of_range(CODE_POINTS.stop) + b"z"
