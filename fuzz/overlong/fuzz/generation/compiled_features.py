# pyright: basic
"""Find the inputs of columns that reach features of the reference: :mod:`.features`, by the core in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlong.fuzz.generation.reading import PLACES, place_of
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.generation.reading import FeatureReading

_NONE = 1 << 62
_NEAR, _AGAIN = 64, 16
"""From the first offset on, an offset has the place of the one some octets before."""


def first_to_reach(lengths: Sequence[int], octets: bytes, reading: FeatureReading) -> dict[int, int]:
    """:func:`overlong.fuzz.generation.features.first_to_reach`."""
    starts, nexts = np.array(reading.starts, np.int64), np.array(reading.nexts, np.int64)
    columns = np.array(lengths, np.int64), np.frombuffer(octets, np.uint8)
    shortest = np.full(len(starts) // 256 * reading.width * len(PLACES), _NONE, np.int64)
    found = np.full_like(shortest, -1)
    places = np.array([place_of(offset) for offset in range(_NEAR + _AGAIN)], np.int64)
    addresses = (each.ctypes.data for each in (starts, nexts, places))
    of = np.array((*addresses, reading.width, len(PLACES), shortest.ctypes.data, found.ctypes.data), np.int64)
    core()("reach_features", of.ctypes.data, len(lengths), *(each.ctypes.data for each in columns))
    return {int(feature): int(found[feature]) for feature in np.flatnonzero(found >= 0)}
