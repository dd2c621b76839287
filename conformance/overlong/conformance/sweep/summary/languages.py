# pyright: basic
"""Languages as diagrams: the strings of a grid that an automaton accepts, to compare with a target's answers.

This module makes an automaton for each claim of a description: the first error of a string, a pattern that it
contains, well-formed characters and patterns in any order. All of them derive from the expected automaton.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from overlong.conformance.examination.products import Product
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.summary.diagram import Level
    from overlong.reference.automaton import Automaton

    States = np.ndarray[Any, np.dtype[Any]]

_NOTHING = 256
"""Fills a row of a matrix of pieces after the piece's end."""
MOST_STATES = 1 << 11
_WIDEST = "lax-rfc2279"
"""The dialect that accepts the most sequences."""
_KEPT = 128
"""The most cached runs over grids."""
_SHORT = 16
_PART = 12
"""The octets of a part: a multiple of the length of every filler."""


@dataclass(frozen=True, eq=False)
class Language:
    """An automaton as arrays: ``table[state, octet]``, and a value that each state gives the strings that end in it."""

    table: States
    says: States

    def of(self, says: Callable[[int], bool]) -> Language:
        """The language of the strings whose final state's value satisfies a condition."""
        return Language(self.table, np.array([says(int(each)) for each in self.says], np.int32))


def language(automaton: Automaton) -> Language:
    """The automaton's language: 1 for accepted strings, 0 for others."""
    return Language(np.array(automaton.table, np.int32), np.array(automaton.accepting, np.int32))


class TooManyStatesError(Exception):
    """A description would need an automaton too large to help a reader."""


class OctetRun(NamedTuple):
    """An automaton's runs over the pieces of an axis, from each state that is possible there."""

    states: States
    to: States
    """``to[i, choice]``: the state after the choice, from ``states[i]``."""
    last: States
    """The octets of the choice read when it was last in a state with the value -1; -1 if it never was."""


class Pieces:
    """Runs of automata over the pieces of axes."""

    def __init__(self) -> None:
        self._matrices: dict[int, tuple[tuple[bytes, ...], States]] = {}
        self._parts: dict[int, tuple[tuple[bytes, ...], list[_Parts]]] = {}
        self._runs: dict[tuple[int, int], tuple[Grid, States, list[OctetRun]]] = {}

    def _matrix(self, choices: tuple[bytes, ...]) -> States:
        """A matrix with a row for each piece, made once."""
        if id(choices) not in self._matrices:
            longest = max(map(len, choices))
            matrix = np.full((len(choices), longest), _NOTHING, np.int16)
            for row, choice in zip(matrix, choices, strict=True):
                row[: len(choice)] = np.frombuffer(choice, np.uint8)
            self._matrices[id(choices)] = choices, matrix
        return self._matrices[id(choices)][1]

    def _in_parts(self, choices: tuple[bytes, ...]) -> list[_Parts]:
        """Each piece as parts with their repetition counts, made once."""
        if id(choices) not in self._parts:
            self._parts[id(choices)] = choices, [_parts(choice) for choice in choices]
        return self._parts[id(choices)][1]

    def runs(self, grid: Grid, spoken: Language, *, marks: bool = False) -> list[OctetRun]:
        """The automaton's run over each axis of a grid, in order; with ``marks``, ``last`` is filled in.

        Without ``marks``, all languages of one automaton share the runs, which are made once.
        """
        key = id(grid), id(spoken.table)
        if not marks and key in self._runs:
            return self._runs[key][2]
        found: list[OctetRun] = []
        states = np.array([0], np.int32)
        for number, axis in enumerate(grid.axes):
            if number < grid.earlier:
                to = np.repeat(states[:, None], len(axis), axis=1)
                found.append(OctetRun(states, to, np.full(to.shape, -1, np.int32)))
            elif max(map(len, axis.choices)) > _SHORT:
                found.append(_over_long(self._in_parts(axis.choices), spoken, states))
            else:
                found.append(self._over_short(axis.choices, spoken, states, marks=marks))
            states = np.unique(found[-1].to)
        if not marks:
            if len(self._runs) >= _KEPT:
                self._runs.clear()
            self._runs[key] = grid, spoken.table, found
        return found

    def _over_short(self, choices: tuple[bytes, ...], spoken: Language, states: States, *, marks: bool) -> OctetRun:
        """Read short pieces octet by octet, all of them at a time."""
        stays = np.arange(len(spoken.table), dtype=np.int32)[:, None]
        table = np.hstack((spoken.table, stays))
        to = np.repeat(states[:, None], len(choices), axis=1)
        last = np.full(to.shape, -1, np.int32)
        for place, octets in enumerate(self._matrix(choices).T):
            to = table[to, octets[None]]
            if marks:
                last[(spoken.says[to] == -1) & (octets[None] != _NOTHING)] = place + 1
        return OctetRun(states, to, last)

    def diagram(self, grid: Grid, levels: Sequence[Level], spoken: Language) -> int:
        """The set of the grid's strings whose final state has the value 1."""
        below = spoken.says.astype(np.uint32)
        for level, run in reversed(list(zip(levels, self.runs(grid, spoken), strict=True))):
            nodes = np.zeros(len(spoken.table), np.uint32)
            nodes[run.states] = level.intern(below[run.to])
            below = nodes
        return int(below[0])


_Parts = list[tuple[int, bytes, int]]
"""The parts of a long piece: the offset, octets and repetition count of each."""


def _parts(piece: bytes) -> _Parts:
    whole = len(piece) // _PART
    blocks = np.frombuffer(piece, np.uint8, whole * _PART).reshape(whole, _PART)
    changes = np.flatnonzero((blocks[1:] != blocks[:-1]).any(axis=1)) + 1
    begins = [0, *changes.tolist(), whole] if whole else [0]
    found = [(begin * _PART, blocks[begin].tobytes(), end - begin) for begin, end in pairwise(begins)]
    rest = piece[whole * _PART :]
    return [*found, (whole * _PART, rest, 1)] if rest else found


def _over_long(pieces: Sequence[_Parts], spoken: Language, states: States) -> OctetRun:
    """Read long pieces one by one, in parts: they consist of fillers, so few of their parts differ."""

    @cache
    def over(state: int, part: bytes) -> tuple[int, int]:
        """The state after a part, and the octets read in the last state with the value -1; -1 if there is none."""
        last = -1
        for place, octet in enumerate(part, 1):
            state = int(spoken.table[state, octet])
            if spoken.says[state] == -1:
                last = place
        return state, last

    @cache
    def over_all(state: int, part: bytes, count: int) -> tuple[int, int]:
        """The same for a repeated part. Its states recur, and every further cycle is like the one before."""
        begun, ends = dict[int, int](), list[tuple[int, int]]()
        while len(ends) < count and state not in begun:
            begun[state] = len(ends)
            ends.append(over(state, part))
            state = ends[-1][0]
        first = begun.get(state, 0)

        def turn(number: int) -> tuple[int, int]:
            return ends[number if number < len(ends) else first + (number - first) % (len(ends) - first)]

        latest = (*reversed(range(max(count - len(ends), 0), count)), *reversed(range(len(ends))))
        marked = next((number for number in latest if turn(number)[1] >= 0), -1)
        return turn(count - 1)[0], marked * len(part) + turn(marked)[1] if marked >= 0 else -1

    to = np.zeros((len(states), len(pieces)), np.int32)
    marks = np.full(to.shape, -1, np.int32)
    for row, start in enumerate(states.tolist()):
        for column, parts in enumerate(pieces):
            state, mark = start, -1
            for begin, part, count in parts:
                state, last = over_all(state, part, count)
                mark = begin + last if last >= 0 else mark
            to[row, column], marks[row, column] = state, mark
    return OctetRun(states, to, marks)


def determinised(
    start: Hashable, step: Callable[[Hashable, int], Hashable], says: Callable[[Hashable], int], octets: Iterable[int]
) -> Language:
    """The automaton of all states that can be reached from ``start``.

    Args:
        start: the first state.
        step: the state after an octet.
        says: the value of a state.
        octets: the least octet of each run of octets that all states treat alike.

    Raises:
        TooManyStatesError: there are more than :data:`MOST_STATES`.
    """
    leaders = sorted({0, *(octet for octet in octets if octet < _NOTHING)})
    number = {start: 0}
    queue, rows = [start], list[list[int]]()
    for state in queue:
        if len(queue) > MOST_STATES:
            raise TooManyStatesError
        row: list[int] = []
        for leader in leaders:
            to = step(state, leader)
            if to not in number:
                number[to] = len(number)
                queue.append(to)
            row.append(number[to])
        rows.append(row)
    which = np.searchsorted(np.array(leaders), np.arange(256), side="right") - 1
    return Language(np.array(rows, np.int32)[:, which], np.array([says(state) for state in queue], np.int32))


def turns(automaton: Automaton) -> set[int]:
    """The first octet of each run of octets that are alike."""
    return {edge for each in automaton.classes for run in each.ranges for edge in (run.low, run.high + 1)}


def _edges(products: Iterable[Product]) -> set[int]:
    return {edge for product in products for octets in product for octet in octets for edge in (octet, octet + 1)}


def containing(products: Sequence[Product]) -> Language:
    """The strings that contain one of these products."""
    found = None  # the state after a match

    def step(state: Hashable, octet: int) -> Hashable:
        if state is found:
            return found
        assert isinstance(state, frozenset)
        after = set[tuple[int, int]]()
        for pattern, place in {*state, *((pattern, 0) for pattern in range(len(products)))}:
            if octet in products[pattern][place]:
                if place + 1 == len(products[pattern]):
                    return found
                after.add((pattern, place + 1))
        return frozenset(after)

    return determinised(frozenset(), step, lambda state: int(state is found), _edges(products))


def containing_before_error(automaton: Automaton, products: Sequence[Product]) -> Language:
    """Ill-formed strings with one of these among the characters before the first error."""
    patterns = containing(products)
    wrong = {False: "none before the error", True: "one before the error"}

    def step(state: Hashable, octet: int) -> Hashable:
        if not isinstance(state, tuple):
            return state
        at, found, before = state
        to, found = automaton.table[at][octet], int(patterns.table[found, octet])
        if to == automaton.dead:
            return wrong[before]
        return to, found, bool(patterns.says[found]) if automaton.accepting[to] else before

    def says(state: Hashable) -> int:
        if not isinstance(state, tuple):
            return int(state == wrong[True])
        at, _, before = state
        return int(before and not automaton.accepting[at])

    return determinised((0, 0, False), step, says, turns(automaton) | _edges(products))


def interspersed(automaton: Automaton, products: Sequence[Product], *, ends: Sequence[Product] = ()) -> Language:
    """Well-formed characters and patterns in any order, with at least one pattern; ``ends`` occur only at the end.

    The value of a string is 0 if it is none of these. Otherwise it is 1 plus twice the number of the first pattern
    (``ends`` are numbered after the others), and 1 more if other patterns follow.
    """
    patterns = [*products, *ends]
    ended = {state for state, row in enumerate(automaton.table) if {state} == set(row)}  # no later octet matters

    @cache
    def step_of(part: tuple[int, int, int], octet: int) -> frozenset[tuple[int, int, int]]:
        """The parts that an octet leads to from one part of a state: a pattern or -1, a place or state, an answer."""
        pattern, place, first = part
        after: set[tuple[int, int, int]] = set()
        if pattern >= 0:
            if place < len(patterns[pattern]) and octet in patterns[pattern][place]:
                after.add((pattern, place + 1, first))
        else:
            to = automaton.table[place][octet]
            if to != automaton.dead:
                after.add((-1, to, first))
            if automaton.accepting[place] and place not in ended:
                for new, product in enumerate(patterns):
                    if octet in product[0]:
                        after.add((new, 1, 2 * new if first < 0 else first | 1))
        for pattern, place, first in list(after):
            if 0 <= pattern < len(products) and place == len(patterns[pattern]):
                after.add((-1, 0, first))
        return frozenset(after)

    def step(state: Hashable, octet: int) -> Hashable:
        assert isinstance(state, frozenset)
        return frozenset[tuple[int, int, int]]().union(*[step_of(part, octet) for part in state])

    def says(state: Hashable) -> int:
        assert isinstance(state, frozenset)
        whole = [
            first
            for pattern, place, first in state
            if first >= 0 and (automaton.accepting[place] if pattern < 0 else place == len(patterns[pattern]))
        ]
        return min(whole, default=-1) + 1

    return determinised(frozenset({(-1, 0, -1)}), step, says, turns(automaton) | _edges(patterns))


class FirstError(NamedTuple):
    """The first error of a string, where one octet represents its class."""

    octets: bytes
    """From the end of the last character to the octet that cannot follow, or to the end of the string."""
    cut: bool
    """True if the string ends too early."""
    later: bool
    """True if a character precedes it."""


class FirstErrors:
    """The automaton that remembers the first error of a string."""

    def __init__(self, automaton: Automaton) -> None:
        """Make it."""
        self._automaton = automaton
        alike: dict[tuple[int, ...], list[int]] = {}
        widest = dialect(_WIDEST).automaton  # RFC 3629 treats C0 and FF alike; a reader does not
        rows = (*automaton.table, *widest.table)
        for octet in range(256):
            alike.setdefault(tuple(row[octet] for row in rows), []).append(octet)
        self._class_of = {octet: frozenset(octets) for octets in alike.values() for octet in octets}
        least = {octet: octets[0] for octets in alike.values() for octet in octets}

        self.errors: list[FirstError] = []
        """The automaton's value for a string is an index into this list, or -1 if the string is well-formed."""
        numbers: dict[FirstError, int] = {}

        def step(state: Hashable, octet: int) -> Hashable:
            if isinstance(state, FirstError):
                return state
            assert isinstance(state, tuple)
            at, word, later = state
            to = automaton.table[at][octet]
            word += bytes([least[octet]])
            if to == automaton.dead:
                return FirstError(word, cut=False, later=later)
            return (to, b"", True) if automaton.accepting[to] else (to, word, later)

        def says(state: Hashable) -> int:
            if not isinstance(state, FirstError):
                assert isinstance(state, tuple)
                at, word, later = state
                if automaton.accepting[at]:
                    return -1
                state = FirstError(word, cut=True, later=later)
            if state not in numbers:
                numbers[state] = len(numbers)
                self.errors.append(state)
            return numbers[state]

        self.language = determinised((0, b"", False), step, says, turns(automaton) | turns(widest))

    def of(self, octets: bytes) -> int:
        """The first error of a string: an index into :attr:`errors`, or -1."""
        state = 0
        for octet in octets:
            state = int(self.language.table[state, octet])
        return int(self.language.says[state])

    def class_of(self, octet: int) -> frozenset[int]:
        """The octets that are alike in every error: the class of an octet."""
        return self._class_of[octet]

    def classes_in(self, word: bytes) -> Product:
        """The octets that are alike at each place of a word: they differ neither in this dialect nor in the widest.

        After ED A0 no dialect tells 80 from BF, though their classes differ: F4 may precede only one of them.
        """
        automata = self._automaton, dialect(_WIDEST).automaton
        states, found = [0, 0], list[frozenset[int]]()
        for octet in word:
            rows = [each.table[state] for each, state in zip(automata, states, strict=True)]
            states = [row[octet] for row in rows]
            if all(each.dead == state for each, state in zip(automata, states, strict=True)):
                found.append(self._class_of[octet])
            else:
                found.append(frozenset(each for each in range(256) if [row[each] for row in rows] == states))
        return tuple(found)
