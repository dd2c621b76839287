"""Noncharacters are scalar values: a decoder lets them through (Unicode D14; corrigendum 9)."""

from __future__ import annotations

from overlong.conformance.vectors.builders import well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("noncharacter", "noncharacters are scalar values")


@FAMILY.cases("scalar", [plane * 0x10000 + end for plane in range(17) for end in (0xFFFE, 0xFFFF)])
def end_of_plane(scalar: int) -> bytes:
    """U+{scalar:04X} is a noncharacter, and a scalar value"""
    return well_formed(scalar)


@FAMILY.cases("scalar", (0xFDCF, 0xFDD0, 0xFDEF, 0xFDF0))
def arabic_presentation_forms(scalar: int) -> bytes:
    """U+{scalar:04X}, at an end of the 32 noncharacters among Arabic presentation forms"""
    return well_formed(scalar)


@FAMILY.case
def inside_a_text() -> bytes:
    """U+FFFE inside a text is no swapped byte order mark"""
    return well_formed(0x61, 0xFFFE, 0x62)
