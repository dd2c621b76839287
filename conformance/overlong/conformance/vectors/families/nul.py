"""NUL is a character like any other."""

from __future__ import annotations

from overlong.conformance.vectors.builders import truncated, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("nul", "NUL is a character like any other, and ends nothing")


@FAMILY.case
def alone() -> bytes:
    """NUL is a character like any other"""
    return well_formed(0)


@FAMILY.case
def inside() -> bytes:
    """NUL inside a text does not end it"""
    return well_formed(0x61, 0, 0x62)


@FAMILY.case
def at_the_start() -> bytes:
    """NUL before a text does not empty it"""
    return well_formed(0, 0x61)


@FAMILY.case
def at_the_end() -> bytes:
    """NUL after a text is part of it"""
    return well_formed(0x61, 0)


@FAMILY.case
def run() -> bytes:
    """nine NULs: a word of zeros and one more"""
    return well_formed(*[0] * 9)


@FAMILY.case
def before_an_error() -> bytes:
    """what stands after NUL is checked, too: FF"""
    return well_formed(0x61, 0) + b"\xff"


@FAMILY.case
def before_an_unexpected_tail() -> bytes:
    """00 80: the tail octet after NUL is ill-formed"""
    return well_formed(0) + b"\x80"


@FAMILY.cases("scalar, count", [(0xE9, 1), (0x20AC, 1), (0x20AC, 2), (0x1F600, 1), (0x1F600, 2), (0x1F600, 3)])
def inside_a_sequence(scalar: int, count: int) -> bytes:
    """NUL after {count:octets} of U+{scalar:04X}: a character cut short, then NUL"""
    return truncated(scalar, count) + well_formed(0)
