"""Mixtures: text with errors of every kind in it, drawn from the grammar by a seed that never changes.

The complete suites prove what decoders of few states do. Mixtures sample the others, which err after a certain
character, at an offset, in inputs of one length, at a distance from the end, or after many characters, errors, chunks
or streams. Sweeps do that for accepting and refusing; these suites do it for replacing and for streams.

- "mixtures" has strings of up to 140,000 octets to replace. Errors are close together in some and far apart in others,
  and the text between them has characters of one length or of all.
- "mixtures-in-chunks" has such strings, and others whose only error is at the end or that have none. They are cut into
  chunks of one octet, of a few or of thousands, some of them empty.
- "mixtures-used-before" has such streams as earlier ones.

Each also has series (`series.py`), which are not drawn, and "mixtures" every octet after each
lead and what may follow it, and every surrogate: a table for replacing may have one wrong entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, REPLACE, STREAMING
from overlong.conformance.vectors.pieces import OWN_MEANING, Dice, fillers, of_every_lead, pieces
from overlong.conformance.vectors.suites.again import LATER
from overlong.conformance.vectors.suites.series import cut_series, cut_series_before, series
from overlong.conformance.vectors.suites.suite import in_requests, of_vectors
from overlong.conformance.vectors.vector import Vector, cut
from overlong.reference.layout import load_layout
from overlong.reference.order import SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
        return self._fillers[0] if length in _LONG else self.one_of(self._fillers)

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

    def chunks(self, length: int) -> tuple[int, ...]:
        """Lengths of chunks; everything behind the 65,000th is the last."""
        most, found, left = self.one_of(_CHUNKS), list[int](), length
        while left or not found:
            share = self.share()
            found.append(0 if share < _EMPTY else min(left, most if share < _LONGEST else 1 + self.below(most)))
            if len(found) == _MOST_CHUNKS:
                found[-1] = left
            left -= found[-1]
        return tuple(found)


def _lengths(dice: Dice, drawn: Iterable[tuple[int, int]], longest: Sequence[int]) -> Iterator[int]:
    """Lengths of strings: a count of them up to a size, for each pair; some near powers of two; and the longest."""
    for count, most in drawn:
        for _ in range(count):
            yield most // 2 + dice.below(most // 2 + 1)
    yield from _NEAR_POWERS * 3
    yield from longest


def _entries(automaton: Automaton) -> Iterator[bytes]:
    """Every octet where each lead and its tails lead to, and every surrogate in the form of three octets; then text."""
    begun = dict.fromkeys(form[:end] for form in of_every_lead(automaton) for end in range(len(form)))
    yield from (start + bytes([octet]) + b"ab" for start in begun for octet in range(256))
    encode = load_layout("rfc3629").encode
    yield from (octets + b"ab" for surrogate in SURROGATES if (octets := encode(surrogate)) is not None)


def _whole(automaton: Automaton) -> tuple[Vector, ...]:
    mixer = _Mixer(automaton)
    lengths = tuple(_lengths(mixer, ((2000, 64), (500, 600), (60, 5000)), _LONG))
    drawn = map(mixer.mixture, lengths)
    return tuple(
        Vector("mixtures", octets) for octets in dict.fromkeys((*drawn, *series(automaton), *_entries(automaton)))
    )


def _in_chunks(automaton: Automaton) -> tuple[Vector, ...]:
    mixer = _Mixer(automaton)
    lengths = tuple(_lengths(mixer, ((600, 16), (300, 300), (30, 5000)), _LONG[:2]))
    drawn = [mixer.one_of((mixer.mixture, *(mixer.stream,) * 4))(length) for length in lengths]
    made = ((b"".join(chunks), tuple(map(len, chunks))) for chunks in cut_series(automaton))
    divided = dict.fromkeys((*((octets, mixer.chunks(len(octets))) for octets in drawn), *made))
    return tuple(Vector("chunking", octets, chunks=chunks) for octets, chunks in divided)


def _used_before(automaton: Automaton) -> tuple[Vector, ...]:
    mixer, found = _Mixer(automaton), list[tuple[tuple[bytes, ...], tuple[bytes, ...]]]()
    for length in tuple(_lengths(mixer, ((300, 300), (30, 5000)), _LONG[:2])):
        octets, later = mixer.stream(length), mixer.one_of(LATER)
        found.append((tuple(cut(octets, mixer.chunks(len(octets)))), later))
    return tuple(
        Vector("again", b"".join(later), chunks=tuple(map(len, later)), earlier=earlier)
        for earlier, later in dict.fromkeys((*found, *cut_series_before(automaton)))
    )


MIXTURES = of_vectors(
    "mixtures", "every kind of error is replaced alike, wherever it is in text", _whole, REPLACE, in_requests
)
MIXTURES_IN_CHUNKS = of_vectors(
    "mixtures-in-chunks",
    "the result does not depend on where long text is cut",
    _in_chunks,
    STREAMING,
    in_requests,
)
MIXTURES_USED_BEFORE = of_vectors(
    "mixtures-used-before",
    "the result does not depend on the long stream that the decoder decoded before",
    _used_before,
    AGAIN,
    in_requests,
)
