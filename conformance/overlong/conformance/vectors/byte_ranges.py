"""Byte-range sequences: many strings on which the automaton passes through the same states.

All strings of a byte-range sequence have their segments and their faults at the same places; they differ only in
the octets within each range. So one string stands for all, and the columns of all strings are laid out by stride.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby, product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.vectors.vector import Vector
from overlong.reference import WellFormed, dialect
from overlong.reference.automaton import OCTETS
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference import Segment


PART = 1 << 16
"""The number of strings of a byte-range sequence that are laid out at once, so that memory stays flat."""


@dataclass(frozen=True)
class ByteRangeSequence:
    """The strings with one octet from each range, in octet order: the last octet changes fastest."""

    category: str
    ranges: tuple[range, ...]

    def __len__(self) -> int:
        return prod(map(len, self.ranges))

    @cached_property
    def example(self) -> Vector:
        """The first of its strings."""
        return Vector(self.category, bytes(octets[0] for octets in self.ranges))

    @property
    def octets(self) -> bytes:
        """All strings in a row, in order."""
        result = bytearray(len(self) * len(self.ranges))
        for place, octets in enumerate(self.ranges):
            result[place :: len(self.ranges)] = self.column(place, place + 1, [bytes([octet]) for octet in octets])[0]
        return bytes(result)

    def column(self, start: int, end: int, texts: list[bytes]) -> list[bytes]:
        """Columns, for all strings, of a value that depends only on the octets from ``start`` to before ``end``.

        Args:
            start: the first place that the value depends on.
            end: the place after the last one.
            texts: the value for each choice of octets at these places, in order; all of one length.

        Returns:
            for each octet of the texts, its column, which has an octet for each string.
        """
        before, after = prod(map(len, self.ranges[:start])), prod(map(len, self.ranges[end:]))
        return [b"".join(bytes([octet]) * after for octet in column) * before for column in zip(*texts, strict=True)]

    def scalars(self, found: Segment) -> list[int]:
        """The scalar values at a segment of the example, for each choice of its octets, in order."""
        assert isinstance(found, WellFormed)
        return _numbers(self.ranges[found.offset : found.offset + found.length])

    def parts(self, most: int = PART) -> Iterator[ByteRangeSequence]:
        """The same strings in the same order, in sequences of at most ``most`` strings, if the ranges allow it."""
        place = next((place for place, octets in enumerate(self.ranges) if len(octets) > 1), None)
        if len(self) <= most or place is None:
            yield self
            return
        for octet in self.ranges[place]:
            fixed = ByteRangeSequence(
                self.category, (*self.ranges[:place], range(octet, octet + 1), *self.ranges[place + 1 :])
            )
            yield from fixed.parts(most)

    def vectors(self) -> Iterator[Vector]:
        """The strings one by one."""
        return (Vector(self.category, bytes(choice)) for choice in product(*self.ranges))


@lru_cache(maxsize=256)
def _numbers(ranges: tuple[range, ...]) -> list[int]:
    number = dialect().layout.number
    return [number(bytes(choice)) for choice in product(*ranges)]


@cache
def kinds_of_octets() -> tuple[range, ...]:
    """Runs of octets that the automaton and the defects treat alike, in order."""
    table, widest = dialect().automaton.table, load_layout("rfc2279")

    def kind(octet: int) -> object:
        row = widest.announced(octet)
        return tuple(states[octet] for states in table), row and len(row.templates)

    runs = [list(run) for _, run in groupby(OCTETS, key=kind)]
    return tuple(range(run[0], run[-1] + 1) for run in runs)


def all_strings(category: str, length: int) -> Iterator[ByteRangeSequence]:
    """Every string of ``length`` octets, in byte-range sequences."""
    for ranges in product(kinds_of_octets(), repeat=length):
        yield from ByteRangeSequence(category, ranges).parts()
