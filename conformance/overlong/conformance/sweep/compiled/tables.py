# pyright: basic
"""Layouts and grids as arrays of numbers, for compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from overlong.conformance.sweep.compiled.task import WORD
from overlong.reference.core import core

if TYPE_CHECKING:
    from overlong.conformance.sweep.grid import Grid
    from overlong.reference.layout import Layout
    from overlong.reference.shift import ShiftAutomaton

Array = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]


class CharacterBits(NamedTuple):
    """The bits of a character's octets that belong to its number."""

    lead: Octets
    """``[octet]``: the bits of the number in the octet as the first of a character."""
    layout: Array
    """The number's bits in a tail octet; then for each row the highest number, the octets, the first octet without the
    number's bits, and the same for the other octets."""

    @classmethod
    def of(cls, layout: Layout) -> CharacterBits:
        """The bits of a layout whose numbers consist only of bits."""
        lead, rows = np.zeros(256, np.uint8), [0]
        for octet in range(256):
            row = layout.announced(octet)
            lead[octet] = row.templates[0].bits(octet) if row else 0
        for row in layout.rows:
            head, *tails = row.templates
            rows += (row.numbers[-1], len(row.templates), head.fixed, tails[0].fixed if tails else 0)
            rows[0] = tails[0].free if tails else rows[0]
        return cls(lead, np.array(rows, np.int64))


class PieceTable(NamedTuple):
    """The pieces of a grid's axes, one after the other, and the automaton's results for those of the last axis."""

    octets: Octets
    starts: Array
    """``[piece]``: its start in ``octets``; and one more entry: the end of the last piece."""
    axes: Array
    """``[axis, 0]``: the number of its first piece; ``[axis, 1]``: the number of its pieces."""
    alike: Array
    """``[choice of the last axis]``: the next choice of another length."""
    padded: Array
    """``[choice of the last axis]``: its octets as a word, the first lowest, filled up with the octets after it."""
    verdicts: Array
    """``[state, choice of the last axis]``: the verdict of the automaton, as in ``LoopTask.read``."""
    longest_last: int

    @classmethod
    def of(cls, grid: Grid, automaton: ShiftAutomaton, behind: int) -> PieceTable:
        """The table of a grid with at least one axis of judged pieces; ``behind``: the octet after a string."""
        pieces = [piece for axis in grid.axes for piece in axis]
        starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=starts[1:])
        sizes = [len(axis) for axis in grid.axes]
        axes = np.array([(sum(sizes[:axis]), size) for axis, size in enumerate(sizes)], np.int64)
        octets = np.frombuffer(b"".join(pieces) + bytes(WORD), np.uint8).copy()
        last = grid.axes[-1]
        filler = bytes([behind]) * WORD
        padded = np.frombuffer(b"".join((piece[:WORD] + filler)[:WORD] for piece in last), "<u8").astype(np.int64)
        verdicts = np.empty((len(automaton), len(last)), np.int64)
        ends = starts[axes[-1, 0] :]
        places = (array.ctypes.data for array in (octets, ends, verdicts))
        core()("read_choices", automaton.address, *places, *verdicts.shape)
        return cls(octets, starts, axes, _alike(np.diff(ends)), padded, verdicts, max(map(len, last)))


def _alike(lengths: Array) -> Array:
    """For each place, the end of its run of equal values."""
    edges = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(lengths))
    return edges[np.searchsorted(edges, np.arange(len(lengths)), side="right")].astype(np.int64)
