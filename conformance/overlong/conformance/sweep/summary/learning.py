# pyright: basic
"""The automaton that a target behaves like, from its verdicts on every string of up to so many octets.

Prefixes are taken in shortlex order, and one is taken for another as soon as all that is known of what may follow
them is equal (Trakhtenbrot and Barzdin 1973, for complete data); diagrams make that a comparison of numbers. The
result is then compared with every verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.sweep.summary.diagram import Level

MOST_STATES = 64


def learned(accepted: Sequence[tuple[Level, int]], *, empty: bool) -> Automaton | None:
    """The automaton of the least prefixes that all differ; whether it is right is for the caller to see.

    Args:
        accepted: the accepted strings of 1 octet, of 2 octets and so on.
        empty: whether the string of no octets is accepted.

    Returns:
        None if it has more than :data:`MOST_STATES` states, or the strings are too short to tell.
    """
    levels = [level for level, _ in accepted]
    start = (int(empty), *(node for _, node in accepted))
    states: list[tuple[int, ...]] = [start]  # of each, the sets of what makes it accept: of no octets, of one, ...
    table: list[tuple[int, ...]] = []
    for state in states:
        if len(state) == 1:
            return None
        columns = zip(*(levels[height].row(node).tolist() for height, node in enumerate(state[1:])), strict=True)
        known: dict[tuple[int, ...], int] = {}
        row: list[int] = []
        for column in columns:
            if column not in known:
                alike = (number for number, other in enumerate(states) if other[: len(column)] == column)
                number = next(alike, len(states))
                if number == len(states):
                    states.append(column)
                known[column] = number
            row.append(known[column])
        if len(states) > MOST_STATES:
            return None
        table.append(tuple(row))
    return Automaton(tuple(table), tuple(bool(state[0]) for state in states), (frozenset(),) * len(states)).minimal()
