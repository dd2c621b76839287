# pyright: basic
"""The oracle at machine speed: the verdict, the first error and the scalar values, by the core in C.

The pure-Python reference remains the definition; a test compares both.

Raises:
    ImportError: there is no core; the message says what to install.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from overlong.reference.core import NoCore, core
from overlong.reference.decoder import segment
from overlong.reference.dialect import Dialect, ScalarRule, dialect
from overlong.reference.error_mode import IllFormed, MaximalSubpart
from overlong.reference.tables import Gathering, Nibbles, ShiftAutomaton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from overlong.reference.automaton import Automaton

    Octets = bytes | bytearray | memoryview | NDArray[np.uint8]

try:
    _CORE = core()
except NoCore as error:
    raise ImportError(f"the oracle at machine speed needs the core in C: {error}") from error


class Oracle:
    """The reference of one dialect.

    Octets are ``bytes``, ``bytearray``, ``memoryview`` or a NumPy array of ``uint8``; contiguous octets are not
    copied. Threads may share an oracle: the loops hold no lock and keep no state.
    """

    def __init__(self, spoken: Dialect) -> None:
        """Raises:
        ValueError: the dialect's automaton has too many states, or accepts in another than its start, or its numbers
            are not the bits of its octets alone.
        """
        if spoken.rule != ScalarRule() or any(row.less for row in spoken.layout.rows):
            raise ValueError(
                f"{spoken.name}: its scalar values are more than bits of octets; use overlong.reference.decode"
            )
        try:
            self._walk = ShiftAutomaton(spoken.automaton)
        except ValueError as error:
            raise ValueError(f"{spoken.name}: {error}; use overlong.reference.decode") from None
        _, accepting, _, plain = self._walk.words
        if accepting != 1:
            raise ValueError(
                f"{spoken.name}: it accepts in another state than its start; use overlong.reference.decode"
            )
        self._spoken = spoken
        self._begins = np.array([to != spoken.automaton.dead for to in spoken.automaton.table[0]])
        nibbles = _nibbles(spoken.automaton) if plain else None
        words = np.array([*self._walk.words, self._begins.ctypes.data, nibbles is not None], np.int64)
        self._shifts = np.concatenate([words, np.frombuffer(b"".join(nibbles or ()), np.int64)])
        gathering = _gathering(spoken, nibbles)
        try:
            layout = [*spoken.layout.bits_by_octet(self._begins.tolist()), *gathering[:2]]
        except ValueError as error:
            raise ValueError(f"{spoken.name}: {error}; use overlong.reference.decode") from None
        self._layout = np.concatenate([np.array(layout, np.uint64), np.frombuffer(b"".join(gathering[2:]), np.uint64)])

    @property
    def dialect(self) -> Dialect:
        """The dialect that it decides."""
        return self._spoken

    def is_well_formed(self, octets: Octets) -> bool:
        """True if ``octets`` match the grammar's start rule."""
        return self._found(_array(octets))[0] < 0

    def first_error(self, octets: Octets) -> tuple[int, int, bool] | None:
        """The first error: offset and length of the maximal subpart in octets, and whether the input ended inside a
        character that could still be completed; None if ``octets`` are well-formed.
        """
        found = self._found(_array(octets))
        return None if found[0] < 0 else found

    def decode_scalars(self, octets: Octets) -> NDArray[np.uint32]:
        """The numbers that ``octets`` encode.

        Raises:
            IllFormed: they are ill-formed.
        """
        array = _array(octets)
        offset, length, incomplete = self._found(array)
        if offset >= 0:
            # The reference names the defect; a maximal subpart has fewer octets than the automaton has states.
            beginning = array[offset : offset + len(self._spoken.automaton) + 1].tobytes()
            flaw = segment(beginning, 0, self._spoken)
            assert isinstance(flaw, MaximalSubpart), "the reference refuses what the oracle refuses"
            raise IllFormed(offset, length, incomplete, flaw.defect)
        numbers, count = np.empty(len(array) + 1, np.uint32), np.empty(1, np.int64)
        to = numbers.ctypes.data, count.ctypes.data
        _CORE("find_numbers", self._layout.ctypes.data, array.ctypes.data, len(array), *to)
        return numbers[1 : int(count[0]) + 1]  # memory far beyond that was never touched

    def _found(self, array: NDArray[np.uint8]) -> tuple[int, int, bool]:
        found = np.empty(3, np.int64)
        _CORE("find_first_error", self._shifts.ctypes.data, array.ctypes.data, len(array), found.ctypes.data)
        offset, length, incomplete = found.tolist()
        return offset, length, bool(incomplete)


@cache
def oracle(dialect_name: str = "rfc3629") -> Oracle:
    """The oracle of the dialect of that name.

    Raises:
        ValueError: there is no such dialect, or it cannot be compiled; the message says why.
    """
    return Oracle(dialect(dialect_name))


def _array(octets: Octets) -> NDArray[np.uint8]:
    if isinstance(octets, np.ndarray):
        if octets.dtype != np.uint8 or octets.ndim != 1:
            raise TypeError(f"octets are a row of uint8, not {octets.ndim} dimensions of {octets.dtype}")
        return np.ascontiguousarray(octets)
    view = memoryview(octets)
    return np.frombuffer(view if view.contiguous else view.tobytes(), np.uint8)


def _nibbles(automaton: Automaton) -> Nibbles | None:
    """The tables by which the core reads many octets at once; None: it reads octet by octet."""
    with suppress(ValueError):
        return Nibbles.of(automaton)
    return None


def _gathering(spoken: Dialect, nibbles: Nibbles | None) -> Gathering:
    if nibbles is not None:
        with suppress(ValueError):
            return Gathering.of(spoken, nibbles)
    return Gathering(0, 0, b"", b"")  # the core reads octet by octet
