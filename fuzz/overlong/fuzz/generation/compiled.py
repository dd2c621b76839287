# pyright: basic
"""Inputs by number, written by the core in C, and what they reach: ``generator.h`` there is :mod:`.choice`."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from overlong.fuzz.generation.choice import REACH
from overlong.fuzz.generation.reading import PLACES, place_of
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.generation.reading import FeatureReading
    from overlong.fuzz.generation.tables import Tables

_TAKEN = 1 << 16
"""The most inputs to write at a time into columns."""


class Writer:
    """Tables in memory for the core. Each thread needs its own."""

    def __init__(self, tables: Tables) -> None:
        self._pool = np.frombuffer(tables.pool, np.uint8)
        self._spare = np.empty(3 * REACH, np.uint8)
        self._cells = np.array((self._pool.ctypes.data, self._spare.ctypes.data, *tables.cells), np.int64)
        self.address = int(self._cells.ctypes.data)
        """That of a ``generator``."""

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """A number of inputs from ``first`` on: the length of each in octets, and all octets in a row."""
        lengths, octets, done = np.empty(count, np.uint32), list[bytes](), 0
        room = np.empty(REACH + 32 * min(count, _TAKEN), np.uint8)
        cells = np.empty(2, np.int64)
        while done < count:
            into = room.ctypes.data, len(room), lengths[done:].ctypes.data, cells.ctypes.data
            core()("write_inputs", self.address, first + done, min(count - done, _TAKEN), *into)
            made, size = cells.tolist()
            octets.append(room[:size].tobytes())
            done += made
        column = array("I")
        column.frombytes(lengths.tobytes())
        return column, octets[0] if len(octets) == 1 else b"".join(octets)


_NONE = 1 << 62
_NEAR, _AGAIN = 64, 16
"""From the first offset on, an offset has the place of the one some octets before."""


def first_to_reach(lengths: Sequence[int], octets: bytes, reading: FeatureReading) -> dict[int, int]:
    """:func:`overlong.fuzz.generation.features.first_to_reach`."""
    starts, nexts = np.array(reading.starts, np.int64), np.array(reading.nexts, np.int64)
    columns = np.array(lengths, np.int64), np.frombuffer(octets, np.uint8)
    shortest = np.full(len(starts) // 256 * reading.width * len(PLACES), _NONE, np.int64)
    found = np.full_like(shortest, -1)
    places = np.array([place_of(offset) for offset in range(_NEAR + _AGAIN)], np.int64)
    addresses = (each.ctypes.data for each in (starts, nexts, places))
    of = np.array((*addresses, reading.width, len(PLACES), shortest.ctypes.data, found.ctypes.data), np.int64)
    core()("reach_features", of.ctypes.data, len(lengths), *(each.ctypes.data for each in columns))
    return {int(feature): int(found[feature]) for feature in np.flatnonzero(found >= 0)}
