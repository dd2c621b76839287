# pyright: basic
"""Sets of strings of a plan, over all of its grids."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.conformance.sweep.summary.diagram import AND, MINUS
from overlong.conformance.sweep.summary.gathering import index_of
from overlong.conformance.sweep.summary.languages import Language, OctetRun, Pieces
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from overlong.conformance.sweep.summary.diagram import Level
    from overlong.conformance.sweep.summary.gathering import Gathered

    Column = np.ndarray[Any, np.dtype[Any]]

_CELLS = 1 << 21
_DOUBLES = 4
"""About how many grids of a plan share a string."""

Members = dict[int, int]
"""A set: maps the number of each grid to the node of its members. Equal sets are equal dictionaries."""


class Strings:
    """The strings of those grids of a plan that have diagrams, and sets of these strings."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.grids = {number: gathered.plan.grids[number] for number in gathered.roots}
        self._pieces = Pieces()
        self._levels: dict[int, tuple[Level, ...]] = {}

    def levels(self, grid: int) -> tuple[Level, ...]:
        """The levels of a grid."""
        if grid not in self._levels:
            self._levels[grid] = self.gathered.forest.levels(self.grids[grid])
        return self._levels[grid]

    def of_kind(self, kind: int) -> Members:
        """The strings with a kind of divergence."""
        return {grid: self.levels(grid)[0].where(root, kind) for grid, root in self.gathered.roots.items()}

    def of_language(self, spoken: Language) -> Members:
        """The strings for which an automaton says 1."""
        return {number: self._pieces.diagram(grid, self.levels(number), spoken) for number, grid in self.grids.items()}

    def combine(self, left: Members, right: Members, operation: int) -> Members:
        """See :meth:`Level.combine`."""
        return {grid: self.levels(grid)[0].combine(left[grid], right[grid], operation) for grid in left}

    def both(self, left: Members, right: Members) -> Members:
        """The intersection."""
        return self.combine(left, right, AND)

    def less(self, left: Members, right: Members) -> Members:
        """The difference."""
        return self.combine(left, right, MINUS)

    def count(self, members: Members) -> int:
        """The number of strings in a set; equal strings count as often as they occur."""
        return sum(self.levels(grid)[0].count(node) for grid, node in members.items())

    def least(self, members: Members) -> tuple[bytes, int, int]:
        """The shortlex-least string of a non-empty set: its octets, grid and number."""
        found = [
            (least.octets, grid, index_of(self.grids[grid], least.place))
            for grid, node in members.items()
            if node
            for least in (self.levels(grid)[0].least(node),)
        ]
        return min(found, key=lambda each: (shortlex(each[0]), each[1]))

    def ascending(self, members: Members, most: int) -> tuple[bytes, ...]:
        """The first strings of a set in shortlex order, without repetition."""
        of_grids = (self.levels(grid)[0].ascending(node) for grid, node in members.items() if node)
        merged = heapq.merge(*of_grids, key=lambda least: shortlex(least.octets))
        return tuple(islice(dict.fromkeys(least.octets for least in islice(merged, _DOUBLES * most)), most))

    def some(self, members: Members, most: int) -> list[tuple[bytes, bytes | None]]:
        """The first strings of a set, grid by grid, each with the string asked before it."""
        found: list[tuple[bytes, bytes | None]] = []
        for number, node in members.items():
            grid = self.grids[number]
            numbers = self._indices(number, node, most - len(found))
            found += [(grid.string(index), grid.asked_before(index)) for index in numbers]
        return found

    def _indices(self, grid: int, node: int, most: int) -> list[int]:
        """The numbers of the first strings of a set."""
        nodes, index = np.array([node]), np.array([0])
        for level in self.levels(grid):
            if not nodes[0]:
                return []
            step = max(1, _CELLS // level.width)
            rows = [level.table[nodes[at : at + step]] for at in range(0, len(nodes), step)]
            places = [np.nonzero(row) for row in rows]
            index = np.concatenate(
                [index[at * step + which] * level.width + choice for at, (which, choice) in enumerate(places)]
            )[:most]
            nodes = np.concatenate([row[place] for row, place in zip(rows, places, strict=True)])[:most]
            if not len(nodes):
                return []
        return list(map(int, index))

    def met(self, members: Members, spoken: Language) -> set[int]:
        """The values that an automaton gives the strings of a set."""
        found: set[int] = set()
        for grid, node in members.items():
            if not node:
                continue
            nodes, states = (np.array([each]) for each in (node, 0))
            for level, run in zip(self.levels(grid), self.runs(grid, spoken), strict=True):
                step = max(1, _CELLS // level.width)
                pairs: list[Column] = []
                for at in range(0, len(nodes), step):
                    after = level.table[nodes[at : at + step]].astype(np.int64)
                    to = run.to[np.searchsorted(run.states, states[at : at + step])]
                    pairs.append(np.unique((after * len(spoken.table) + to)[after > 0]))
                nodes, states = np.divmod(np.unique(np.concatenate(pairs)), len(spoken.table))
                if not len(nodes):
                    break
            found |= set(spoken.says[states[nodes > 0]].tolist())
        return found

    def runs(self, grid: int, spoken: Language, *, marks: bool = False) -> list[OctetRun]:
        """See :meth:`Pieces.runs`."""
        return self._pieces.runs(self.grids[grid], spoken, marks=marks)
