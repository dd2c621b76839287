"""One thing after another: characters of all lengths, faults between them, long runs, and the ends of ranges."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.builders import (
    first_and_last,
    out_of_range,
    overlong,
    products,
    spelt,
    surrogate,
    truncated,
    well_formed,
)
from overlong.conformance.vectors.families.family import Family
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterator
# Characters of all lengths, one after another.

CONCATENATION = Family("concatenation", "faults and characters in a row: each is judged separately")
_OF_EACH_LENGTH = (0x7A, 0xE9, 0x20AC, 0x1F600)


@CONCATENATION.cases("left, right", product(_OF_EACH_LENGTH, repeat=2))
def two(left: int, right: int) -> bytes:
    """U+{left:04X}, then U+{right:04X}"""
    return well_formed(left, right)


@CONCATENATION.cases("first, second, third, fourth", permutations(_OF_EACH_LENGTH))
def every_order(first: int, second: int, third: int, fourth: int) -> bytes:
    """U+{first:04X}, U+{second:04X}, U+{third:04X}, U+{fourth:04X}"""
    return well_formed(first, second, third, fourth)


CONCATENATION.one("all-ends", b"".join(first_and_last()), "the first and the last character of every range, in order")


@CONCATENATION.case
def all_ends_reversed() -> bytes:
    """the last and the first character of every range, in reverse order"""
    return b"".join(reversed(first_and_last()))


@CONCATENATION.case
def every_fault() -> bytes:
    """one of each kind of fault, one after another"""
    return b"".join(
        (
            overlong(0x2F, 2),
            surrogate(0xD800),
            out_of_range(0x110000),
            out_of_range(0x200000),
            b"\xff",
            b"\x80",
            truncated(0x20AC, 2),
        )
    )


@CONCATENATION.case
def every_fault_between_letters() -> bytes:
    """one of each kind of fault, with a letter after each"""
    return b"a".join(
        (b"", overlong(0x2F, 2), surrogate(0xD800), out_of_range(0x110000), b"\xff", b"\x80", truncated(0x20AC, 2), b"")
    )


# A decoder must read the octets after a fault as if the fault were not there.

RESYNCHRONISATION = Family("resynchronisation", "text after a fault decodes as usual")
FAULTS = {
    "an unexpected tail": b"\x80",
    "C0": b"\xc0",
    "F5": b"\xf5",
    "FF": b"\xff",
    "an overlong slash": overlong(0x2F, 3),
    "a surrogate": surrogate(0xD800),
    "a number out of range": out_of_range(0x110000),
    "a number of six octets": out_of_range(0x7FFFFFFF),
    "one octet of two": truncated(0xE9, 1),
    "two octets of three": truncated(0x20AC, 2),
    "three octets of four": truncated(0x1F600, 3),
}


@RESYNCHRONISATION.cases(
    "name, fault, scalar",
    [(*fault, scalar) for fault, scalar in product(FAULTS.items(), (0x61, 0xE9, 0x20AC, 0x1F600))],
)
def a_character_after(name: str, fault: bytes, scalar: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """{name}, then U+{scalar:04X} twice, which must survive"""
    return fault + well_formed(scalar, scalar)


RESYNCHRONISATION.one("in-the-middle-of-ascii", b"a" * 20 + b"\xff" + b"b" * 20, "FF in the middle of ASCII")


@RESYNCHRONISATION.cases("count", (1, 2, 3))
def alternating(count: int) -> bytes:
    """a letter and {count:octets} of U+1F600, eight times"""
    return (b"a" + truncated(0x1F600, count)) * 8


@RESYNCHRONISATION.cases("place", (15, 31, 63))
def at_the_edge_of_a_block(place: int) -> bytes:
    """a number out of range that begins at offset {place}"""
    return b"a" * place + out_of_range(0x110000)


@RESYNCHRONISATION.cases("place", (15, 31, 63))
def lead_as_the_last_octet_of_a_block(place: int) -> bytes:
    """a lead octet as the last octet of a block of {place} and one"""
    return b"a" * place + truncated(0xE9, 1)


@RESYNCHRONISATION.cases("place", (16, 32, 64))
def first_octet_of_a_block(place: int) -> bytes:
    """FF as the first octet after a block of {place}"""
    return b"a" * place + b"\xff"


@RESYNCHRONISATION.case
def one_tail_too_many_after_fifty_characters() -> bytes:
    """one tail octet too many after 150 octets of three-octet characters"""
    return well_formed(*[0x20AC] * 50) + b"\x80"


# Runs longer than any vector unit: sequences of one length throughout, or with a single fault.

LONG_RUN = Family("long-run", "runs longer than any vector unit, with at most one fault")
_LETTERS = (0x61, 0xE9, 0x20AC, 0x1F600)
_OCTETS = 256


def _run(scalar: int) -> bytes:
    character = well_formed(scalar)
    return character * (_OCTETS // len(character) + 1)


@LONG_RUN.cases("scalar", _LETTERS)
def of_one_length(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, over more than 256 octets"""
    return _run(scalar)


@LONG_RUN.cases("scalar", _LETTERS)
def with_a_tail_too_many(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, then a tail octet"""
    return _run(scalar) + b"\x80"


@LONG_RUN.cases("scalar", _LETTERS[1:])
def cut_short(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, the last one without its last octet"""
    return _run(scalar)[:-1]


@LONG_RUN.cases("place, octet", product((15, 16, 31, 32, 63, 64, 127, 128), (0x80, 0xC3, 0xFF)))
def one_fault(place: int, octet: int) -> bytes:
    """{octet:02X} at offset {place} of 160 letters"""
    return b"a" * place + bytes([octet]) + b"a" * (159 - place)


@LONG_RUN.cases("place", (13, 14, 15, 29, 30, 31, 61, 62, 63))
def a_character_across_a_block(place: int) -> bytes:
    """U+1F600 at offset {place}, across the edge of a block"""
    return b"a" * place + well_formed(0x1F600) + b"a" * 16


@LONG_RUN.cases("length", (1000, 4097))
def letters(length: int) -> bytes:
    """{length} letters"""
    return b"a" * length


# Every grammar range: its first and last octet, in each place, and the neighbours just outside.

BOUNDARY = Family("boundary", "the ends of every range of the grammar, and both neighbours")
_ENDS = [
    (octets, spelt(ranges), which)
    for ranges, pair in zip(products(), zip(first_and_last()[::2], first_and_last()[1::2], strict=True), strict=True)
    for which, octets in zip(("first", "last"), pair, strict=True)
]


def _neighbours() -> Iterator[tuple[bytes, int, str, int, str]]:
    """Octets, the octet just outside a range, the side and the place of that octet, and the ranges."""
    for ranges in products():
        for end in (0, -1):
            character = bytes(octets[end] for octets in ranges)
            for place, octets in enumerate(ranges):
                beyond = octets[end] + (-1 if end == 0 else 1)
                if 0 <= beyond < 0x100:
                    outside = character[:place] + bytes([beyond]) + character[place + 1 :]
                    yield outside, beyond, "before" if end == 0 else "after", place, spelt(ranges)


@BOUNDARY.cases("octets, ranges, which", _ENDS)
def end_of_a_range(octets: bytes, ranges: str, which: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """the {which} character of {ranges}"""
    return octets


@BOUNDARY.cases("octets, beyond, side, place, ranges", _neighbours())
def neighbour(octets: bytes, beyond: int, side: str, place: int, ranges: str) -> bytes:  # noqa: ARG001
    """{beyond:02X}, the octet just {side} the range at place {place} of {ranges}"""
    return octets


@BOUNDARY.cases("first", (0x0, 0x80, 0x800, 0x10000))
def first_of_a_length(first: int) -> bytes:
    """U+{first:04X}, the first scalar value of its length, between ASCII letters"""
    return well_formed(0x41, first, 0x5A)


@BOUNDARY.cases("last", (0x7F, 0x7FF, 0xFFFF, CODE_POINTS.stop - 1))
def last_of_a_length(last: int) -> bytes:
    """U+{last:04X}, the last scalar value of its length, between ASCII letters"""
    return well_formed(0x41, last, 0x5A)


@BOUNDARY.cases("scalar", (SURROGATES.start - 1, SURROGATES.stop))
def beside_the_surrogates(scalar: int) -> bytes:
    """U+{scalar:04X}, next to the surrogates, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)


@BOUNDARY.cases("scalar", [plane * 0x10000 + end for plane in (3, 4, 15, 16) for end in (0, 0xFFFD)])
def end_of_a_plane(scalar: int) -> bytes:
    """U+{scalar:04X}, at the edge of a plane, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)
