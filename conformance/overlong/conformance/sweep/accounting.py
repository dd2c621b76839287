"""Counts the well-formed strings of a grid without making any: a product of matrices.

A piece leads from each state of the automaton to one state. So an axis is a matrix that counts, for two states, the
choices that lead from one to the other, and a grid is the product of its axes' matrices. A sweep's counts must equal
this result; otherwise the sweep did not run as planned.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.results.shard import NOTHING, Account

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.sweep.grid import Grid
    from overlong.reference.automaton import Automaton

_PART = 240  # octets: a multiple of the length of every filler


def account(grid: Grid, automaton: Automaton) -> Account:
    """The sums over the strings of a grid, by counting alone."""
    judged = grid.axes[grid.earlier :]
    runs, reached = _runs(automaton), [0] * len(automaton)
    reached[0] = grid.size
    for axis in judged:
        after = [0] * len(automaton)
        for state, ways in enumerate(reached):
            if state == automaton.dead:
                after[state] += ways
            elif ways:
                each, known = ways // len(axis), runs.known[state]
                for choice in axis.choices:
                    to = known.get(choice)
                    after[runs.after(choice, state) if to is None else to] += each
        reached = after
    octets = grid.size * grid.between + sum(grid.size // len(axis) * sum(map(len, axis.choices)) for axis in judged)
    well_formed = sum(ways for state, ways in enumerate(reached) if automaton.accepting[state])
    return Account(grid.size, octets, well_formed)


class _Runs:
    """An automaton over pieces. Long pieces consist of fillers, so few of their parts differ, and each is read once."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self.known: list[dict[bytes, int]] = [{} for _ in range(len(automaton))]
        """For each state, those after the parts that were read."""

    def after(self, octets: bytes, state: int) -> int:
        """The state after some octets."""
        for start in range(0, len(octets), _PART):
            if state == self._automaton.dead:
                break
            part = octets[start : start + _PART]
            known = self.known[state]
            if part not in known:
                known[part] = self._automaton.run(part, state)
            state = known[part]
        return state


@cache
def _runs(automaton: Automaton) -> _Runs:
    """The plans of a sweep have many pieces in common."""
    return _Runs(automaton)


def total(accounts: Sequence[Account]) -> Account:
    """The sum of several accounts."""
    return Account(*map(sum, zip(*accounts, strict=True))) if accounts else NOTHING
