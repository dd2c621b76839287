# pyright: basic
"""Find the inputs of columns that reach features of the reference: :mod:`.features`, compiled by Numba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.fuzz.generation.reading import PLACES, place_of
from overlong.reference.native.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.generation.reading import FeatureReading

_NONE = 1 << 62
_NEAR, _AGAIN = 64, 16
"""From the first offset on, an offset has the place of the one some octets before."""


def first_to_reach(lengths: Sequence[int], octets: bytes, reading: FeatureReading) -> dict[int, int]:
    """The compiled :func:`overlong.fuzz.generation.features.first_to_reach`."""
    starts, nexts = np.array(reading.starts, np.int64), np.array(reading.nexts, np.int64)
    columns = np.array(lengths, np.int64), np.frombuffer(octets, np.uint8)
    shortest = np.full(len(starts) // 256 * reading.width * len(PLACES), _NONE, np.int64)
    found = np.full_like(shortest, -1)
    places = np.array([place_of(offset) for offset in range(_NEAR + _AGAIN)], np.int64)
    _reach(*columns, starts, nexts, places, reading.width, len(PLACES), shortest, found)
    return {int(feature): int(found[feature]) for feature in np.flatnonzero(found >= 0)}


@compiled
def _reach(
    lengths: Any, octets: Any, starts: Any, nexts: Any, places: Any, width: int, placed: int, shortest: Any, found: Any
) -> None:
    """Set for each feature the length and the number of the shortest input that reaches it."""
    at = 0
    for index in range(len(lengths)):
        length = lengths[index]
        state = 0
        for offset in range(length):
            octet = np.int64(octets[at + offset])
            place = places[offset if offset < _NEAR else _NEAR + offset % _AGAIN]
            read = state << 8 | octet
            feature = starts[read] + place
            if length < shortest[feature]:
                shortest[feature], found[feature] = length, index
            state = nexts[read]
            if state < 0:
                feature = starts[octet] + place
                if length < shortest[feature]:
                    shortest[feature], found[feature] = length, index
                state = nexts[octet]
        feature = (state * width + width - 1) * placed + places[length if length < _NEAR else _NEAR + length % _AGAIN]
        if length < shortest[feature]:
            shortest[feature], found[feature] = length, index
        at += length
