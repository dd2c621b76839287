# pyright: basic
"""What an automaton makes of many strings: with Numba where that is there and worth its start, else with NumPy."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from overlong.reference.automaton import Automaton

PATIENCE = 0.5
"""Seconds of NumPy's after which Numba, which takes about as long to start, reads the rest."""
_FEW, _LONG = 200, 1 << 10
"""Strings of which a column costs more by NumPy than by Python, if they have that many octets more to read."""
_COLUMN, _OCTET, _BY_PYTHON = 3e-5, 2e-8, 1e-7
"""Seconds, about: that NumPy takes for a column of octets, however few strings reach it, and for each octet; and that
Python takes for an octet."""


class Read(NamedTuple):
    """What came of strings: a value for each."""

    accepted: NDArray[np.bool_]
    last: NDArray[np.uint32]
    """Octets read when it was last accepted; 0 if it never was."""
    live: NDArray[np.uint32]
    """Octets read until nothing could be accepted any more."""
    state: NDArray[np.uint8]
    """At its end."""


class Reader:
    """An automaton, ready to read columns."""

    def __init__(self, automaton: Automaton, *, compiled: bool | None = None) -> None:
        """``compiled``: by Numba or not; None for what is faster."""
        self.automaton = automaton
        self._compiled = compiled
        self._table = np.array(automaton.table, np.uint8)
        self._accepting = np.array(automaton.accepting, np.bool_)
        self._dead = len(automaton) if automaton.dead is None else automaton.dead  # a state that is never reached
        self._spent = 0.0

    def read(self, octets: bytes, lengths: NDArray[np.uint32], state: int = 0, pending: int = 0) -> Read:
        """What comes of strings that stand in a row.

        Args:
            octets: of all of them.
            lengths: octets of each.
            state: that the automaton begins in.
            pending: octets that were read since it was last in an accepting state; they count as the string's.
        """
        flat = np.frombuffer(octets, np.uint8) if octets else np.empty(0, np.uint8)
        ends = np.cumsum(lengths, dtype=np.int64)
        longest = int(lengths.max(initial=0))
        if (kernel := self._kernel(_COLUMN * longest + _OCTET * len(octets))) is not None:
            size = len(lengths)
            result = np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint8)
            kernel(flat, ends, self._table, self._accepting, self._dead, state, pending, *result)
        else:
            result = self._by_columns(flat, ends - lengths, lengths, state, pending)
        last, live, states = result
        return Read(self._accepting[states], last, live, states)

    def read_one(self, octets: bytes) -> tuple[int, int, int]:
        """Of one string :attr:`Read.last`, :attr:`Read.live` and :attr:`Read.state`."""
        if len(octets) > _FEW and self._kernel(_BY_PYTHON * len(octets)) is not None:
            read = self.read(octets, np.array([len(octets)], np.uint32))
            return int(read.last[0]), int(read.live[0]), int(read.state[0])
        return self._go_on(octets, 0, 0, 0)

    def _kernel(self, seconds: float) -> Callable[..., None] | None:
        """The compiled loop, if it is to be used for what takes so many seconds without it."""
        if self._compiled is None and not compiled.cache_info().currsize and self._spent + seconds < PATIENCE:
            self._spent += seconds
            return None
        return None if self._compiled is False else compiled()

    def _go_on(self, octets: bytes, read: int, last: int, state: int) -> tuple[int, int, int]:
        """The same of a string of which so many octets have been read, and it has not died: these are the rest."""
        for octet in octets:
            state = self.automaton.table[state][octet]
            if state == self._dead:
                break
            read += 1
            if self.automaton.accepting[state]:
                last = read
        return last, read, state

    def _by_columns(
        self, flat: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.uint32], state: int, pending: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """One octet of every string at a time, the longest strings first: those that go on stand in front."""
        size, longest = len(lengths), int(lengths.max(initial=0))
        order = None
        if size and int(lengths.min()) != longest:
            order = np.argsort(lengths, kind="stable")[::-1]
            starts, lengths = starts[order], lengths[order]
        states = np.full(size, state, np.uint8)
        last = np.zeros(size, np.uint32)
        live = np.full(size, pending, np.uint32)
        reach = size - np.searchsorted(lengths[::-1], np.arange(longest, dtype=np.uint32), "right")
        for place in range(longest):
            some = int(reach[place])
            states[:some] = now = self._table[states[:some], flat[starts[:some] + place]]
            last[:some][self._accepting[now]] = pending + place + 1
            alive = now != self._dead
            live[:some] += alive
            if not alive.any():
                break
            if some < _FEW and longest - place > _LONG:
                for string in np.flatnonzero(alive).tolist():
                    rest = flat[starts[string] + place + 1 : starts[string] + int(lengths[string])].tobytes()
                    last[string], live[string], states[string] = self._go_on(
                        rest, pending + place + 1, int(last[string]), int(states[string])
                    )
                break
        if order is None:
            return last, live, states
        back = np.empty_like(order)
        back[order] = np.arange(size)
        return last[back], live[back], states[back]


@cache
def compiled() -> Callable[..., None] | None:
    """The loop over strings in machine code; None if Numba is not there."""
    try:
        from numba import njit
    except ImportError:
        return None
    kernel: Callable[..., None] = njit(cache=True, nogil=True)(_read)
    return kernel


def _read(
    octets: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: NDArray[np.uint8],
    accepting: NDArray[np.bool_],
    dead: int,
    state: int,
    pending: int,
    last: NDArray[np.uint32],
    live: NDArray[np.uint32],
    states: NDArray[np.uint8],
) -> None:
    """Fill the last three: see :class:`Read`."""
    place = 0
    for string in range(len(ends)):
        start, now, accepted, alive = place, state, 0, pending
        while place < ends[string]:
            now = table[now, octets[place]]
            place += 1
            if now == dead:
                break
            alive = pending + place - start
            if accepting[now]:
                accepted = alive
        place = ends[string]
        last[string], live[string], states[string] = accepted, alive, now
