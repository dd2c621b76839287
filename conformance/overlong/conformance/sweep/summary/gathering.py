# pyright: basic
"""The result for every string of a plan, gathered from shards that arrive in any order.

A diagram holds each grid's kinds (see ``diagram.py``). It grows from the last axis upwards: complete rows of a shard
are interned at once, and incomplete rows wait for the neighbouring shards. For a target that answers at random, the
diagram would be as large as the sweep; then only tallies of that grid are kept.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.conformance.oracle.kinds import NO_DIVERGENCE
from overlong.conformance.sweep.summary.diagram import Forest, Level
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.results.shard import ShardResult
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.plan import Plan

    Kinds = np.ndarray[Any, np.dtype[Any]]

MOST_CELLS = 1 << 21
"""The most entries of all nodes over a grid; a regular set of any size has some thousands."""
_CHUNK = 1 << 20


@dataclass
class KindTally:
    """The facts about strings of one kind without their diagram."""

    count: int
    example: bytes
    grid: int
    index: int

    def add(self, other: KindTally) -> None:
        """Add the strings of another tally."""
        self.count += other.count
        if (shortlex(other.example), other.grid, other.index) < (shortlex(self.example), self.grid, self.index):
            self.example, self.grid, self.index = other.example, other.grid, other.index


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

    def skip(self, first: int, count: int) -> None:
        """Note that ``count`` strings from number ``first`` on agree."""
        self._skip(len(self._levels) - 1, first, count)

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

    def _skip(self, number: int, first: int, count: int) -> None:
        width = self._levels[number].width
        head = min(-first % width, count)
        whole, rest = divmod(count - head, width)
        dtype = np.uint8 if self._levels[number].below is None else np.uint32
        if head:
            self._part(number, np.zeros(head, dtype), first)
        if whole and number:
            self._skip(number - 1, (first + head) // width, whole)
        if rest:
            self._part(number, np.zeros(rest, dtype), first + count - rest)


@dataclass
class Gathered:
    """All divergences of a plan."""

    plan: Plan
    forest: Forest
    roots: dict[int, int]
    """The root of each grid's diagram, if it has one, by the grid's number; its values are kinds."""
    tallies: dict[int, KindTally]
    """Tallies of the other grids, by kind."""

    @cached_property
    def kinds(self) -> list[int]:
        """The kinds of divergence that occur."""
        found = set(self.tallies)
        for number, root in self.roots.items():
            found |= _values(self.forest.levels(self.plan.grids[number])[0], root)
        return sorted(found - NO_DIVERGENCE)


def gather(plan: Plan, results: Iterable[ShardResult]) -> Gathered:
    """The results for the plan's strings. Memory holds the kinds of one shard, and diagrams of bounded size.

    Raises:
        ValueError: a shard's kinds and strings differ in number.
    """
    forest = Forest()
    growing: dict[int, _Growing] = {}
    tallies: dict[int, KindTally] = {}
    given_up = set[int]()
    for result in results:
        shard = result.shard
        number, grid = shard.grid, plan.grids[shard.grid]
        if number not in growing:
            growing[number] = _Growing(forest.levels(grid), MOST_CELLS)
        if not result.kinds:
            if number not in given_up:
                growing[number].skip(shard.first, shard.count)
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
                _tally_diagram(tallies, grid, number, forest.levels(grid)[0], growing[number].finish())
        _tally(tallies, grid, number, kinds, shard.first)
    roots = {number: diagram.finish() for number, diagram in growing.items() if number not in given_up}
    return Gathered(plan, forest, roots, tallies)


def _tally(tallies: dict[int, KindTally], grid: Grid, number: int, kinds: Kinds, first: int) -> None:
    """Count the kinds of a shard, and find the least string of each."""
    if not _in_order(grid):
        levels = Forest().levels(grid)
        alone = _Growing(levels)
        alone.put(kinds, first)
        _tally_diagram(tallies, grid, number, levels[0], alone.finish())
        return
    counts = np.zeros(256, np.int64)
    for start in range(0, len(kinds), _CHUNK):
        counts += np.bincount(kinds[start : start + _CHUNK], minlength=256)
    for kind in set(np.flatnonzero(counts).tolist()) - NO_DIVERGENCE:
        index = first + int(np.argmax(kinds == kind))
        _add(tallies, kind, KindTally(int(counts[kind]), grid.string(index), number, index))


def _tally_diagram(tallies: dict[int, KindTally], grid: Grid, number: int, top: Level, root: int) -> None:
    for kind in _values(top, root) - NO_DIVERGENCE:
        members = top.where(root, kind)
        least = top.least(members)
        index = index_of(grid, least.place)
        _add(tallies, kind, KindTally(top.count(members), least.octets, number, index))


def _add(tallies: dict[int, KindTally], kind: int, tally: KindTally) -> None:
    if kind in tallies:
        tallies[kind].add(tally)
    else:
        tallies[kind] = tally


def index_of(grid: Grid, place: tuple[int, ...]) -> int:
    """The number of the string that these choices make: the inverse of ``Grid.place``."""
    index = 0
    for axis, choice in zip(grid.axes, place, strict=True):
        index = index * len(axis) + choice
    return index


def _in_order(grid: Grid) -> bool:
    """True if its strings are numbered in shortlex order: the pieces of each axis are equally long, and ascend."""
    return not grid.earlier and all(len(set(map(len, axis))) == 1 and list(axis) == sorted(axis) for axis in grid.axes)


def _values(top: Level, root: int) -> set[int]:
    """The values that a function takes."""
    level: Level | None = top
    nodes = np.array([root])
    while level is not None:
        nodes = np.unique(level.table[nodes])
        level = level.below
    return set(nodes.tolist())
