# pyright: basic
"""The places of errors: offsets, lengths and surroundings for all strings of a plan, and descriptions by them.

A table has one row for all strings that agree in first error, its offset, length and surroundings. The row counts
these strings, and those with each kind of divergence. A description by some columns is right if all strings that it
covers are in the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.examination.arithmetic import Numbers
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.summary.languages import Language, OctetRun
    from overlong.conformance.sweep.summary.members import Strings
    from overlong.reference.automaton import Automaton

    Column = np.ndarray[Any, np.dtype[Any]]

MOST_STRINGS = 1 << 26
"""The strings of a larger plan are not read one by one."""
FILLER = "octets of the filler"
"""The name that plans give the length of the characters before the error."""
_CHUNK = 1 << 20
_MOST_WHOLE = 1 << 17
"""The most well-formed strings that are read one by one."""
BLOCKS = (8, 16, 32, 64, 128, 256)
ACROSS = (*(f"a multiple of {block}" for block in BLOCKS), *(f"offset {block}" for block in BLOCKS))
"""The boundaries that a character of a well-formed string can cross."""
_SHORT = 4
_MOST_ROWS = 1 << 19
_BITS = {"error": 14, "pattern": 8, "offset": 17, "length": 17, "text": 8}


@dataclass(frozen=True, eq=False)
class Places:
    """The table, by columns."""

    error: Column
    """A number of ``FirstErrors.errors``; -1 for well-formed strings."""
    pattern: Column
    """The value that the language of patterns gives the strings."""
    offset: Column
    """The offset of the error. For well-formed strings: the boundaries that a character crosses, as bits."""
    length: Column
    text: Column
    """The octets of the characters before it, or the number of the string asked before."""
    strings: Column
    kinds: dict[int, Column]
    """For each kind, the number of strings that have it."""


def places(
    strings: Strings,
    errors: Language,
    patterns: Language,
    wanted: Column,
    kinds: Sequence[int],
    automaton: Automaton,
) -> Places | None:
    """The table of the relevant strings of a plan.

    Args:
        strings: those of the plan.
        errors: the language of ``FirstErrors``.
        patterns: a further distinction. Strings with a value other than 0 are relevant.
        wanted: the first errors whose strings are relevant; the first entry is for well-formed strings.
        kinds: the kinds to count.
        automaton: the expected one.

    Returns:
        None if the plan is too large, its strings are too long, or too few of them share a row.
    """
    size = sum(grid.size for grid in strings.grids.values())
    too_long = any(grid.longest >= 1 << _BITS["length"] for grid in strings.grids.values())
    if size > MOST_STRINGS or too_long or len(wanted) >= 1 << _BITS["error"]:
        return None
    # in UTF-8 a lead is never inside a character
    begins = bytes(octet for octet in range(256) if automaton.table[0][octet] != automaton.dead)
    looked_at = rows = 0
    found: list[tuple[Column, ...]] = []
    for number, grid in strings.grids.items():
        runs, others_runs = strings.runs(number, errors, marks=True), strings.runs(number, patterns)
        said = zip(_final(runs, grid.size), _final(others_runs, grid.size), strict=True)
        for (first, ends), (_, other_ends) in said:
            index = first + np.flatnonzero(wanted[errors.says[ends] + 1] | (patterns.says[other_ends] > 0))
            for start in range(0, len(index), _CHUNK):
                part = index[start : start + _CHUNK]
                states, others, *features = _features(grid, part, runs, others_runs)
                columns = [errors.says[states].astype(np.int64) + 1, patterns.says[others].astype(np.int64), *features]
                kind = _values(strings, number, part)
                columns[2][columns[0] == 0] = 0
                well_formed = np.flatnonzero((columns[0] == 0) & (columns[3] > BLOCKS[0]))
                looked_at += len(well_formed)
                if looked_at > _MOST_WHOLE:
                    return None
                columns[2][well_formed] = [_across(grid.string(int(each)), begins) for each in part[well_formed]]
                found.append(_grouped(columns, [np.ones(len(kind), np.int64), *(kind == each for each in kinds)]))
                rows += len(found[-1][0])
                if rows > _MOST_ROWS:
                    return None
    if not found:
        return None
    joined = [np.concatenate(part) for part in zip(*found, strict=True)]
    error, pattern, offset, length, text, count, *counts = _grouped(joined[:5], joined[5:])
    return Places(error - 1, pattern, offset, length, text, count, dict(zip(kinds, counts, strict=True)))


def _final(runs: Sequence[OctetRun], size: int) -> Iterator[tuple[int, Column]]:
    """The final states of a grid's strings, in runs: the number of the first string, and the states of the run."""
    states, rest, common = np.zeros(1, np.int64), size, 0
    while rest > _CHUNK:
        run = runs[common]
        states = run.to[np.searchsorted(run.states, states)].reshape(-1)
        rest //= run.to.shape[1]
        common += 1
    step = max(1, _CHUNK // rest)
    for start in range(0, len(states), step):
        after = states[start : start + step]
        for run in runs[common:]:
            after = run.to[np.searchsorted(run.states, after)].reshape(-1)
        yield start * rest, after


def _features(grid: Grid, index: Column, runs: Sequence[OctetRun], other_runs: Sequence[OctetRun]) -> list[Column]:
    """The final states of two automata on some strings, and the columns derived from them."""
    states, others, offset, length, text = (np.zeros(len(index), np.int64) for _ in range(5))
    left = grid.size
    for number, (axis, run, other) in enumerate(zip(grid.axes, runs, other_runs, strict=True)):
        left //= len(axis)
        choice = index // left % len(axis)
        if number < grid.earlier:
            text = text * len(axis) + choice
            continue
        if axis.reads[:1] == (FILLER,):
            text[:] = axis.labels[0][0]
        row = np.searchsorted(run.states, states)
        last = run.last[row, choice]
        offset = np.where(last >= 0, length + last, offset)
        states = run.to[row, choice]
        others = other.to[np.searchsorted(other.states, others), choice]
        length += np.array([len(each) for each in axis.choices])[choice]
    return [states, others, offset, length, np.minimum(text, (1 << _BITS["text"]) - 1)]


def _values(strings: Strings, number: int, index: Column) -> Column:
    """The kinds of some strings of a grid."""
    nodes = np.full(len(index), strings.gathered.roots[number])
    left = strings.grids[number].size
    for level in strings.levels(number):
        left //= level.width
        nodes = level.table[nodes, index // left % level.width]
    return nodes


def _across(octets: bytes, begins: bytes) -> int:
    """The boundaries that a character of a well-formed string crosses: a bit for each of :data:`ACROSS`."""
    ends = [octets[block::block] for block in BLOCKS] + [octets[block : block + 1] for block in BLOCKS]
    return sum(bool(each.translate(None, begins)) << bit for bit, each in enumerate(ends))


def _grouped(columns: list[Column], counts: list[Column]) -> tuple[Column, ...]:
    """The distinct rows of some columns, and the sums of the others over equal rows."""
    key = np.zeros(len(columns[0]), np.uint64)
    for column, bits in zip(columns, _BITS.values(), strict=True):
        key = key << np.uint64(bits) | column.astype(np.uint64)
    keys, which = np.unique(key, return_inverse=True)
    sums = [np.bincount(which, weights=count, minlength=len(keys)).astype(np.int64) for count in counts]
    fields: list[Column] = []
    for bits in reversed(_BITS.values()):
        fields.append((keys & np.uint64((1 << bits) - 1)).astype(np.int64))
        keys = keys >> np.uint64(bits)
    return (*reversed(fields), *sums)


@dataclass(frozen=True)
class Coordinate:
    """A column that a description can use."""

    words: Callable[[list[int], list[int]], Numbers]
    """The words for some of its values, given all of them."""
    values: Column


@dataclass(frozen=True)
class Placed:
    """A description by coordinates."""

    words: str
    exact: bool
    covered: int
    """The number of strings that it covers; if it is exact, all are in the set."""


def described(members: Column, strings: Column, coordinates: Sequence[Coordinate]) -> Placed:
    """Describe the rows whose strings are in a set by the fewest coordinates that are exact.

    Args:
        members: the number of each row's strings that are in the set; not all 0.
        strings: the number of each row's strings.
        coordinates: the properties that each row's strings share.
    """
    inside = members > 0
    allowed: list[Column] = []
    worded: list[Numbers] = []
    for each in coordinates:
        some, all_of_them = np.unique(each.values[inside]), np.unique(each.values)
        allowed.append(np.isin(each.values, some))
        worded.append(each.words(some.tolist(), all_of_them.tolist()))

    def covering(chosen: Sequence[int]) -> Column:
        covered = np.ones(len(members), bool)
        for each in chosen:
            covered &= allowed[each]
        return covered

    def phrase(chosen: Sequence[int]) -> str:
        return "".join(worded[each].words for each in chosen)

    telling = [number for number, words in enumerate(worded) if words.cost]
    best: tuple[int, tuple[int, ...]] | None = None
    for many in range(min(3, len(telling)) + 1):
        for chosen in combinations(telling, many):
            cost = sum(worded[each].cost for each in chosen) + many
            if best is not None and cost >= best[0]:
                continue
            covered = covering(chosen)
            if np.array_equal(members[covered], strings[covered]):
                best = cost, chosen
    if best is not None:
        return Placed(phrase(best[1]), exact=True, covered=int(strings[covering(best[1])].sum()))
    short: list[int] = []
    for number in telling:
        if worded[number].cost <= _SHORT and strings[covering([*short, number])].sum() < strings[covering(short)].sum():
            short.append(number)
    return Placed(phrase(short), exact=False, covered=int(strings[covering(short)].sum()))
