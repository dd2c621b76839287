"""Strings as a grid: each axis is a list of pieces, and every choice of one piece from each axis is a string.

Grids make a sweep cheap: strings have numbers, any range of them can be made anywhere without the others, common
prefixes are read once, and the number of well-formed strings is known without making any: a piece leads from each state
of the automaton to one state, so an axis is a matrix that counts, for two states, the choices that lead from one to the
other, and a grid is the product of its axes' matrices. A sweep's counts must equal this result; otherwise the sweep did
not run as planned. A scheme makes grids for any number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.results.sweeps import NOTHING, Account

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

CONTINUATION = 0x80
"""The octet around a string in memory, unless a grid names another: it would complete a truncated character."""
LETTER = b"a"
"""What giant text consists of."""


@dataclass(frozen=True)
class Grid:
    """Every choice of one piece from each axis, in order: the last axis varies fastest."""

    axes: tuple[tuple[bytes, ...], ...]
    """The pieces of each, the first axis first."""
    earlier: int = 0
    """The number of leading axes that form an earlier string, asked right before the judged one."""
    around: int = CONTINUATION
    """The octet around the string in memory, if a target is called in its own process."""
    placed: bool = False
    """True if the choice of the first axis, whose pieces are empty, is the address modulo 64 of a string for such a
    target."""
    between: int = 0
    """The letters behind the first axis' piece, which are never made (``giants.py``). The piece ends with a character
    or behind an error, and the next piece begins with a letter, so these letters change no verdict, and move an error
    behind them by their number."""

    @cached_property
    def size(self) -> int:
        """The number of strings; equal ones count as often as they occur."""
        return prod(map(len, self.axes))

    @cached_property
    def longest(self) -> int:
        """Octets of the longest string."""
        return self.between + sum(max(map(len, axis)) for axis in self.axes)

    @cached_property
    def octets(self) -> int:
        """The total octets of its strings."""
        each = sum(self.size // len(axis) * sum(map(len, axis)) for axis in self.axes)
        return self.size * self.between + each

    def place(self, index: int) -> tuple[int, ...]:
        """The choice of each axis that makes the string of that number."""
        place: list[int] = []
        for axis in reversed(self.axes):
            index, choice = divmod(index, len(axis))
            place.append(choice)
        return tuple(reversed(place))

    def pieces(self, index: int) -> tuple[bytes, ...]:
        """The pieces of the string of that number."""
        return tuple(axis[choice] for axis, choice in zip(self.axes, self.place(index), strict=True))

    def string(self, index: int) -> bytes:
        """The judged string of that number, without the letters between."""
        return b"".join(self.pieces(index)[self.earlier :])

    def asked_before(self, index: int) -> bytes | None:
        """The string asked right before it; None if there is none."""
        return b"".join(self.pieces(index)[: self.earlier]) if self.earlier else None


@dataclass(frozen=True)
class Scheme:
    """What plans have in common that differ by a profile and a number."""

    name: str
    shows: str
    """Its purpose in a sentence. ``{}`` becomes the number, ``{states}`` the automaton's states plus the number,
    ``{speaks}`` the dialect, ``{within}`` the states at most that many octets from the automaton's own."""
    grids: Callable[[Profile, int], Iterator[Grid]]
    least: int | None = None
    """The smallest number; None if it takes none."""
    usual: int = 0
    most: int = 0

    @property
    def form(self) -> str:
        """The written form of its name."""
        return self.name if self.least is None else f"{self.name}-{self.usual}"

    def form_with(self, number: str | None) -> str:
        """The written form with that number, if the plan takes it."""
        takes = number is not None and self.least is not None and self.least <= int(number) <= self.most
        return f"{self.name}-{number}" if takes else self.form


_PART = 240  # octets: a multiple of the length of every filler


def account(grid: Grid, automaton: Automaton) -> Account:
    """The sums over the strings of a grid, by counting alone."""
    judged = grid.axes[grid.earlier :]
    read, reached = _reading(automaton), [0] * len(automaton)
    reached[0] = grid.size
    for axis in judged:
        after = [0] * len(automaton)
        for state, ways in enumerate(reached):
            if state == automaton.dead:
                after[state] += ways
            elif ways:
                each = ways // len(axis)
                for choice in axis:
                    after[read(choice, state)] += each
        reached = after
    octets = grid.size * grid.between + sum(grid.size // len(axis) * sum(map(len, axis)) for axis in judged)
    well_formed = sum(ways for state, ways in enumerate(reached) if automaton.accepting[state])
    return Account(grid.size, octets, well_formed)


def reading(table: Sequence[Sequence[int]]) -> Callable[[bytes, int], int]:
    """A function that gives the state after a piece that is read from a state.

    Pieces are alike, and long ones consist of fillers: each of their few different parts is read once.
    """

    @cache
    def over_part(part: bytes, state: int) -> int:
        for octet in part:
            state = table[state][octet]
        return state

    @cache
    def over(piece: bytes, state: int) -> int:
        for start in range(0, len(piece), _PART):
            state = over_part(piece[start : start + _PART], state)
        return state

    return over


@cache
def _reading(automaton: Automaton) -> Callable[[bytes, int], int]:
    """The plans of a sweep have many pieces in common."""
    return reading(automaton.table)


def total(accounts: Sequence[Account]) -> Account:
    """The sum of several accounts."""
    return Account(*map(sum, zip(*accounts, strict=True))) if accounts else NOTHING
