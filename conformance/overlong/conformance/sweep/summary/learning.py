# pyright: basic
"""Infers the automaton that a target behaves like from its verdicts.

From all strings up to a length, it takes the prefixes in shortlex order, and merges two prefixes if everything known
about their continuations is equal (Trakhtenbrot and Barzdin 1973, for complete data); diagrams make that a comparison
of numbers. From a complete suite, it takes the access words first. The caller then compares the result with every
verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.summary.diagram import Level

MOST_STATES = 64
_OCTETS = tuple(bytes([octet]) for octet in range(256))
_Known = tuple[int, ...]
"""For a prefix, its accepted continuations: those of no octet, of one, and so on, as far as they were asked."""


def learned(accepted: Sequence[tuple[Level, int]], *, empty: bool) -> Automaton | None:
    """The automaton of the least prefixes that all differ; the caller checks that it is right.

    Args:
        accepted: the accepted strings of 1 octet, of 2 octets and so on.
        empty: True if the empty string is accepted.

    Returns:
        None if it has more than :data:`MOST_STATES` states, or the strings are too short to determine it.
    """
    start = (int(empty), *(node for _, node in accepted))
    return _folded([start], [level for level, _ in accepted], bool)


def is_suite(grids: Sequence[Grid]) -> bool:
    """True if each grid is an access word, then any string of no octet, of one, and so on, then a word."""
    words = grids[0].axes[-1].choices
    return b"" in words and all(
        len(grid.axes) == number
        and not grid.earlier
        and grid.axes[0].choices[:1] == (b"",)
        and (grid.axes[0].choices, grid.axes[-1].choices) == (grids[0].axes[0].choices, words)
        and all(axis.choices == _OCTETS for axis in grid.axes[1:-1])
        for number, grid in enumerate(grids, 2)
    )


def learned_by_suite(accepted: Sequence[tuple[Sequence[Level], int]]) -> Automaton | None:
    """The same for the grids of a complete suite: their levels, and the accepted strings of each."""
    levels = [below[1] for below, _ in accepted]
    known = list(zip(*(below[0].row(node).tolist() for below, node in accepted), strict=True))
    empty = levels[0].choices.index(b"")
    return _folded(known, levels[1:], lambda node: bool(levels[0].row(node)[empty]))


def _folded(known: Sequence[_Known], levels: Sequence[Level], accepts: Callable[[int], bool]) -> Automaton | None:
    """The automaton of the prefixes that all differ.

    Args:
        known: for some prefixes, the first of them empty.
        levels: those of their sets of one octet, of two, and so on.
        accepts: True if the first of a prefix's sets means that the prefix is accepted.
    """
    states, others = [known[0]], known[1:]
    table: list[tuple[int, ...]] = []
    for state in states:
        if len(state) == 1:
            return None
        columns = zip(*(levels[height].row(node).tolist() for height, node in enumerate(state[1:])), strict=True)
        numbers: dict[_Known, int] = {}
        row: list[int] = []
        for column in columns:
            if column not in numbers:
                alike = (number for number, other in enumerate(states) if other[: len(column)] == column)
                number = next(alike, len(states))
                if number == len(states):
                    states.append(next((other for other in others if other[: len(column)] == column), column))
                numbers[column] = number
            row.append(numbers[column])
        if len(states) > MOST_STATES:
            return None
        table.append(tuple(row))
    accepting = tuple(accepts(state[0]) for state in states)
    return Automaton(tuple(table), accepting, (frozenset(),) * len(states)).minimal()
