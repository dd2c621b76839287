# pyright: basic
"""Functions of a grid's strings as decision diagrams: one level for each axis, and equal nodes shared.

A node maps each choice of its axis to a node of the level below. Below the last level are the values, one octet
each: kinds of divergence, or 1 for the members of a set. Equal nodes have one number (hash-consing: Ershov 1958;
Bryant 1986). So two functions are equal if and only if their numbers are, and the diagram of a regular function is
small, however many strings the grid has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from overlong.conformance.sweep.grid import reading
from overlong.reference import dialect, segments
from overlong.reference.error_mode import MaximalSubpart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.sweep.grid import Grid
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton

    Rows = np.ndarray[Any, np.dtype[Any]]
    States = np.ndarray[Any, np.dtype[Any]]

AND, OR, MINUS = 0b1000, 0b1110, 0b0010
"""Truth tables: bit ``a + 2 * b`` is the value for a and b."""
_SEED = 3629


class Level:
    """All nodes over one axis and the later ones. Node 0 has the value 0 everywhere, node 1 the value 1."""

    def __init__(self, choices: tuple[bytes, ...], below: Level | None, *, silent: bool) -> None:
        """``silent``: the axis belongs to the earlier string, and adds nothing to the judged one."""
        self.choices, self.below, self.silent = choices, below, silent
        self.width = len(choices)
        self._dtype = np.uint8 if below is None else np.uint32
        self._keys: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._table: Rows = np.zeros((0, self.width), self._dtype)
        self._lengths = np.array([0 if silent else len(choice) for choice in choices], np.int64)
        self._counts: dict[int, int] = {}
        self._least: dict[int, tuple[bytes, tuple[int, ...]]] = {}
        self._combined: dict[tuple[int, int, int], int] = {}
        for value in (0, 1):
            self.intern(np.full((1, self.width), value, self._dtype))

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def table(self) -> Rows:
        """All nodes: a node's row holds the node that follows each choice."""
        if len(self._table) < len(self._keys):
            new = np.frombuffer(b"".join(self._keys[len(self._table) :]), self._dtype).reshape(-1, self.width)
            self._table = np.concatenate((self._table, new))
        return self._table

    def row(self, node: int) -> Rows:
        """The nodes that follow the choices of a node."""
        return np.frombuffer(self._keys[node], self._dtype)

    def intern(self, rows: Rows) -> Rows:
        """The numbers of the nodes with these rows."""
        rows = np.ascontiguousarray(rows, self._dtype)
        if len(rows) == 1:
            return np.array([self._number(rows.tobytes())], np.uint32)
        first, which = _distinct(rows)
        numbers = np.array([self._number(rows[place].tobytes()) for place in first], np.uint32)
        return numbers[which]

    def _number(self, key: bytes) -> int:
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def where(self, node: int, value: int, known: dict[tuple[int, int], int] | None = None) -> int:
        """The set on which a function has a value; ``known`` caches results by level and node."""
        known = {} if known is None else known
        if self.below is None:
            return int(self.intern((self.row(node) == value)[None])[0])
        key = (id(self), node)
        if key not in known:
            below = self.below
            nodes, which = np.unique(self.row(node), return_inverse=True)
            found = np.array([below.where(int(each), value, known) for each in nodes], np.uint32)
            known[key] = int(self.intern(found[which][None])[0])
        return known[key]

    def combine(self, left: int, right: int, operation: int) -> int:
        """Combine two sets by ``AND``, ``OR`` or ``MINUS``."""
        if left < 2 and right < 2:
            return operation >> (left + 2 * right) & 1
        key = (left, right, operation)
        if key not in self._combined:
            a, b = self.row(left), self.row(right)
            if self.below is None:
                row = operation >> (a + 2 * b) & 1
            else:
                pairs, which = np.unique(a.astype(np.uint64) << 32 | b, return_inverse=True)
                below = self.below
                row = np.array([below.combine(int(p) >> 32, int(p) & 0xFFFFFFFF, operation) for p in pairs])[which]
            self._combined[key] = int(self.intern(row[None])[0])
        return self._combined[key]

    def count(self, node: int) -> int:
        """The number of members of a set."""
        if node not in self._counts:
            below = self.below
            nodes, often = np.unique(self.row(node), return_counts=True)
            self._counts[node] = sum(
                (int(each) if below is None else below.count(int(each))) * int(times)
                for each, times in zip(nodes, often, strict=True)
            )
        return self._counts[node]

    def member(self, node: int, number: int) -> tuple[int, ...]:
        """The choices that make one of the members of a set, numbered from 0 in the grid's order."""
        row, below = self.row(node), self.below
        counts = np.zeros(int(row.max()) + 1, np.int64)
        for each in np.unique(row):
            counts[each] = int(each) if below is None else below.count(int(each))
        upto = np.cumsum(counts[row])
        choice = int(np.searchsorted(upto, number, side="right"))
        rest = number - int(upto[choice] - counts[row[choice]])
        return (choice, *(() if below is None else below.member(int(row[choice]), rest)))

    def least(self, node: int) -> tuple[bytes, tuple[int, ...]]:
        """The shortlex-least member of a non-empty set, and the choices that make it.

        Among equal strings, it is the first in the grid's order.
        """
        if node not in self._least:
            row, below = self.row(node), self.below
            members = np.flatnonzero(row)  # node 0 is the empty set
            ends: dict[int, tuple[bytes, tuple[int, ...]]] = {1: (b"", ())}
            if below is not None:
                ends = {int(each): below.least(int(each)) for each in np.unique(row[members])}
            longest = np.zeros(int(row.max()) + 1, np.int64)
            for each, (octets, _) in ends.items():
                longest[each] = len(octets)
            lengths = self._lengths[members] + longest[row[members]]
            shortest = members[lengths == lengths.min()]
            self._least[node] = min(
                (
                    ((b"" if self.silent else self.choices[choice]) + octets, (choice, *place))
                    for choice in shortest.tolist()
                    for octets, place in (ends[int(row[choice])],)
                ),
                key=lambda least: least[0],
            )
        return self._least[node]


def _distinct(rows: Rows) -> tuple[Rows, Rows]:
    """The index of the first of each distinct row, and for each row the number of its distinct row."""
    octets = rows.view(np.uint8)
    if octets.shape[1] % 8:
        octets = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8)))
    words = octets.view(np.uint64)
    factors = np.random.default_rng(_SEED).integers(0, 1 << 64, words.shape[1], np.uint64) | np.uint64(1)
    _, first, which = np.unique(words @ factors, return_index=True, return_inverse=True)
    step = max(1, (1 << 22) // rows.shape[1])
    for start in range(0, len(rows), step):  # equal sums need not be equal rows
        part = slice(start, start + step)
        if not np.array_equal(rows[first[which[part]]], rows[part]):
            _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
            break
    return first, which.reshape(-1)


def levels_of(grids: Iterable[Grid]) -> list[tuple[Level, ...]]:
    """For each grid one level for each axis, the first axis first; grids with the same last axes share these levels."""
    known: dict[tuple[tuple[bytes, ...], bool, Level | None], Level] = {}
    found: list[tuple[Level, ...]] = []
    for grid in grids:
        levels: list[Level] = []
        for number in reversed(range(len(grid.axes))):
            key = grid.axes[number], number < grid.earlier, levels[-1] if levels else None
            if key not in known:
                choices, silent, below = key
                known[key] = Level(choices, below, silent=silent)
            levels.append(known[key])
        found.append(tuple(reversed(levels)))
    return found


_NOTHING = 256
"""Fills a row of a matrix of pieces after the piece's end."""
_WIDEST = "lax-rfc2279"
"""The dialect that accepts the most sequences."""
_SHORT = 16
"""The octets of pieces that are read all at a time."""


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
    states, read = np.array([0], np.int32), reading(spoken.table.tolist())
    for number, axis in enumerate(grid.axes):
        if number < grid.earlier:
            to = np.repeat(states[:, None], len(axis), axis=1)
        elif max(map(len, axis)) > _SHORT:
            to = np.array([[read(piece, state) for piece in axis] for state in states.tolist()], np.int32)
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
