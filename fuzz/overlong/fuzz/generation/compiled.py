# pyright: basic
"""Inputs by number, written by the core in C: ``generator.h`` there is :mod:`.choice`, for addresses."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from overlong.fuzz.generation.choice import REACH
from overlong.reference.core import core

if TYPE_CHECKING:
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
