# pyright: basic
"""Features of the reference that octets reach: transitions of its automaton, and their approximate place in the input.

Octets are read as by a replacing decoder: if an octet cannot continue a character, it is read again from the start
state; so octets after an error reach features, too. A feature is a number: a state, then a class of octets (or the end
of the input), then a place.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS
from overlong.reference.core import core, why_not
from overlong.reference.dialect import Dialect, dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
ENOUGH = 1 << 12
"""The least octets for which asking the core pays."""
_NONE = 1 << 62
"""No input has as many octets."""


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
    """How to read octets for features of a dialect."""
    automaton = spoken.automaton
    width, dead = len(automaton.classes) + 1, automaton.dead
    number = {octet: place for place, octets in enumerate(automaton.classes) for octet in octets.octets}
    starts = tuple((state * width + number[octet]) * len(PLACES) for state in range(len(automaton)) for octet in OCTETS)
    nexts = tuple(to if to != dead else -1 if state else 0 for state, row in enumerate(automaton.table) for to in row)
    return FeatureReading(width, starts, nexts, tuple(state for state in range(len(automaton)) if state != dead))


def features_of(octets: bytes, spoken: Dialect | None = None) -> frozenset[int]:
    """The features that octets reach, in a dialect or RFC 3629's."""
    spoken = spoken or dialect()
    if len(octets) >= ENOUGH and not why_not():
        return frozenset(first_to_reach([len(octets)], octets, spoken))
    return frozenset(_reached(octets, reading_of(spoken)))


def edges(features: Iterable[int], spoken: Dialect | None = None) -> tuple[int, int]:
    """The number of transitions among the features, and the number of all: states times classes."""
    reading = reading_of(spoken or dialect())
    reached = {feature // len(PLACES) for feature in features}
    ends = reading.width - 1
    return sum(edge % reading.width != ends for edge in reached), len(reading.alive) * ends


def first_to_reach(lengths: Sequence[int], octets: bytes, spoken: Dialect | None = None) -> dict[int, int]:
    """The features that inputs reach, and for each the first of the shortest inputs that reach it.

    Args:
        lengths: the octets of each input, as in ``Generated.columns``.
        octets: all octets, in a row.
        spoken: their dialect; RFC 3629's if there is none.

    Returns:
        the input's place among them, by ascending feature.
    """
    spoken = spoken or dialect()
    if len(octets) >= ENOUGH and not why_not():
        return _by_core(lengths, octets, reading_of(spoken))
    reading, shortest = reading_of(spoken), dict[int, tuple[int, int]]()
    at = 0
    for index, length in enumerate(lengths):
        for feature in _reached(octets[at : at + length], reading):
            shortest[feature] = min(shortest.get(feature, (length, index)), (length, index))
        at += length
    return {feature: shortest[feature][1] for feature in sorted(shortest)}


def _reached(octets: bytes, reading: FeatureReading) -> Iterator[int]:
    state = 0
    for offset, octet in enumerate(octets):
        place = place_of(offset)
        yield reading.starts[state << 8 | octet] + place
        state = reading.nexts[state << 8 | octet]
        if state < 0:
            yield reading.starts[octet] + place
            state = reading.nexts[octet]
    yield (state * reading.width + reading.width - 1) * len(PLACES) + place_of(len(octets))


def _by_core(lengths: Sequence[int], octets: bytes, reading: FeatureReading) -> dict[int, int]:
    """:func:`first_to_reach`, by the core in C (needs NumPy)."""
    import numpy as np

    starts, nexts = np.array(reading.starts, np.int64), np.array(reading.nexts, np.int64)
    columns = np.array(lengths, np.int64), np.frombuffer(octets, np.uint8)
    shortest = np.full(len(starts) // 256 * reading.width * len(PLACES), _NONE, np.int64)
    found = np.full_like(shortest, -1)
    places = np.array([place_of(offset) for offset in range(_BLOCK * (_BLOCKS + 1))], np.int64)  # and so on
    addresses = (each.ctypes.data for each in (starts, nexts, places))
    of = np.array((*addresses, reading.width, len(PLACES), shortest.ctypes.data, found.ctypes.data), np.int64)
    core()("reach_features", of.ctypes.data, len(lengths), *(each.ctypes.data for each in columns))
    return {int(feature): int(found[feature]) for feature in np.flatnonzero(found >= 0)}
