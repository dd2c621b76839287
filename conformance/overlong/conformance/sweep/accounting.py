"""Counts the well-formed strings of a grid without making any: a product of matrices.

A piece leads from each state of the automaton to one state. So an axis is a matrix that counts, for two states, the
choices that lead from one to the other, and a grid is the product of its axes' matrices. A sweep's counts must equal
this result; otherwise the sweep did not run as planned.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.results.sweeps import NOTHING, Account

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.sweep.grid import Grid
    from overlong.reference.automaton import Automaton

_PART = 240  # octets: a multiple of the length of every filler


def account(grid: Grid, automaton: Automaton) -> Account:
    """The sums over the strings of a grid, by counting alone."""
    judged = grid.axes[grid.earlier :]
    reached, known = [0] * len(automaton), _known(automaton)
    reached[0] = grid.size
    for axis in judged:
        after = [0] * len(automaton)
        for state, ways in enumerate(reached):
            if state == automaton.dead:
                after[state] += ways
            elif ways:
                each = ways // len(axis)
                for choice in axis:
                    to = known[state].get(choice)
                    after[_after(choice, state, automaton) if to is None else to] += each
        reached = after
    octets = grid.size * grid.between + sum(grid.size // len(axis) * sum(map(len, axis)) for axis in judged)
    well_formed = sum(ways for state, ways in enumerate(reached) if automaton.accepting[state])
    return Account(grid.size, octets, well_formed)


@cache
def _known(automaton: Automaton) -> list[dict[bytes, int]]:
    """For each state, those after parts of pieces: the plans of a sweep have many pieces in common."""
    return [{} for _ in range(len(automaton))]


def _after(octets: bytes, state: int, automaton: Automaton) -> int:
    """The state after a piece. Long ones consist of fillers, so few of their parts differ, and each is read once."""
    known = _known(automaton)
    for start in range(0, len(octets), _PART):
        if state == automaton.dead:
            break
        part = octets[start : start + _PART]
        if part not in known[state]:
            known[state][part] = automaton.run(part, state)
        state = known[state][part]
    return state


def total(accounts: Sequence[Account]) -> Account:
    """The sum of several accounts."""
    return Account(*map(sum, zip(*accounts, strict=True))) if accounts else NOTHING
