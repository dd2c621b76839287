# pyright: basic
"""Where inputs diverge, as far as one look at their octets tells: what divergences of one cause often share.

Of an ill-formed input these are the classes of octets at its first flaw: where the character begins, and where it
breaks off; of a well-formed one what its characters begin with, if those are of few kinds.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.columnar import ColumnReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from overlong.conformance.vectors.vector import Vector
    from overlong.reference.automaton import Automaton

_FLAW = 1 << 31
"""Marks the key of an ill-formed input, before the octets of its flaw and two classes."""
_FEW = 2
"""The most kinds of characters that are told apart."""


class InputPlaces:
    """Keys of divergent inputs, and what they mean in words."""

    def __init__(self, automaton: Automaton) -> None:
        self._reader = ColumnReader(automaton)
        self._words = dict[int, str]()
        self._names = [*(",".join(map(str, each.ranges)) for each in automaton.classes), "the end"]
        self._classes = np.zeros(256, np.uint32)
        for number, each in enumerate(automaton.classes):
            self._classes[list(each.octets)] = number
        first = np.array(automaton.table[0])
        begins = ~np.array(automaton.accepting)[first] & (first != automaton.dead)
        self._leads = np.where(begins, 1 << self._classes, 0).astype(np.uint32)

    def keys(self, lengths: Sequence[int], octets: bytes) -> NDArray[np.uint32]:
        """A key for each of some inputs, given the length of each, and all octets in a row."""
        sizes, flat = np.array(lengths, np.uint32), np.frombuffer(octets + b"\0", np.uint8)
        ends = np.cumsum(sizes, dtype=np.int64)
        starts = ends - sizes
        read = self._reader.read(octets, sizes)
        kinds = np.where(sizes, np.bitwise_or.reduceat(self._leads[flat], starts), 0) if len(sizes) else sizes
        rest = kinds
        for _ in range(_FEW):
            rest = rest & (rest - 1)
        kinds = np.where(rest, _FLAW - 1, kinds)
        end = np.uint32(len(self._names) - 1)
        begins, breaks = (
            np.where(at < ends, self._classes[flat[np.minimum(at, len(flat) - 1)]], end)
            for at in (starts + read.last, starts + read.live)
        )
        return np.where(read.accepted, kinds, _FLAW | (read.live - read.last) << 16 | begins << 8 | breaks)

    def words(self, key: int) -> str:
        """What a key means."""
        if key not in self._words:
            self._words[key] = self._put(key)
        return self._words[key]

    def _put(self, key: int) -> str:
        if key & _FLAW:
            begins, breaks = (self._names[key >> shift & 0xFF] for shift in (8, 0))
            read = key >> 16 & 0xFF
            return " ".join([begins, *["tail"] * (read - 1), breaks]) if read else breaks
        leads = [name for number, name in enumerate(self._names) if key >> number & 1]
        return "many kinds of characters" if key == _FLAW - 1 else " or ".join(leads) or "ASCII"


@cache
def _places(automaton: Automaton) -> InputPlaces:
    return InputPlaces(automaton)


def place_of(vector: Vector) -> str:
    """The place of one input, in words."""
    places = _places(vector.profile.dialect.automaton)
    (key,) = places.keys([len(vector.octets)], vector.octets).tolist()
    return places.words(key)
