"""Which inputs are not asked any more, because a target dies, or hangs, of others like them.

A death costs a new process, and a hang all of the time limit. So in each block it is learned what a few of those inputs
have in common that nothing has which the target survived: two octets side by side, two classes of octets, a length.
Others that have it, too, are left out; all the rest of the block is asked. That is a pure function of the target's
answers to the block, wherever a campaign is cut.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TIMED_OUT
from overlong.fuzz.execution.job import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.generation.generated import Generated

DEATHS, HANGS = 3, 2
"""Inputs that fail and have something in common, after which others that have it are left out."""
ALL_DEATHS, ALL_HANGS = 64, 6
"""Inputs of a block that fail, after which nothing more of it is asked."""
_SIZES = (16, 64)
"""Octets from which on other code is at work: fast paths."""
_CLASSES, _SIZE = 1 << 16, 1 << 17
"""Mark what an input has that is no pair of octets: a pair of classes, a length."""
_EDGE = 0xFF
"""Stands for the start of an input, and for its end; no class of octets has that number."""


class Sparing:
    """Told of each input that a target fails on, in order, it says which ones are not to be asked."""

    def __init__(self, generated: Generated, first: int, end: int) -> None:
        """Nothing has failed; the inputs from ``first`` up to before ``end`` are asked."""
        self._generated = generated
        classes = generated.spoken.automaton.classes
        number_of = {octet: number for number, each in enumerate(classes) for octet in each.octets}
        self._class_of = bytes(number_of[octet] for octet in range(256))
        self._first, self._end = first, end
        self._start = -1
        """The first number of the block in which an input has failed; what follows is about places in it."""
        self._looked = 0
        self._has: list[frozenset[int]] = []
        self._survived, self._left_out = set[int](), set[int]()
        self._failed: dict[bool, list[int]] = {}

    def failed(self, index: int, kind: int) -> Sequence[int]:
        """Numbers behind ``index`` that are left out now, ascending.

        Args:
            index: of the input that was not answered; higher than any before.
            kind: ``CRASHED``, ``TIMED_OUT`` or ``MISBEHAVED`` (see ``oracle/target.py``).
        """
        if self._start != (start := index // BLOCK * BLOCK):
            self._begin(start)
        place = index - start
        for each in range(self._looked, place):
            if each not in self._left_out:
                self._survived |= self._has[each]
        self._looked = place + 1
        self._failed[kind == TIMED_OUT].append(place)
        rest = [each for each in range(place + 1, len(self._has)) if each not in self._left_out]
        if len(self._failed[False]) < ALL_DEATHS and len(self._failed[True]) < ALL_HANGS:
            guilty = self._guilty()
            rest = [each for each in rest if not guilty.isdisjoint(self._has[each])]
        self._left_out.update(rest)
        return [start + each for each in rest]

    def _begin(self, start: int) -> None:
        """Nothing has failed in a block."""
        lengths, octets = self._generated.columns(start, min(start + BLOCK, self._end) - start)
        bounds = pairwise(accumulate(lengths, initial=0))
        strings = [octets[low:high] for low, high in bounds]
        self._start, self._looked = start, max(self._first - start, 0)
        self._has = [_had(each, each.translate(self._class_of)) for each in strings]
        self._survived, self._left_out = set[int](), set[int]()
        self._failed = {False: [], True: []}

    def _guilty(self) -> set[int]:
        """What inputs have that fail, as far as one can tell."""
        guilty = set[int]()
        for failed, enough in ((self._failed[False], DEATHS), (self._failed[True], HANGS)):
            common = Counter(chain.from_iterable(self._has[each] - self._survived for each in failed))
            guilty.update(each for each, count in common.items() if count >= enough)
        return guilty


def _had(octets: bytes, classes: bytes) -> frozenset[int]:
    """What an input has, given its octets and their classes."""
    sizes = (_SIZE | size for size in _SIZES if len(octets) >= size)
    pairs = (one << 8 | other for one, other in pairwise(octets))
    of_classes = (_CLASSES | one << 8 | other for one, other in pairwise((_EDGE, *classes, _EDGE)))
    return frozenset((*pairs, *of_classes, *sizes))
