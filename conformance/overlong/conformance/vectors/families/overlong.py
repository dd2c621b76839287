"""Characters in more octets than they need (RFC 3629 sections 3 and 10)."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import overlong, well_formed
from overlong.conformance.vectors.families.family import Family
from overlong.reference.layout import load_layout

FAMILY = Family("overlong", "characters in more octets than they need")

FILTERED = {
    0x2F: "'/'", 0x2E: "'.'", 0x5C: "'\\'", 0x3C: "'<'", 0x3E: "'>'", 0x27: "single quote", 0x22: "double quote",
    0x00: "NUL", 0x0D: "CR", 0x0A: "LF", 0x25: "'%'",
}  # fmt: skip
"""Characters that filters look for."""

ROWS = load_layout("rfc2279").rows


@FAMILY.cases("scalar, name, length", [(*pair, length) for pair, length in product(FILTERED.items(), range(2, 7))])
def filtered_character(scalar: int, name: str, length: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{scalar:04X} {name} in {length:octets}: a filter that looks for it does not see it"""
    return overlong(scalar, length)


@FAMILY.cases(
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


@FAMILY.cases("scalar, length", ((0xD7FF, 4), (0xE000, 4), (0x10FFFF, 5), (0x10FFFF, 6)))
def end_of_a_range(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}"""
    return overlong(scalar, length)


@FAMILY.cases("lead", (0xC0, 0xC1))
def lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin an overlong form"""
    return bytes([lead])


@FAMILY.cases("lead", (0xC0, 0xC1))
def lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"A"


@FAMILY.cases("scalar, length", ((0x2F, 2), (0x7FF, 3), (0xFFFF, 4)))
def between_characters(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}, between well-formed characters"""
    return well_formed(0xE9) + overlong(scalar, length) + well_formed(0x20AC)


@FAMILY.cases("scalar, length, count", ((0x2F, 3, 2), (0x2F, 4, 2), (0x2F, 4, 3)))
def cut_short(scalar: int, length: int, count: int) -> bytes:
    """the first {count:octets} of U+{scalar:04X} in {length:octets}: nothing can complete them"""
    return overlong(scalar, length)[:count]
