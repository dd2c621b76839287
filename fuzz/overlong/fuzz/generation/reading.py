"""Read octets for features: a dialect's automaton as columns, and the places in an input."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from overlong.reference.dialect import Dialect

PLACES = (
    "at the start",
    "in the first 16 octets",
    "in the first 64 octets",
    "after the first 64 octets",
    "at an edge of 16 octets",
    "at an edge of 16 octets, after the first 63",
)
_BLOCK, _BLOCKS = 16, 4
"""The octets of a block, and the number of blocks that count as near."""


class FeatureReading(NamedTuple):
    """A dialect's automaton as columns."""

    width: int
    """The number of classes of octets, and one for the end."""
    starts: tuple[int, ...]
    """For each state and octet (``state << 8 | octet``) the feature at place 0."""
    nexts: tuple[int, ...]
    """The next state; below 0 if state 0 reads the octet again."""
    alive: tuple[int, ...]
    """The states from which some word is accepted."""


def place_of(offset: int) -> int:
    """The place number of an offset."""
    if offset == 0:
        return 0
    is_far = offset >= _BLOCK * _BLOCKS
    if (offset + 1) % _BLOCK <= 1:
        return 5 if is_far else 4
    return 3 if is_far else 2 if offset >= _BLOCK else 1


@cache
def reading_of(spoken: Dialect) -> FeatureReading:
    automaton = spoken.automaton
    width, dead = len(automaton.classes) + 1, automaton.dead
    number = {octet: place for place, octets in enumerate(automaton.classes) for octet in octets.octets}
    starts = tuple((state * width + number[octet]) * len(PLACES) for state in range(len(automaton)) for octet in OCTETS)
    nexts = tuple(to if to != dead else -1 if state else 0 for state, row in enumerate(automaton.table) for to in row)
    return FeatureReading(width, starts, nexts, tuple(state for state in range(len(automaton)) if state != dead))
