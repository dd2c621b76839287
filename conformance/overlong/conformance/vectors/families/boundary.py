"""Every grammar range: its first and last octet, in each place, and the neighbours just outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.builders import well_formed
from overlong.conformance.vectors.families.edges import first_and_last, products, spelt
from overlong.conformance.vectors.families.family import Family
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterator

FAMILY = Family("boundary", "the ends of every range of the grammar, and both neighbours")

_ENDS = [
    (octets, spelt(ranges), which)
    for ranges, pair in zip(products(), zip(first_and_last()[::2], first_and_last()[1::2], strict=True), strict=True)
    for which, octets in zip(("first", "last"), pair, strict=True)
]


def _neighbours() -> Iterator[tuple[bytes, int, str, int, str]]:
    """Octets, the one that is just outside, what it is next to, its place, and whose range that is."""
    for ranges in products():
        for end in (0, -1):
            character = bytes(octets[end] for octets in ranges)
            for place, octets in enumerate(ranges):
                beyond = octets[end] + (-1 if end == 0 else 1)
                if 0 <= beyond < 0x100:
                    outside = character[:place] + bytes([beyond]) + character[place + 1 :]
                    yield outside, beyond, "before" if end == 0 else "after", place, spelt(ranges)


@FAMILY.cases("octets, ranges, which", _ENDS)
def end_of_a_range(octets: bytes, ranges: str, which: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """the {which} character of {ranges}"""
    return octets


@FAMILY.cases("octets, beyond, side, place, ranges", _neighbours())
def neighbour(octets: bytes, beyond: int, side: str, place: int, ranges: str) -> bytes:  # noqa: ARG001
    """{beyond:02X}, the octet just {side} the range at place {place} of {ranges}"""
    return octets


@FAMILY.cases("first", (0x0, 0x80, 0x800, 0x10000))
def first_of_a_length(first: int) -> bytes:
    """U+{first:04X}, the first scalar value of its length, between ASCII letters"""
    return well_formed(0x41, first, 0x5A)


@FAMILY.cases("last", (0x7F, 0x7FF, 0xFFFF, CODE_POINTS.stop - 1))
def last_of_a_length(last: int) -> bytes:
    """U+{last:04X}, the last scalar value of its length, between ASCII letters"""
    return well_formed(0x41, last, 0x5A)


@FAMILY.cases("scalar", (SURROGATES.start - 1, SURROGATES.stop))
def beside_the_surrogates(scalar: int) -> bytes:
    """U+{scalar:04X}, next to the surrogates, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)


@FAMILY.cases("scalar", [plane * 0x10000 + end for plane in (3, 4, 15, 16) for end in (0, 0xFFFD)])
def end_of_a_plane(scalar: int) -> bytes:
    """U+{scalar:04X}, at the edge of a plane, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)
