"""The output of a correct stream decoder after each chunk, and when and how it can refuse.

The segments determine both: a character is certain when its last octet has come, an ill-formed sequence as soon as
an octet shows it. :class:`Certainty` holds this for one input and all its cuts, so an input that is cut in a
hundred ways is decoded once.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import STREAM_REPLACE, UNITS
from overlong.conformance.vectors.vector import Vector, known_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton

_ASCII = bytes(range(1, 0x80))
"""Without octet 00, which some dialects exclude."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certain output and refusal of one input.

    ``total``: how many units a replacing decoder has put out after the end. ``flawed``: the input is ill-formed;
    ``shown``: the number of octets that show it, None if only the end does. ``flaw``: the offset of its first maximal
    subpart. ``_ascii``: the octets before the first one that is not ASCII. ``_out``, ``_held``: the results of
    :meth:`out` and :meth:`held`, counted from there.
    """

    total: int
    flawed: bool
    shown: int | None
    flaw: int
    _out: tuple[int, ...]
    _held: tuple[int, ...]
    _ascii: int = 0

    def behind(self, count: int) -> Certainty:
        """The same after so many octets of ASCII."""
        shown = None if self.shown is None else count + self.shown
        return replace(self, total=count + self.total, shown=shown, flaw=count + self.flaw, _ascii=count + self._ascii)

    def out(self, read: int) -> int:
        """How many units a replacing decoder can have put out after so many octets."""
        return read if read < self._ascii else self._ascii + self._out[read - self._ascii]

    def held(self, read: int) -> int:
        """The first octet that a decoder must keep after so many octets."""
        return read if read < self._ascii else self._ascii + self._held[read - self._ascii]

    def marks(self, chunks: Sequence[int]) -> list[int]:
        """The count of units out after each chunk, for a decoder that holds nothing back; after the last chunk: all."""
        marks = [self.out(read) for read in accumulate(chunks)]
        if marks:
            marks[-1] = self.total
        return marks

    def refused_in(self, chunks: Sequence[int]) -> int:
        """The first chunk, counted from 1, that shows that the input is ill-formed; the last if only its end does."""
        if self.shown is None:
            return len(chunks)
        return bisect_left(list(accumulate(chunks)), self.shown) + 1

    def offset(self, chunks: Sequence[int], refused_in: int, counted_from: str) -> int | None:
        """The offset that a decoder reports if it refuses in a chunk (1, 2, …); None: it cannot know it.

        ``counted_from`` comes from the greeting: ``stream``, ``chunk`` or ``kept``.
        """
        if counted_from == "stream":
            return self.flaw
        start = sum(chunks[: refused_in - 1])
        if counted_from == "kept":  # a decoder that refuses late has kept the flaw
            start = min(self.held(start), self.flaw)
        return self.flaw - start if self.flaw >= start else None


def certainty(octets: bytes, units: str, profile: Profile) -> Certainty:
    """The certainty of an input; ``units`` is a name of :data:`~overlong.conformance.protocol.wire.UNITS`."""
    before = _leading(octets, profile.dialect)
    sure = _certainty(octets[before:], units, profile.as_it_matters(STREAM_REPLACE))
    return sure.behind(before) if before else sure


@lru_cache(maxsize=1 << 15)
def _certainty(octets: bytes, units: str, profile: Profile) -> Certainty:
    vector = Vector("", octets, profile=profile)
    size, written = len(octets), UNITS[units]
    added, held = [0] * (size + 2), list(range(size + 1))
    total = 0
    for found, scalars in zip(vector.taken, vector.outputs, strict=True):
        count = written.count(scalars)
        known = known_at(octets, found, profile.dialect)
        added[size + 1 if known is None else known] += count
        total += count
    for found in vector.segments:
        known = known_at(octets, found, profile.dialect)
        moment = size + 1 if known is None else known
        for read in range(found.offset, min(moment, size + 1)):
            held[read] = min(held[read], found.offset)
    return Certainty(
        total,
        vector.flaw is not None,
        vector.detectable_at,
        0 if vector.flaw is None else vector.flaw.offset,
        tuple(accumulate(added[: size + 1])),
        tuple(held),
    )


def _leading(octets: bytes, spoken: Dialect) -> int:
    """The ASCII octets at the start, which cost nothing; 0 if the dialect gives a start or an ASCII octet a meaning."""
    if spoken.rule.drops_signature or not _is_apart(spoken.automaton):
        return 0
    return len(octets) - len(octets.lstrip(_ASCII))


@cache
def _is_apart(automaton: Automaton) -> bool:
    """True if each ASCII octet but 00 is a character, and continues none."""
    start, *others = automaton.table
    begins = all(start[octet] == 0 for octet in _ASCII)
    return begins and all(row[octet] == automaton.dead for row in others for octet in _ASCII)
