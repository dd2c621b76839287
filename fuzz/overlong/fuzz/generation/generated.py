# pyright: basic
"""The inputs of the grammar engine: a function of their number, a seed, and given octet strings."""

from __future__ import annotations

import hashlib
from array import array
from functools import cached_property

from overlong.fuzz.generation.choice import LONGEST, REACH, below, first_state, following, write
from overlong.fuzz.generation.tables import Tables
from overlong.reference.core import core, why_not
from overlong.reference.dialect import Dialect, dialect

SIZE = 1 << 62
"""The number of inputs."""
ENOUGH = 2048
"""The least inputs for which asking the core pays."""
_TAKEN = 1 << 16
"""The most inputs to write at a time into columns."""

_CHUNKS, _EARLIER = 0x6368756E6B73, 0x6561726C696572
"""Other numbers drive the choices of an input's chunks, and of the stream before it."""


class Generated:
    """Inputs by number, from 0 up to :attr:`size`; any process can make any range of them, in any order.

    The first are the tokens of the grammar, each alone (with every transition of the automaton), then the seeds; all
    others are random combinations. Pickling sends the arguments and builds the object again. Threads must not share
    an object.

    Args:
        seed: any number; another number gives other inputs.
        seeds: octet strings to take parts from, in order. Long strings are cut, empty strings are left out.
        spoken: the dialect whose grammar it is; RFC 3629's if there is none.
    """

    size = SIZE
    longest = LONGEST
    """The longest input, in octets."""

    def __init__(self, seed: int, seeds: tuple[bytes, ...] = (), spoken: Dialect | None = None) -> None:
        self.seed = seed
        self.seeds = seeds
        self.spoken = spoken or dialect()
        self._out, self._spare = bytearray(REACH), bytearray(3 * REACH)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.seed, self.seeds, self.spoken.name)

    @cached_property
    def tables(self) -> Tables:
        """The tables of the choices."""
        key = int.from_bytes(hashlib.sha256(str(self.seed).encode()).digest()[:8], "little") >> 1
        return Tables.of(key, self.seeds, self.spoken)

    @cached_property
    def writer(self) -> Writer:
        """The same, for the core in C (needs NumPy)."""
        return Writer(self.tables)

    def string(self, index: int) -> bytes:
        """Input number ``index``.

        Raises:
            IndexError: there is no such input.
        """
        if not 0 <= index < SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there is no input {index}")
        tables = self.tables
        length = write(index, tables.cells, tables.pool, self._out, self._spare)
        return bytes(self._out[:length])

    def chunks(self, index: int) -> tuple[int, ...]:
        """The chunks of that input as a stream: the octets of each, sometimes 0."""
        length = len(self.string(index))
        state = first_state(index ^ _CHUNKS, self.tables.cells)
        way, state = below(state, 8), following(state)
        if way <= 1:
            return (1,) * length
        if way <= 3:  # in two, half of the time after one of the last three octets
            cut = below(state, length + 1) if way == 2 else max(length - 1 - below(state, 3), 0)
            return cut, length - cut
        if way == 4:
            block = 1 << 1 + below(state, 7)
            return tuple(min(block, length - at) for at in range(0, length, block))
        chunks = list[int]()
        while length:
            state = following(state)
            chunks.append(below(state, min(length, (0, 2, 4, 9)[way - 4]) + 1))
            length -= chunks[-1]
        return tuple(chunks)

    def earlier(self, index: int) -> tuple[bytes, ...]:
        """The chunks of the stream before it; none for every other input."""
        state = first_state(index ^ _EARLIER, self.tables.cells)
        if below(state, 2):
            return ()
        octets = self.string(index ^ 1 + below(following(state), 63))
        cut = below(following(following(state)), len(octets) + 1)
        return (octets[:cut], octets[cut:]) if 0 < cut < len(octets) else (octets,)

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """A number of inputs from ``first`` on: the length of each in octets, and all octets in a row.

        Raises:
            IndexError: there are fewer.
        """
        if not 0 <= first <= first + count <= SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there are no {count} from {first} on")
        if count >= ENOUGH and not why_not():
            return self.writer.columns(first, count)
        strings = [self.string(index) for index in range(first, first + count)]
        return array("I", map(len, strings)), b"".join(strings)


class Writer:
    """Tables in memory for the core in C, whose ``generator.h`` is :mod:`.choice`. Each thread needs its own."""

    def __init__(self, tables: Tables) -> None:
        import numpy as np

        self._pool = np.frombuffer(tables.pool, np.uint8)
        self._spare = np.empty(3 * REACH, np.uint8)
        self._cells = np.array((self._pool.ctypes.data, self._spare.ctypes.data, *tables.cells), np.int64)
        self.address = int(self._cells.ctypes.data)
        """That of a ``generator``."""

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """A number of inputs from ``first`` on: the length of each in octets, and all octets in a row."""
        import numpy as np

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


def _again(seed: int, seeds: tuple[bytes, ...], spoken: str) -> Generated:
    return Generated(seed, seeds, dialect(spoken))
