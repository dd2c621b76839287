# pyright: basic
"""Strings of a grid as columns: the length of each, and all octets in a row.

A grid is cut into blocks of strings that share their leading pieces. The parts after those, the block's *tails*, are
the same in every block. So a block's octets are its leading pieces before each tail: ``bytes.join`` lays them out at
the speed of memory, or NumPy if all tails are equally long.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from overlong.conformance.sweep.grid import Grid

TAILS = 1 << 16
"""The most strings in a block, unless the last axis alone has more."""
OCTETS = 1 << 24
"""The most octets of a block's tails, likewise: they stay in memory."""
STRETCH = 1 << 21
"""The most octets of tails that are read together, unless one tail alone has more."""


@dataclass(frozen=True)
class ColumnPart:
    """Some strings of a block: those with the tails from ``start`` up to before ``end``, all of one stretch."""

    block: int
    stretch: int
    start: int
    end: int


class Columns:
    """The strings of one grid, and their blocks."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        axes = grid.axes
        first = len(axes) - 1
        while first > grid.earlier and _fits([each.choices for each in axes[first - 1 :]]):
            first -= 1
        self._leading, self._trailing = axes[:first], axes[first:]
        self._tile = np.empty((0, 0), np.uint8)  # the last block: the next one differs in a few columns
        self._lengths: tuple[int, int, NDArray[np.uint32]] | None = None  # those of a block and its common beginning

    @cached_property
    def tails(self) -> list[bytes]:
        """The endings of the strings of any block, in order."""
        return list(map(b"".join, product(*(axis.choices for axis in self._trailing))))

    @cached_property
    def block(self) -> int:
        """The number of strings in a block."""
        return len(self.tails)

    @cached_property
    def tail_lengths(self) -> NDArray[np.uint32]:
        """The number of octets of each tail."""
        return np.fromiter(map(len, self.tails), np.uint32, len(self.tails))

    @cached_property
    def stretches(self) -> list[int]:
        """The first tail of each stretch, and the end: stretches keep memory flat, however long tails are."""
        ends = np.cumsum(self.tail_lengths, dtype=np.int64)
        bounds = [0]
        while bounds[-1] < self.block:
            start = bounds[-1]
            before = int(ends[start - 1]) if start else 0
            furthest = int(np.searchsorted(ends, before + STRETCH, "right"))
            bounds.append(min(max(furthest, start + 1), self.block))
        return bounds

    @cached_property
    def _matrix(self) -> NDArray[np.uint8] | None:
        """The tails, one a row, if they are equally long and not empty."""
        width = int(self.tail_lengths[0])
        if (self.tail_lengths != width).any():
            return None
        return np.frombuffer(b"".join(self.tails), np.uint8).reshape(len(self.tails), width)

    def parts(self, first: int, count: int) -> Iterator[ColumnPart]:
        """The ``count`` strings from ``first`` on, block by block and stretch by stretch."""
        while count:
            block, start = divmod(first, self.block)
            stretch = bisect_right(self.stretches, start) - 1
            some = min(count, self.stretches[stretch + 1] - start)
            yield ColumnPart(block, stretch, start, start + some)
            first, count = first + some, count - some

    def leading(self, block: int) -> tuple[bytes, bytes]:
        """The earlier input of each string of a block, and their common beginning."""
        pieces: list[bytes] = []
        for axis in reversed(self._leading):
            block, choice = divmod(block, len(axis))
            pieces.append(axis.choices[choice])
        pieces.reverse()
        return b"".join(pieces[: self.grid.earlier]), b"".join(pieces[self.grid.earlier :])

    def items(self, first: int, count: int) -> tuple[array[int], bytes]:
        """The items for ``count`` strings from ``first`` on: the size of each, and all octets in a row.

        In a grid with earlier strings, every other item is an earlier string.
        """
        lengths, octets = list[bytes](), list[bytes]()
        for part in self.parts(first, count):
            some_lengths, some_octets = self._part(part)
            lengths.append(some_lengths)
            octets.append(some_octets)
        column = array("I")
        column.frombytes(b"".join(lengths))
        return column, octets[0] if len(octets) == 1 else b"".join(octets)

    def _part(self, part: ColumnPart) -> tuple[bytes, bytes]:
        earlier, lead = self.leading(part.block)
        before, some = earlier + lead, slice(part.start, part.end)
        lengths = self._lengths_behind(len(earlier), len(lead))[some].tobytes()
        if self._matrix is None:
            return lengths, before + before.join(self.tails[some])
        if self._tile.shape[1] != len(before) + self._matrix.shape[1] or not len(self._tile):
            self._tile = np.empty((self.block, len(before) + self._matrix.shape[1]), np.uint8)
            self._tile[:, len(before) :] = self._matrix
        self._tile[some, : len(before)] = np.frombuffer(before, np.uint8)
        return lengths, self._tile[some].tobytes()

    def _lengths_behind(self, earlier: int, lead: int) -> NDArray[np.uint32]:
        """The size of the item for each string of a block."""
        if self._lengths is None or self._lengths[:2] != (earlier, lead):
            lengths = self.tail_lengths + np.uint32(lead)
            if self.grid.earlier:
                lengths = np.stack((np.full_like(lengths, earlier), lengths), axis=1)
            self._lengths = earlier, lead, lengths
        return self._lengths[2]


def _fits(axes: Sequence[Sequence[bytes]]) -> bool:
    """True if the strings of some axes fit into a block."""
    strings, octets = 1, 0
    for choices in axes:
        strings, octets = strings * len(choices), octets * len(choices) + strings * sum(map(len, choices))
    return strings <= TAILS and octets <= OCTETS
