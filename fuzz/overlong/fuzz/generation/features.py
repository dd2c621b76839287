"""Features of the reference that octets reach: transitions of its automaton, and their approximate place in the input.

Octets are read as by a replacing decoder: if an octet cannot continue a character, it is read again from the start
state; so octets after an error reach features, too. A feature is a number: a
state, then a class of octets (or the end of the input), then a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.generation.reading import PLACES, FeatureReading, place_of, reading_of
from overlong.reference.core import why_not
from overlong.reference.dialect import Dialect, dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ENOUGH = 1 << 12
"""The least octets for which asking the core pays."""


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
        from overlong.fuzz.generation.compiled import first_to_reach as compiled

        return compiled(lengths, octets, reading_of(spoken))
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
