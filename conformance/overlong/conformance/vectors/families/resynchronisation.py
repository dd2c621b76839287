"""What stands after a fault must be read as if the fault were not there."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import out_of_range, overlong, surrogate, truncated, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("resynchronisation", "what stands after a fault is read as ever")

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


@FAMILY.cases(
    "name, fault, scalar",
    [(*fault, scalar) for fault, scalar in product(FAULTS.items(), (0x61, 0xE9, 0x20AC, 0x1F600))],
)
def a_character_after(name: str, fault: bytes, scalar: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """{name}, then U+{scalar:04X} twice, which must survive"""
    return fault + well_formed(scalar, scalar)


@FAMILY.case
def in_the_middle_of_ascii() -> bytes:
    """FF in the middle of ASCII"""
    return b"a" * 20 + b"\xff" + b"b" * 20


@FAMILY.cases("count", (1, 2, 3))
def alternating(count: int) -> bytes:
    """a letter and {count:octets} of U+1F600, eight times"""
    return (b"a" + truncated(0x1F600, count)) * 8


@FAMILY.cases("place", (15, 31, 63))
def at_the_edge_of_a_block(place: int) -> bytes:
    """a number out of range that begins at offset {place}"""
    return b"a" * place + out_of_range(0x110000)


@FAMILY.cases("place", (15, 31, 63))
def lead_as_the_last_octet_of_a_block(place: int) -> bytes:
    """a lead octet as the last octet of a block of {place} and one"""
    return b"a" * place + truncated(0xE9, 1)


@FAMILY.cases("place", (16, 32, 64))
def first_octet_of_a_block(place: int) -> bytes:
    """FF as the first octet after a block of {place}"""
    return b"a" * place + b"\xff"


@FAMILY.case
def one_tail_too_many_after_fifty_characters() -> bytes:
    """one tail octet too many after 150 octets of three-octet characters"""
    return well_formed(*[0x20AC] * 50) + b"\x80"
