"""Strings as a grid: lists of pieces, one list to an axis, and every choice of one piece from each is a string.

That is what makes a sweep cheap: the strings are numbered, any range of numbers can be made anywhere without the
others, prefixes that strings share are read once, and how many of them are well-formed is known without making any
(see ``accounting.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

CONTINUATION = 0x80
"""The octet around a string in memory, unless a grid names another: it would complete a truncated character."""


@dataclass(frozen=True)
class Axis:
    """One place of a grid's strings."""

    name: str
    """The meaning of the choice, in a word or two: ``offset``, ``second octet``."""
    choices: tuple[bytes, ...]
    labels: tuple[tuple[int | str, ...], ...] = ()
    """For each choice, what tells it apart to a reader, as values of :attr:`reads`; empty: its octets."""
    reads: tuple[str, ...] = ()
    """The meaning of a label's values: ``filler``, ``offset``."""

    def __len__(self) -> int:
        return len(self.choices)


@dataclass(frozen=True)
class Grid:
    """Every choice of one piece from each axis, in order: the last axis varies fastest."""

    axes: tuple[Axis, ...]
    earlier: int = 0
    """So many leading axes are a string of their own, which is asked right before the other; only that is judged."""
    around: int = CONTINUATION
    """The octet before and after the string in memory, if a target is called in its own process."""

    @cached_property
    def size(self) -> int:
        """How many strings, counting those that are equal as often as they occur."""
        return prod(map(len, self.axes))

    @cached_property
    def longest(self) -> int:
        """Octets of the longest string."""
        return sum(max(map(len, axis.choices)) for axis in self.axes)

    @cached_property
    def octets(self) -> int:
        """How many there are in all of its strings."""
        return sum(self.size // len(axis) * sum(map(len, axis.choices)) for axis in self.axes)

    def place(self, index: int) -> tuple[int, ...]:
        """Which choice of each axis makes the string of that number."""
        place: list[int] = []
        for axis in reversed(self.axes):
            index, choice = divmod(index, len(axis))
            place.append(choice)
        return tuple(reversed(place))

    def pieces(self, index: int) -> tuple[bytes, ...]:
        """The pieces of the string of that number."""
        return tuple(axis.choices[choice] for axis, choice in zip(self.axes, self.place(index), strict=True))

    def string(self, index: int) -> bytes:
        """The string of that number, the one that is judged."""
        return b"".join(self.pieces(index)[self.earlier :])

    def asked_before(self, index: int) -> bytes | None:
        """The string that is asked right before it; None if none is."""
        return b"".join(self.pieces(index)[: self.earlier]) if self.earlier else None
