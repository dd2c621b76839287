# pyright: basic
"""Languages as diagrams: the strings of a grid that an automaton accepts, to compare with a target's answers."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from overlong.reference import dialect, segments
from overlong.reference.error_mode import MaximalSubpart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.summary.diagram import Level
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton

    States = np.ndarray[Any, np.dtype[Any]]

_NOTHING = 256
"""Fills a row of a matrix of pieces after the piece's end."""
_WIDEST = "lax-rfc2279"
"""The dialect that accepts the most sequences."""
_SHORT = 16
_PART = 12
"""The octets of a part: a multiple of the length of every filler."""


class Language(NamedTuple):
    """An automaton as arrays: ``table[state, octet]``, and a value that each state gives the strings that end in it."""

    table: States
    says: States


def language(automaton: Automaton) -> Language:
    """The automaton's language: 1 for accepted strings, 0 for others."""
    return Language(np.array(automaton.table, np.int32), np.array(automaton.accepting, np.int32))


def first_defects(spoken: Dialect) -> tuple[Language, list[str]]:
    """The automaton that remembers the first error of a string.

    Its value is the place of the error's code among the codes of defects, from 1 on: empty if a string is ill-formed
    only by what the target declares. It is 0 for a well-formed string.
    """
    automaton, widest = spoken.automaton, dialect(_WIDEST).automaton  # RFC 3629 treats C0 and FF alike; we do not
    alike: dict[tuple[int, ...], list[int]] = {}
    for octet in range(256):
        alike.setdefault(tuple(row[octet] for row in (*automaton.table, *widest.table)), []).append(octet)
    codes: list[str] = []

    def value(word: bytes) -> int:
        wrong = (each.defect.code for each in segments(word, spoken=spoken) if isinstance(each, MaximalSubpart))
        code = next(wrong, "")
        if code not in codes:
            codes.append(code)
        return codes.index(code) + 1

    queue: list[tuple[int, bytes]] = [(0, b"")]  # a state of the automaton, and the word since the last character
    numbers = {queue[0]: 0}
    ended: dict[int, int] = {}  # the state after an error, by its value
    rows, says = list[list[tuple[int, int]]](), list[int]()
    for at, word in queue:
        says.append(0 if automaton.accepting[at] else value(word))
        row = [(0, 0)] * 256
        for octets in alike.values():
            to, longer = automaton.table[at][octets[0]], word + bytes(octets[:1])
            if to == automaton.dead:
                found = value(longer)
                reached = 1, ended.setdefault(found, len(ended))
            else:
                state = (to, b"" if automaton.accepting[to] else longer)
                if state not in numbers:
                    numbers[state] = len(numbers)
                    queue.append(state)
                reached = 0, numbers[state]
            for octet in octets:
                row[octet] = reached
        rows.append(row)
    table = [[number + is_end * len(queue) for is_end, number in row] for row in rows]
    table += [[len(queue) + number] * 256 for number in range(len(ended))]
    return Language(np.array(table, np.int32), np.array([*says, *ended], np.int32)), codes


def diagram(grid: Grid, levels: Sequence[Level], spoken: Language) -> int:
    """What the automaton says of the grid's strings."""
    runs: list[tuple[States, States]] = []  # the states before an axis, and those after each choice from each of them
    states = np.array([0], np.int32)
    for number, axis in enumerate(grid.axes):
        if number < grid.earlier:
            to = np.repeat(states[:, None], len(axis), axis=1)
        elif max(map(len, axis)) > _SHORT:
            to = _over_long(list(map(_parts, axis)), spoken, states)
        else:
            to = _over_short(axis, spoken, states)
        runs.append((states, to))
        states = np.unique(to)
    below = spoken.says
    for level, (states, to) in reversed(list(zip(levels, runs, strict=True))):
        nodes = np.zeros(len(spoken.table), np.uint32)
        nodes[states] = level.intern(below[to])
        below = nodes
    return int(below[0])


def _over_short(axis: tuple[bytes, ...], spoken: Language, states: States) -> States:
    """Read short pieces octet by octet, all of them at a time."""
    matrix = np.full((len(axis), max(map(len, axis))), _NOTHING, np.int16)
    for row, piece in zip(matrix, axis, strict=True):
        row[: len(piece)] = np.frombuffer(piece, np.uint8)
    table = np.hstack((spoken.table, np.arange(len(spoken.table), dtype=np.int32)[:, None]))
    to = np.repeat(states[:, None], len(axis), axis=1)
    for octets in matrix.T:
        to = table[to, octets[None]]
    return to


_Parts = list[tuple[bytes, int]]
"""The parts of a long piece, and how often each is repeated."""


def _parts(piece: bytes) -> _Parts:
    whole = len(piece) // _PART
    blocks = np.frombuffer(piece, np.uint8, whole * _PART).reshape(whole, _PART)
    changes = np.flatnonzero((blocks[1:] != blocks[:-1]).any(axis=1)) + 1
    begins = [0, *changes.tolist(), whole] if whole else [0]
    found = [(blocks[begin].tobytes(), end - begin) for begin, end in pairwise(begins)]
    rest = piece[whole * _PART :]
    return [*found, (rest, 1)] if rest else found


def _over_long(pieces: Sequence[_Parts], spoken: Language, states: States) -> States:
    """Read long pieces one by one, in parts: they consist of fillers, so few of their parts differ."""

    @cache
    def over(state: int, part: bytes) -> int:
        for octet in part:
            state = int(spoken.table[state, octet])
        return state

    @cache
    def over_all(state: int, part: bytes, count: int) -> int:
        """The state after a repeated part. Its states recur, and every further cycle is like the one before."""
        begun, passed = dict[int, int](), list[int]()
        while len(passed) < count and state not in begun:
            begun[state] = len(passed)
            passed.append(state)
            state = over(state, part)
        if len(passed) == count:
            return state
        first = begun[state]
        return passed[first + (count - first) % (len(passed) - first)]

    to = np.zeros((len(states), len(pieces)), np.int32)
    for row, start in enumerate(states.tolist()):
        for column, parts in enumerate(pieces):
            state = start
            for part, count in parts:
                state = over_all(state, part, count)
            to[row, column] = state
    return to
