"""The inputs of the grammar engine: a function of their number, a seed, and the octet strings that parts come from."""

from __future__ import annotations

import hashlib
from array import array
from functools import cached_property
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.compiled import available
from overlong.fuzz.generation.choice import LONGEST, REACH, below, first_state, following, write
from overlong.fuzz.generation.tables import Tables
from overlong.reference.dialect import Dialect, dialect

if TYPE_CHECKING:
    from overlong.fuzz.generation.compiled import Writer

SIZE = 1 << 62
"""Inputs that there are."""
ENOUGH = 2048
"""Inputs from which on it pays to load the compiler."""

_CHUNKS, _EARLIER = 0x6368756E6B73, 0x6561726C696572
"""Beside an input's own choices there are those of its chunks, and of what comes before it: other numbers for them."""


class Generated:
    """Inputs by number, from 0 up to :attr:`size`; any range of them can be made anywhere, in any order.

    The first ones are the tokens of the grammar, each alone (every transition of the automaton among them), then the
    seeds; all others are put together by chance. It can be pickled, and is then made anew where it arrives. Objects are
    not to be shared by threads.

    Args:
        seed: any number; another one gives other inputs.
        seeds: octet strings from which parts are taken, in order. Long ones are cut, empty ones left out.
        spoken: the dialect whose grammar it is; RFC 3629's if there is none.
    """

    size = SIZE
    longest = LONGEST
    """Octets that no input has more of."""

    def __init__(self, seed: int, seeds: tuple[bytes, ...] = (), spoken: Dialect | None = None) -> None:
        self.seed = seed
        self.seeds = seeds
        self.spoken = spoken or dialect()
        self._out, self._spare = bytearray(REACH), bytearray(3 * REACH)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.seed, self.seeds, self.spoken.name)

    @cached_property
    def tables(self) -> Tables:
        """What the choices are made from."""
        key = int.from_bytes(hashlib.sha256(str(self.seed).encode()).digest()[:8], "little") >> 1
        return Tables.of(key, self.seeds, self.spoken)

    @cached_property
    def writer(self) -> Writer:
        """The same, compiled, for loops (needs Numba)."""
        from overlong.fuzz.generation.compiled import Writer

        return Writer(self.tables)

    def string(self, index: int) -> bytes:
        """Input number ``index``.

        Raises:
            IndexError: there is none of that number.
        """
        if not 0 <= index < SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there is no input {index}")
        tables = self.tables
        length = write(index, tables.cells, tables.pool, self._out, self._spare)
        return bytes(self._out[:length])

    def chunks(self, index: int) -> tuple[int, ...]:
        """How that input is cut as a stream: the octets of each chunk, sometimes 0."""
        length = len(self.string(index))
        state = first_state(index ^ _CHUNKS, self.tables.cells)
        way, state = below(state, 8), following(state)
        if way <= 1:
            return (1,) * length
        if way <= 3:  # in two, as often behind one of the last three octets
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
        """The chunks of the stream that is asked before it; none for every other input."""
        state = first_state(index ^ _EARLIER, self.tables.cells)
        if below(state, 2):
            return ()
        octets = self.string(index ^ 1 + below(following(state), 63))
        cut = below(following(following(state)), len(octets) + 1)
        return (octets[:cut], octets[cut:]) if 0 < cut < len(octets) else (octets,)

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """The inputs from ``first`` on, so many: octets of each, and all octets in a row.

        Raises:
            IndexError: there are not so many.
        """
        if not 0 <= first <= first + count <= SIZE:
            raise IndexError(f"inputs have numbers from 0 to {SIZE - 1}, so there are no {count} from {first} on")
        if count >= ENOUGH and available():
            return self.writer.columns(first, count)
        strings = [self.string(index) for index in range(first, first + count)]
        return array("I", map(len, strings)), b"".join(strings)


def _again(seed: int, seeds: tuple[bytes, ...], spoken: str) -> Generated:
    return Generated(seed, seeds, dialect(spoken))
