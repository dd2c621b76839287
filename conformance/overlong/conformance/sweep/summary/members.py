# pyright: basic
"""Sets of strings of a plan, over all of its grids."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.sweep.summary.diagram import AND, MINUS, OR
from overlong.conformance.sweep.summary.gathering import index_of
from overlong.conformance.sweep.summary.languages import Language, Pieces
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.sweep.summary.diagram import Level
    from overlong.conformance.sweep.summary.gathering import Gathered

_CELLS = 1 << 21
_SEED = 3629

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

    def both(self, left: Members, right: Members) -> Members:
        """The intersection."""
        return self._combine(left, right, AND)

    def either(self, left: Members, right: Members) -> Members:
        """The union."""
        return self._combine(left, right, OR)

    def less(self, left: Members, right: Members) -> Members:
        """The difference."""
        return self._combine(left, right, MINUS)

    def _combine(self, left: Members, right: Members, operation: int) -> Members:
        return {grid: self.levels(grid)[0].combine(left[grid], right[grid], operation) for grid in left}

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

    def drawn(self, members: Members, most: int) -> list[tuple[int, int]]:
        """Some strings of a set, always the same, each by its grid and number; any is as likely as any other."""
        chance = random.Random(_SEED)  # noqa: S311 (no secret)
        total = self.count(members)
        wanted = sorted(chance.sample(range(total), min(most, total)), reverse=True)
        found, passed = list[tuple[int, int]](), 0
        for number, node in members.items():
            top, grid = self.levels(number)[0], self.grids[number]
            ends = passed + top.count(node)
            while wanted and wanted[-1] < ends:
                found.append((number, index_of(grid, top.member(node, wanted.pop() - passed))))
            passed = ends
        return found

    def some(self, members: Members, most: int) -> Iterator[bytes]:
        """The first strings of a set, grid by grid."""
        for number, node in members.items():
            numbers = self._numbers(number, node, most)
            most -= len(numbers)
            yield from map(self.grids[number].string, numbers)

    def _numbers(self, grid: int, node: int, most: int) -> list[int]:
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
