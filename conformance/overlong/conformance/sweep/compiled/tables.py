# pyright: basic
"""Expectations and grids as arrays of numbers, for compiled loops."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from overlong.conformance.sweep.compiled.cached import Compiled, edition
from overlong.conformance.sweep.compiled.memory import load8, load64, store64

if TYPE_CHECKING:
    from overlong.conformance.sweep.grid import Grid
    from overlong.reference.automaton import Automaton
    from overlong.reference.layout import Layout

Array = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
WORD = 8
"""Octets of a machine word."""


class CompiledReader(NamedTuple):
    """An automaton, and the bits of characters."""

    table: Octets
    """``[state, octet]``: the next state."""
    accepting: Octets
    """``[state]``: 1 or 0."""
    lead: Octets
    """``[octet]``: the bits of the number that it has as the first of a character."""
    layout: Array
    """The bits of a tail octet that are the number's; then of each row the highest number, the octets, the first
    octet without bits of the number, and the same of the others."""

    @classmethod
    def of(cls, automaton: Automaton, layout: Layout) -> CompiledReader:
        """Of an automaton of fewer than 256 states, and a layout whose numbers are bits and nothing more."""
        lead, rows = np.zeros(256, np.uint8), [0]
        for octet in range(256):
            row = layout.announced(octet)
            lead[octet] = row.templates[0].bits(octet) if row else 0
        for row in layout.rows:
            head, *tails = row.templates
            rows += (row.numbers[-1], len(row.templates), head.fixed, tails[0].fixed if tails else 0)
            rows[0] = tails[0].free if tails else rows[0]
        return cls(
            np.array(automaton.table, np.uint8),
            np.array(automaton.accepting, np.uint8),
            lead,
            np.array(rows, np.int64),
        )


class PieceTable(NamedTuple):
    """The pieces of a grid's axes, one behind the other, and what the automaton makes of those of the last axis."""

    octets: Octets
    starts: Array
    """``[piece]``: where it begins in ``octets``; and one more: where the last one ends."""
    axes: Array
    """``[axis, 0]``: the number of its first piece; ``[axis, 1]``: how many it has."""
    alike: Array
    """``[choice of the last axis]``: the first one behind it that has another length."""
    padded: Array
    """``[choice of the last axis]``: its octets as a word, the first lowest, filled up with what stands behind."""
    read: Array
    """``[state, choice of the last axis]``: bit 0 is 1 if the state behind it accepts; the others are how many of its
    octets were read when a state last accepted, -1 if none did."""
    longest_last: int

    @classmethod
    def of(cls, grid: Grid, reader: CompiledReader, behind: int) -> PieceTable:
        """Of a grid with at least one axis whose pieces are judged; ``behind``: the octet behind a string."""
        pieces = [piece for axis in grid.axes for piece in axis.choices]
        starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=starts[1:])
        sizes = [len(axis) for axis in grid.axes]
        axes = np.array([(sum(sizes[:axis]), size) for axis, size in enumerate(sizes)], np.int64)
        octets = np.frombuffer(b"".join(pieces) + bytes(WORD), np.uint8).copy()
        last = grid.axes[-1].choices
        filler = bytes([behind]) * WORD
        padded = np.frombuffer(b"".join((piece[:WORD] + filler)[:WORD] for piece in last), "<u8").astype(np.int64)
        shape = (len(reader.table), len(last))
        read = np.empty(shape, np.int64)
        ends = starts[axes[-1, 0] :]
        arrays = (reader.table, reader.accepting, octets, ends, read)
        reading()(*(array.ctypes.data for array in arrays), *shape)
        return cls(octets, starts, axes, _alike(np.diff(ends)), padded, read, max(map(len, last)))


def _alike(lengths: Array) -> Array:
    """For each place where the equal ones from it on end."""
    edges = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(lengths))
    return edges[np.searchsorted(edges, np.arange(len(lengths)), side="right")].astype(np.int64)


def _reading(
    _edition: Any, table: int, accepting: int, octets: int, starts: int, read: int, states: int, choices: int
) -> None:
    """Read every choice of an axis from every state; addresses of arrays of a reader and of :class:`PieceTable`."""
    for start in range(states):
        for choice in range(choices):
            state, found = start, -1
            first, end = load64(starts + WORD * choice), load64(starts + WORD * choice + WORD)
            for place in range(first, end):
                state = load8(table + (state << 8 | load8(octets + place)))
                if load8(accepting + state):
                    found = place + 1 - first
            store64(read + WORD * (start * choices + choice), found << 1 | load8(accepting + state))


@cache
def reading() -> Compiled:
    """:func:`_reading`, compiled."""
    return Compiled(_reading, edition(), *[types.int64] * 7)
