"""Runs longer than any vector unit: one length of sequence throughout, and a single fault in it."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("long-run", "runs longer than any vector unit, with at most one fault")

_OF_EACH_LENGTH = (0x61, 0xE9, 0x20AC, 0x1F600)
_OCTETS = 256


def _run(scalar: int) -> bytes:
    character = well_formed(scalar)
    return character * (_OCTETS // len(character) + 1)


@FAMILY.cases("scalar", _OF_EACH_LENGTH)
def of_one_length(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, over more than 256 octets"""
    return _run(scalar)


@FAMILY.cases("scalar", _OF_EACH_LENGTH)
def with_a_tail_too_many(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, then a tail octet"""
    return _run(scalar) + b"\x80"


@FAMILY.cases("scalar", _OF_EACH_LENGTH[1:])
def cut_short(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, the last one without its last octet"""
    return _run(scalar)[:-1]


@FAMILY.cases("place, octet", product((15, 16, 31, 32, 63, 64, 127, 128), (0x80, 0xC3, 0xFF)))
def one_fault(place: int, octet: int) -> bytes:
    """{octet:02X} at offset {place} of 160 letters"""
    return b"a" * place + bytes([octet]) + b"a" * (159 - place)


@FAMILY.cases("place", (13, 14, 15, 29, 30, 31, 61, 62, 63))
def a_character_across_a_block(place: int) -> bytes:
    """U+1F600 at offset {place}, across the edge of a block"""
    return b"a" * place + well_formed(0x1F600) + b"a" * 16


@FAMILY.cases("length", (1000, 4097))
def letters(length: int) -> bytes:
    """{length} letters"""
    return b"a" * length
