"""Memory access of the choices.

A table is a sequence of integers of 63 bits; a pool is ``bytes``; the output is a ``bytearray``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cell(table: Sequence[int], place: int) -> int:
    """A cell of a table."""
    return table[place]


def product(one: int, other: int, more: int) -> int:
    """Multiply two numbers and add one, modulo 2**63."""
    return (one * other + more) & (1 << 63) - 1


def octet_at(octets: bytearray, place: int) -> int:
    """An octet."""
    return octets[place]


def copy(to: bytearray, at: int, source: bytes | bytearray, start: int, count: int) -> None:
    """Copy a number of octets; the call may overwrite octets after them."""
    to[at : at + count] = source[start : start + count]


def write_word(to: bytearray, at: int, word: int) -> None:
    """Write the octets of a token, given as a word (see :func:`word_of`); the call may overwrite seven more."""
    count = word >> 56
    to[at : at + count] = word.to_bytes(8, "little")[:count]


def word_of(token: bytes) -> int:
    """A token of at most seven octets as a word: the first octet is the lowest, the length the highest."""
    return int.from_bytes(token.ljust(7, b"\0") + bytes([len(token)]), "little")


def words_of(ranges: Sequence[range]) -> tuple[int, int]:
    """At most seven ranges of octets as two words: their first octets as a token, and their sizes less one."""
    spans = bytes(octets[-1] - octets[0] for octets in ranges)
    return word_of(bytes(octets[0] for octets in ranges)), int.from_bytes(spans, "little")
