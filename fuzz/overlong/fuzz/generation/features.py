"""Features of the reference that octets reach: transitions of its automaton, and their approximate place in the input.

Octets are read as by a replacing decoder: if an octet cannot continue a character, it is read again from the start
state; so octets after an error reach features, too. A feature is a number: a
state, then a class of octets (or the end of the input), then a place.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from overlong.fuzz.generation.reading import PLACES, FeatureReading, place_of, reading_of
from overlong.reference.automaton import OCTETS
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


def count(spoken: Dialect | None = None) -> int:
    """The number of features."""
    reading = reading_of(spoken or dialect())
    return reading.width * (len(reading.alive) * (len(PLACES) - 1) + 1)  # the start has a single state


def edges(features: Iterable[int], spoken: Dialect | None = None) -> tuple[int, int]:
    """The number of transitions among the features, and the number of all: states times classes."""
    reading = reading_of(spoken or dialect())
    reached = {feature // len(PLACES) for feature in features}
    ends = reading.width - 1
    return sum(edge % reading.width != ends for edge in reached), len(reading.alive) * ends


def in_words(feature: int, spoken: Dialect | None = None) -> str:
    """``80-8F behind E0, at the start``: a feature in words."""
    spoken = spoken or dialect()
    reading = reading_of(spoken)
    edge, place = divmod(feature, len(PLACES))
    state, number = divmod(edge, reading.width)
    classes = spoken.automaton.classes
    what = str(classes[number]) if number < len(classes) else "the end"
    return f"{what} {_behind(state, spoken)}, {PLACES[place]}"


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
        from overlong.fuzz.generation.compiled_features import first_to_reach as compiled

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


@cache
def _behind(state: int, spoken: Dialect) -> str:
    """The octets that lead to a state, by the shortest path."""
    automaton = spoken.automaton
    if state == 0:
        return "where a character begins"
    ways: dict[int, tuple[str, ...]] = {0: ()}
    queue = [0]
    for at in queue:
        for to in dict.fromkeys(automaton.table[at]):
            if to not in ways:
                leads = [octet for octet in OCTETS if automaton.table[at][octet] == to]
                breaks = [0, *(place + 1 for place, pair in enumerate(pairwise(leads)) if pair[1] != pair[0] + 1)]
                runs = [leads[start:end] for start, end in pairwise([*breaks, len(leads)])]
                spelt = ",".join(f"{run[0]:02X}" if len(run) == 1 else f"{run[0]:02X}-{run[-1]:02X}" for run in runs)
                ways[to] = (*ways[at], spelt)
                queue.append(to)
    return f"after {' '.join(ways[state])}"
