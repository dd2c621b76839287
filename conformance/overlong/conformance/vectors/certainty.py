"""The output of a correct stream decoder after each chunk, and when and how it can refuse.

The segments determine both: a character is certain when its last octet has come, an ill-formed sequence as soon as
an octet shows it. :class:`Certainty` holds this for one input and all its cuts, so an input that is cut in a
hundred ways is decoded once.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import STREAM_REPLACE, UNITS
from overlong.conformance.vectors.vector import Vector, known_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.vectors.profile import Profile


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certain output and refusal of one input.

    ``out``: how many units a replacing decoder can have put out after 0, 1, … octets; ``total``: after the end.
    ``flawed``: the input is ill-formed; ``shown``: the number of octets that show it, None if only the end does.
    ``flaw``: the offset of its first maximal subpart. ``held``: the first octet that a decoder must keep after 0, 1, …
    octets.
    """

    out: tuple[int, ...]
    total: int
    flawed: bool
    shown: int | None
    flaw: int
    held: tuple[int, ...]

    def marks(self, chunks: Sequence[int]) -> list[int]:
        """The count of units out after each chunk, for a decoder that holds nothing back; after the last chunk: all."""
        marks = [self.out[read] for read in accumulate(chunks)]
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
            start = min(self.held[start], self.flaw)
        return self.flaw - start if self.flaw >= start else None


def certainty(octets: bytes, units: str, profile: Profile) -> Certainty:
    """The certainty of an input; ``units`` is a name of :data:`~overlong.conformance.protocol.wire.UNITS`."""
    return _certainty(octets, units, profile.as_it_matters(STREAM_REPLACE))


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
        tuple(accumulate(added[: size + 1])),
        total,
        vector.flaw is not None,
        vector.detectable_at,
        0 if vector.flaw is None else vector.flaw.offset,
        tuple(held),
    )
