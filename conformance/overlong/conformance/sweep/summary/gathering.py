# pyright: basic
"""The result for every string of a plan, gathered from shards that arrive in any order; and sets of these strings.

A diagram holds each grid's kinds (see ``diagram.py``). It grows from the last axis upwards: complete rows of a shard
are interned at once, and incomplete rows wait for the neighbouring shards. For a target that answers at random, the
diagram would be as large as the sweep; then only tallies of that grid are kept.
"""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.conformance.oracle.target import NO_DIVERGENCE
from overlong.conformance.sweep.summary.diagram import Level, levels_of
from overlong.conformance.sweep.summary.languages import Language, diagram
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.results.sweeps import ShardResult
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.plan import Plan

    Kinds = np.ndarray[Any, np.dtype[Any]]

MOST_CELLS = 1 << 21
"""The most entries of all nodes over a grid; a regular set of any size has some thousands."""
_CHUNK = 1 << 20
_SEED = 3629

Members = dict[int, int]
"""A node for each grid, by its number: a function of the strings, or a set of them. Equal sets are equal
dictionaries."""
Place = tuple[bytes, int, int]
"""A string, the number of its grid, and its number there."""


class TooIrregularError(Exception):
    """The diagram of a grid would take too much memory."""


class _Growing:
    """The diagram of a grid while shards arrive."""

    def __init__(self, levels: tuple[Level, ...], most: int | None = None) -> None:
        """``most``: the limit on entries of nodes; None for no limit."""
        self._levels, self._most = levels, most
        self._waiting: list[dict[int, tuple[Kinds, int]]] = [{} for _ in levels]  # node -> its row, and the filled part
        self.root = 0

    def put(self, kinds: Kinds, first: int) -> None:
        """Add the kinds of the strings from number ``first`` on.

        Raises:
            TooIrregularError: they need too many nodes; nothing was added.
        """
        self._put(len(self._levels) - 1, kinds, first)

    def finish(self) -> int:
        """The root; strings that were never added count as agreeing."""
        for number in reversed(range(len(self._levels))):
            for node in sorted(self._waiting[number]):
                row, _ = self._waiting[number].pop(node)
                self._above(number, self._levels[number].intern(row[None]), node)
        return self.root

    def _put(self, number: int, values: Kinds, first: int) -> None:
        level = self._levels[number]
        width = level.width
        head = min(-first % width, len(values))
        whole = (len(values) - head) // width
        end = head + whole * width
        step = max(1, _CHUNK // width)
        nodes: list[Kinds] = []
        for row in range(0, whole, step):
            self._check()
            rows = values[head + row * width : min(head + (row + step) * width, end)]
            nodes.append(level.intern(rows.reshape(-1, width)))
        if number == len(self._levels) - 1:
            self._check()
        if head:
            self._part(number, values[:head], first)
        if nodes:
            self._above(number, np.concatenate(nodes), (first + head) // width)
        if end < len(values):
            self._part(number, values[end:], first + end)

    def _check(self) -> None:
        if self._most is not None and sum(len(each) * each.width for each in self._levels) > self._most:
            raise TooIrregularError

    def _part(self, number: int, values: Kinds, first: int) -> None:
        level = self._levels[number]
        node, place = divmod(first, level.width)
        row, there = self._waiting[number].pop(node, (np.zeros(level.width, values.dtype), 0))
        row[place : place + len(values)] = values
        if there + len(values) < level.width:
            self._waiting[number][node] = row, there + len(values)
        else:
            self._above(number, level.intern(row[None]), node)

    def _above(self, number: int, nodes: Kinds, first: int) -> None:
        if number:
            self._put(number - 1, nodes, first)
        else:
            self.root = int(nodes[0])


class Gathered:
    """All divergences of a plan, and sets of its strings: over those of its grids that have diagrams."""

    def __init__(self, plan: Plan, levels: Sequence[tuple[Level, ...]]) -> None:
        """``levels``: those of each grid."""
        self.plan, self.levels = plan, levels
        self.roots: Members = {}
        """Those of the grids' diagrams, whose values are kinds."""
        self.tallies: dict[int, tuple[int, Place]] = {}
        """Of the other grids, by kind: the number of strings, and the least of them."""

    @property
    def kinds(self) -> list[int]:
        """The kinds of divergence that occur."""
        found = set(self.tallies)
        for number, root in self.roots.items():
            found |= _values(self.levels[number][0], root)
        return sorted(found - NO_DIVERGENCE)

    def with_value(self, roots: Members, value: int) -> Members:
        """The strings for which a function has a value."""
        return {number: self.levels[number][0].where(root, value) for number, root in roots.items()}

    def said_by(self, spoken: Language) -> Members:
        """What an automaton says of the strings; if that is 0 or 1, it is a set."""
        return {number: diagram(self.plan.grids[number], self.levels[number], spoken) for number in self.roots}

    def combined(self, left: Members, right: Members, operation: int) -> Members:
        """Two sets combined by ``AND``, ``OR`` or ``MINUS`` of ``diagram.py``."""
        return {number: self.levels[number][0].combine(left[number], right[number], operation) for number in left}

    def count(self, members: Members) -> int:
        """The number of strings in a set; equal strings count as often as they occur."""
        return sum(self.levels[number][0].count(node) for number, node in members.items())

    def least(self, members: Members) -> Place:
        """The shortlex-least string of a non-empty set."""
        return least_of(self._least(number, self.levels[number][0], node) for number, node in members.items() if node)

    def drawn(self, members: Members, most: int) -> list[tuple[int, int]]:
        """Some strings of a set, always the same, each by its grid and number; any is as likely as any other."""
        chance = random.Random(_SEED)  # noqa: S311 (no secret)
        total = self.count(members)
        wanted = sorted(chance.sample(range(total), min(most, total)), reverse=True)
        found, passed = list[tuple[int, int]](), 0
        for number, node in members.items():
            top, grid = self.levels[number][0], self.plan.grids[number]
            ends = passed + top.count(node)
            while wanted and wanted[-1] < ends:
                found.append((number, index_of(grid, top.member(node, wanted.pop() - passed))))
            passed = ends
        return found

    def tally(self, number: int, top: Level, root: int) -> None:
        """Count the strings of a grid, or of a part of it, by the diagram of their kinds, which is not kept."""
        for kind in _values(top, root) - NO_DIVERGENCE:
            members = top.where(root, kind)
            count, least = top.count(members), self._least(number, top, members)
            before, *others = self.tallies.get(kind, (0,))
            self.tallies[kind] = before + count, least_of((least, *others))

    def _least(self, number: int, top: Level, node: int) -> Place:
        octets, place = top.least(node)
        return octets, number, index_of(self.plan.grids[number], place)


def gather(plan: Plan, results: Iterable[ShardResult]) -> Gathered:
    """The results for the plan's strings. Memory holds the kinds of one shard, and diagrams of bounded size.

    Raises:
        ValueError: a shard's kinds and strings differ in number.
    """
    levels = levels_of(plan.grids)
    growing: dict[int, _Growing] = {}
    gathered = Gathered(plan, levels)
    given_up = set[int]()
    for result in results:
        shard = result.shard
        number, grid = shard.grid, plan.grids[shard.grid]
        if number not in growing:
            growing[number] = _Growing(levels[number], MOST_CELLS)
        if not result.kinds:
            continue
        kinds = np.frombuffer(zlib.decompress(result.kinds), np.uint8)
        if len(kinds) != shard.count:
            raise ValueError(f"{shard.key}: {len(kinds)} kinds for {shard.count} strings; run this shard again")
        if number not in given_up:
            try:
                growing[number].put(kinds, shard.first)
                continue
            except TooIrregularError:
                given_up.add(number)
                gathered.tally(number, levels[number][0], growing[number].finish())
        (alone,) = levels_of([grid])
        of_shard = _Growing(alone)
        of_shard.put(kinds, shard.first)
        gathered.tally(number, alone[0], of_shard.finish())
    gathered.roots.update((number, each.finish()) for number, each in growing.items() if number not in given_up)
    return gathered


def least_of(places: Iterable[Place]) -> Place:
    """The one with the shortlex-least string; of equal ones, the first."""
    return min(places, key=lambda place: (shortlex(place[0]), place[1:]))


def index_of(grid: Grid, place: tuple[int, ...]) -> int:
    """The number of the string that these choices make: the inverse of ``Grid.place``."""
    index = 0
    for axis, choice in zip(grid.axes, place, strict=True):
        index = index * len(axis) + choice
    return index


def _values(top: Level, root: int) -> set[int]:
    """The values that a function takes."""
    level: Level | None = top
    nodes = np.array([root])
    while level is not None:
        nodes = np.unique(level.table[nodes])
        level = level.below
    return set(nodes.tolist())
