"""Mixtures: text with errors of every kind in it, drawn from the grammar by a seed that never changes.

The complete suites prove what decoders of few states do. Mixtures sample the others, which err after a certain
character, at an offset, in inputs of one length, at a distance from the end, or after many characters, errors, chunks
or streams. Sweeps do that for accepting and refusing; these suites do it for replacing and for streams.

- "mixtures" has strings of up to 140,000 octets to replace. Errors are close together in some and far apart in others,
  and the text between them has characters of one length or of all.
- "mixtures-in-chunks" has such strings, and others whose only error is at the end or that have none. They are cut into
  chunks of one octet, of a few or of thousands, some of them empty.
- "mixtures-used-before" has such streams as earlier ones.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, REPLACE, STREAMING
from overlong.conformance.vectors.dice import Dice
from overlong.conformance.vectors.pieces import OWN_MEANING, fillers, of_every_lead, pieces
from overlong.conformance.vectors.suites.again import LATER
from overlong.conformance.vectors.suites.suite import Suite, in_batches, whole_inputs
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.reference.automaton import Automaton

_SEED = 3629
_APART = (1, 1, 2, 8, 64)
"""The most characters between two errors."""
_CHUNKS = (1, 1, 2, 3, 8, 64, 1024, 5000)
"""The octets of the longest chunk."""
_EMPTY, _LONGEST = 0.1, 0.4
"""The shares of chunks: empty ones, these and the longest."""
_MOST_CHUNKS = 65_000
_LONG = (140_000, 66_000, 132_000)
_NEAR_POWERS = tuple((1 << power) + by for power in range(4, 13) for by in (-1, 0, 1))


class _Mixer(Dice):
    """Draws strings and cuts."""

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(_SEED, automaton)
        self._least_and_greatest = (*of_every_lead(automaton), *pieces(automaton).characters, *OWN_MEANING)
        self._kinds = pieces(automaton).kinds
        self._fillers = (*fillers(automaton), b"", b"")

    def filler(self, length: int) -> bytes:
        """A character, or none; the longest strings have the most characters."""
        return self._fillers[0] if length > _MOST_CHUNKS else self.one_of(self._fillers)

    def character_or(self, filler: bytes) -> bytes:
        """Mostly the filler, if there is one; otherwise the end of a range, or any character."""
        if filler and self.below(8):
            return filler
        return self.one_of(self._least_and_greatest) if self.below(4) else self.character()

    def mixture(self, length: int) -> bytes:
        """Text and errors: so many octets."""
        filler, apart, found = self.filler(length), self.one_of(_APART), bytearray()
        while len(found) < length:
            for _ in range(self.below(apart + 1)):
                found += self.character_or(filler)
            if self.below(2):
                found += self.one_of(self._kinds) if self.below(3) == 0 else self.piece()
        return bytes(found[:length])

    def stream(self, length: int) -> bytes:
        """Text of at least so many octets that ends well, with an error, or within a character."""
        filler, found = self.filler(length), bytearray()
        while len(found) < length:
            found += self.character_or(filler)
        return bytes(found) + (b"", self.piece() + b"ab", self.character()[:-1])[self.below(3)]

    def cut(self, length: int) -> tuple[int, ...]:
        """Lengths of chunks; everything behind the 65,000th is the last."""
        most, found, left = self.one_of(_CHUNKS), list[int](), length
        while left or not found:
            share = self.share()
            found.append(0 if share < _EMPTY else min(left, most if share < _LONGEST else 1 + self.below(most)))
            if len(found) == _MOST_CHUNKS:
                found[-1] = left
            left -= found[-1]
        return tuple(found)


def _lengths(dice: Dice, drawn: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Lengths of this many strings, from half of this many octets to all of them; then lengths near powers of two."""
    for count, most in drawn:
        for _ in range(count):
            yield most // 2 + dice.below(most // 2 + 1)
    yield from _NEAR_POWERS * 3


@cache
def _strings(automaton: Automaton) -> tuple[bytes, ...]:
    mixer = _Mixer(automaton)
    lengths = (*_lengths(mixer, ((2000, 64), (500, 600), (60, 5000))), *_LONG)
    return tuple(dict.fromkeys(map(mixer.mixture, lengths)))


@cache
def _streams(automaton: Automaton) -> tuple[Vector, ...]:
    mixer = _Mixer(automaton)
    lengths = (*_lengths(mixer, ((600, 16), (300, 300), (30, 5000))), *_LONG[:2])
    drawn = [mixer.one_of((mixer.mixture, *(mixer.stream,) * 4))(length) for length in lengths]
    cut = dict.fromkeys((octets, mixer.cut(len(octets))) for octets in drawn)
    return tuple(Vector("chunking", octets, chunks=chunks) for octets, chunks in cut)


@cache
def _later(automaton: Automaton) -> tuple[Vector, ...]:
    mixer, found = _Mixer(automaton), list[Vector]()
    for length in (*_lengths(mixer, ((300, 300), (30, 5000))), *_LONG[:2]):
        octets, later = mixer.stream(length), mixer.one_of(LATER)
        places = accumulate(mixer.cut(len(octets)), initial=0)
        earlier = tuple(octets[start:end] for start, end in pairwise(places))
        found.append(Vector("again", b"".join(later), chunks=tuple(map(len, later)), earlier=earlier))
    return tuple(found)


MIXTURES = Suite(
    "mixtures",
    "every kind of error is replaced alike, wherever it stands in text",
    lambda profile: whole_inputs("mixtures", _strings(profile.dialect.automaton)),
    lambda profile: len(_strings(profile.dialect.automaton)),
    asks=REPLACE,
)
MIXTURES_IN_CHUNKS = Suite(
    "mixtures-in-chunks",
    "the result does not depend on where long text is cut",
    lambda profile: in_batches(_streams(profile.dialect.automaton)),
    lambda profile: len(_streams(profile.dialect.automaton)),
    asks=STREAMING,
)
MIXTURES_USED_BEFORE = Suite(
    "mixtures-used-before",
    "the result does not depend on the long stream that the decoder decoded before",
    lambda profile: in_batches(_later(profile.dialect.automaton)),
    lambda profile: len(_later(profile.dialect.automaton)),
    asks=AGAIN,
)
