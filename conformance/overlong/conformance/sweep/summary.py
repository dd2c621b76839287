# pyright: basic
"""A sweep's divergences as a few sets: each holds the strings of one kind whose first error has the same defect.

The kinds of all strings are gathered from shards that arrive in any order. A diagram holds each grid's kinds (see
``diagrams.py``). It grows from the last axis upwards: complete rows of a shard are interned at once, and incomplete
rows wait for the neighbouring shards. For a target that answers at random, the diagram would be as large as the sweep;
then only tallies of that grid are kept.
"""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    NO_DIVERGENCE,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
)
from overlong.conformance.results.sweeps import DivergentSet, Where
from overlong.conformance.sweep.diagrams import (
    AND,
    MINUS,
    OR,
    Language,
    Level,
    diagram,
    first_defects,
    language,
    levels_of,
)
from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import equivalent, shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.results.sweeps import ShardResult
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.plan import Plan
    from overlong.reference.automaton import Automaton

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
            OverflowError: they need too many nodes; nothing was added.
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
            raise OverflowError("the diagram of a grid would take too much memory")

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

    def __init__(self, plan: Plan, results: Iterable[ShardResult]) -> None:
        """Gather results. Memory holds the kinds of one shard, and diagrams of bounded size.

        Raises:
            ValueError: a shard's kinds and strings differ in number.
        """
        self.plan, self.levels = plan, levels_of(plan.grids)
        self.roots: Members = {}
        """Those of the grids' diagrams, whose values are kinds."""
        self.tallies: dict[int, tuple[int, Place]] = {}
        """Of the other grids, by kind: the number of strings, and the least of them."""
        growing: dict[int, _Growing] = {}
        given_up = set[int]()
        for result in results:
            shard, number = result.shard, result.shard.grid
            if number not in growing:
                growing[number] = _Growing(self.levels[number], MOST_CELLS)
            if not result.kinds:
                continue
            kinds = np.frombuffer(zlib.decompress(result.kinds), np.uint8)
            if len(kinds) != shard.count:
                raise ValueError(f"{shard.key}: {len(kinds)} kinds for {shard.count} strings; run this shard again")
            if number not in given_up:
                try:
                    growing[number].put(kinds, shard.first)
                    continue
                except OverflowError:
                    given_up.add(number)
                    self._tally(number, self.levels[number][0], growing[number].finish())
            (alone,) = levels_of([plan.grids[number]])
            of_shard = _Growing(alone)
            of_shard.put(kinds, shard.first)
            self._tally(number, alone[0], of_shard.finish())
        self.roots.update((number, each.finish()) for number, each in growing.items() if number not in given_up)

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
        """Two sets combined by ``AND``, ``OR`` or ``MINUS`` of ``diagrams.py``."""
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

    def _tally(self, number: int, top: Level, root: int) -> None:
        """Count the strings of a grid, or of a part of it, by the diagram of their kinds, which is not kept."""
        for kind in _values(top, root) - NO_DIVERGENCE:
            members = top.where(root, kind)
            count, least = top.count(members), self._least(number, top, members)
            before, *others = self.tallies.get(kind, (0,))
            self.tallies[kind] = before + count, least_of((least, *others))

    def _least(self, number: int, top: Level, node: int) -> Place:
        octets, place = top.least(node)
        return octets, number, index_of(self.plan.grids[number], place)


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


_OF_VERDICTS = (REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED)
_OF_WELL_FORMED = (REFUSED_WELL_FORMED, OTHER_OUTPUT)
_DRAWN = 64
"""The strings of a set that may show further causes."""
_TRIED = 16
"""A dialect is tried on so many strings of each kind before it is tried on all."""


def summarise(plan: Plan, expected: ExpectedAnswers, results: Iterable[ShardResult]) -> list[DivergentSet]:
    """The divergences of a plan, in the order of their kinds and examples.

    Strings that were not judged or not asked are no divergences, and are omitted; so are shards without a result.

    Args:
        plan: the plan that was asked.
        expected: the expected answers.
        results: those of its shards, in any order. They are read one at a time.

    Raises:
        ValueError: a result does not belong to its shard; the message names the shard.
    """
    gathered = Gathered(plan, results)
    if not gathered.kinds:
        return []
    of_kind = {kind: gathered.with_value(gathered.roots, kind) for kind in gathered.kinds}
    dialects = tuple(_dialects(gathered, of_kind, expected.automaton))
    by_defect = _by_defect(gathered) if any(map(_has_errors, gathered.kinds)) else {}
    found: list[DivergentSet] = []
    for kind in gathered.kinds:
        named = dialects if kind in _OF_VERDICTS else ()
        for defect, count, (octets, *place), members in _sets(gathered, of_kind[kind], kind, by_defect):
            some = gathered.drawn(members, _DRAWN)
            drawn = tuple((plan.grids[grid].string(index), _where(plan, grid, index)) for grid, index in some)
            found.append(DivergentSet(kind, count, octets, _where(plan, *place), defect, named, drawn))
    return sorted(found, key=lambda each: (each.kind, shortlex(each.example), each.defect))


def _where(plan: Plan, grid: int, index: int) -> Where:
    return Where(grid, index, plan.grids[grid].asked_before(index))


def _has_errors(kind: int) -> bool:
    """True if the strings of a kind are told apart by their first error."""
    return kind not in _OF_WELL_FORMED and kind < BROKEN


def _by_defect(gathered: Gathered) -> dict[str, Members]:
    """The strings by the defect of their first error, in the order of the codes."""
    defects, codes = first_defects(gathered.plan.profile.dialect)
    said = gathered.said_by(defects)
    return {code: gathered.with_value(said, codes.index(code) + 1) for code in sorted(codes)}


def _sets(
    gathered: Gathered, members: Members, kind: int, by_defect: dict[str, Members]
) -> Iterator[tuple[str, int, Place, Members]]:
    """The sets of a kind, whose strings are ``members``.

    Each has a defect, the number of its strings, the least of them, and the strings; none if some are only counted.
    """
    tally = gathered.tallies.get(kind)
    if tally is not None:  # grids without diagrams
        count, least = tally
        if any(members.values()):
            count, least = count + gathered.count(members), least_of((least, gathered.least(members)))
        yield "", count, least, {}
        return
    parts = {"": members}
    if _has_errors(kind):
        parts = {code: gathered.combined(members, wrong, AND) for code, wrong in by_defect.items()}
    for code, part in parts.items():
        if any(part.values()):
            yield code, gathered.count(part), gathered.least(part), part


def _dialects(gathered: Gathered, of_kind: dict[int, Members], automaton: Automaton) -> Iterator[str]:
    """The dialects that accept the same strings as the target; none if the verdict on some string is unknown."""
    if gathered.tallies or max(of_kind) >= BROKEN or of_kind.keys().isdisjoint(_OF_VERDICTS):
        return
    none = dict.fromkeys(gathered.roots, 0)
    refused, wrong = (of_kind.get(kind, none) for kind in _OF_VERDICTS)
    right = gathered.said_by(language(automaton))
    accepted = gathered.combined(gathered.combined(right, refused, MINUS), wrong, OR)
    wanted = {
        gathered.plan.grids[grid].string(index): members is wrong
        for members in (refused, wrong)
        for grid, index in gathered.drawn(members, _TRIED)
    }
    for name in DIALECTS:
        spoken = dialect(name).automaton
        if any(spoken.accepts(octets) != accepts for octets, accepts in wanted.items()):
            continue
        if not equivalent(spoken, automaton) and gathered.said_by(language(spoken)) == accepted:
            yield name
