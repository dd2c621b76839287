"""Where inputs diverge, as far as one look at their octets tells: what divergences of one cause often share.

Of an ill-formed input it is the state of the automaton and the class of octets at its first flaw; of a well-formed one
what its characters begin with, if those are of few kinds; and of both, roughly, how far in that is or how long it is.
"""

from __future__ import annotations

import ctypes
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.reference.core import core, why_not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.reference.automaton import Automaton

_ENOUGH = 256
"""Inputs from which on the core is worth being asked."""
_KINDS_OF_LEADS = 16
"""Kinds of leads that a mask has room for."""
_MANY = (1 << _KINDS_OF_LEADS) - 1
"""The mask of more kinds of leads than two."""
_SHORT, _BLOCK = 16, 64
"""Octets: of most fast paths, and of a cache line, on which others work."""
_END = 1 << 8
"""A class of octets that there is not: the input has ended."""
_FLAW = 1 << 31
"""Marks the key of an ill-formed input, before state, class and distance."""


class InputPlaces:
    """Keys of divergent inputs, and what they mean in words."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._dead = len(automaton) if automaton.dead is None else automaton.dead
        self._table = bytes(state for row in automaton.table for state in row)
        self._accepting = bytes(automaton.accepting)
        self._words: dict[int, str] = {}
        classes = [0] * 256
        for number, each in enumerate(automaton.classes):
            for octet in each.octets:
                classes[octet] = number
        self._classes = bytes(classes)

    def keys(self, lengths: array[int], octets: bytes, kinds: bytes) -> Sequence[int]:
        """For each input a key, 0 where its kind is 0.

        Args:
            lengths: octets of each.
            octets: all of them.
            kinds: of each; those that agree are not looked at.
        """
        ends = array("q", accumulate(lengths))
        tables = self._table, self._accepting, self._classes
        found = array("I", bytes(4 * len(kinds)))
        if len(kinds) < _ENOUGH or why_not():
            _read(octets, ends, kinds, *tables, self._dead, found)
        else:
            by = array("Q", (*map(_address, tables), self._dead))
            columns = ends.buffer_info()[0], _address(octets), _address(kinds), found.buffer_info()[0]
            core()("find_places", by.buffer_info()[0], len(kinds), *columns)
        return found

    def classes_of(self, octets: bytes) -> bytes:
        """The number of the class of each octet."""
        return octets.translate(self._classes)

    def words(self, key: int) -> str:
        """What a key means."""
        if key not in self._words:
            self._words[key] = self._put(key)
        return self._words[key]

    def _put(self, key: int) -> str:
        if key & _FLAW:
            state, which, distance = key >> 24 & 0x7F, key >> 8 & 0xFFFF, key & 0xFF
            classes = self._automaton.classes
            octet = str(classes[which]) if which < len(classes) else "the end"
            return f"state {state}, {octet}, {_DISTANCES[distance]}"
        mask, length, is_behind = key & _MANY, key >> 16 & 3, key >> 18 & 1
        leads = [str(each) for number, each in enumerate(self._automaton.classes) if mask >> number & 1]
        kinds = "many kinds of characters" if mask == _MANY else ", ".join(leads) or "single octets"
        return f"{kinds}, {_LENGTHS[length]}{', behind a filler' if is_behind else ''}"


_DISTANCES = ("at the start", f"within {_BLOCK} octets", f"behind {_BLOCK} octets")
_LENGTHS = (f"below {_SHORT} octets", f"of {_SHORT} to {_BLOCK - 1} octets", f"of {_BLOCK} octets or more")


def _address(octets: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(octets), ctypes.c_void_p).value or 0


def _read(
    octets: bytes, ends: array[int], kinds: bytes, table: bytes, accepting: bytes, classes: bytes, dead: int,
    keys: array[int],
) -> None:  # fmt: skip
    """Fill in the keys, as ``columns.c`` of the core does."""
    start = 0
    for number in range(len(ends)):
        end = ends[number]
        if kinds[number] == 0:
            start = end
            continue
        state, last, mask, count, first, place = 0, start, 0, 0, -1, start
        which = _END
        before = 0
        while place < end:
            octet = octets[place]
            before, state = state, table[state * 256 + octet]
            if state == dead:
                which = classes[octet]
                break
            place += 1
            if accepting[state]:
                last = place
            elif place - last == 1:
                bit = 1 << min(classes[octet], _KINDS_OF_LEADS - 1)
                if not mask & bit:
                    mask |= bit
                    count += 1
                if first < 0:
                    first = last - start
        if accepting[state] and state != dead:
            length = end - start
            size = 0 if length < _SHORT else 1 if length < _BLOCK else 2
            behind = 1 if first >= _SHORT - 1 else 0
            keys[number] = (_MANY if count > 2 else mask) | size << 16 | behind << 18
        else:
            if which == _END:
                before = state
            distance = 0 if last == start else 1 if last - start < _BLOCK else 2
            keys[number] = _FLAW | before << 24 | which << 8 | distance
        start = end
