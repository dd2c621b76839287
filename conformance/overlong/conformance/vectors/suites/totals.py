"""Totals: a decoder object that has been fed many octets must answer like a new one.

Some objects count what they have decoded, and fail from some total on: wasm-bindgen's kept one that failed after a
mebioctet in all (#4472). One suite has streams of 2^16 octets before an error or a character. In the others, the
earlier stream has 2^16 to 2^24 octets; after a reset, the later stream has a few. Chunks end inside characters.

Totals of 2^20 octets are not asked in one stream: to compute the answer would take seconds for each.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, STREAMING
from overlong.conformance.vectors.pieces import fillers, pieces
from overlong.conformance.vectors.suites.suite import Suite, in_batches
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.reference.automaton import Automaton

CATEGORY = "totals"
_IN_ALL = 1 << 16
"""The octets of a stream."""
_CHUNKS = 16
"""The approximate number of chunks: few, since some decoders read all octets again with each."""
_ODD = 3
"""The octets by which chunks are shorter, so that they cut characters at each place in turn."""
_NO_LEAD = b"\xff"


def _cut(octets: bytes) -> Iterator[bytes]:
    size = len(octets) // _CHUNKS - _ODD
    return (octets[start : start + size] for start in range(0, len(octets), size))


@cache
def _text(automaton: Automaton, length: int) -> bytes:
    """Text of the longest characters: it has the fewest."""
    filler = fillers(automaton)[-1]
    return filler * (length // len(filler))


@cache
def _streams(automaton: Automaton) -> tuple[Vector, ...]:
    """Long streams that end with an error, in a character, or with a character."""
    text, filler = _text(automaton, _IN_ALL), fillers(automaton)[-1]
    ends = (_NO_LEAD + b"a", pieces(automaton).kinds[0], filler[:-1], filler + b"a")
    return tuple(_stream(text + end) for end in ends)


def _stream(octets: bytes) -> Vector:
    return Vector(CATEGORY, octets, "after many octets in one stream", tuple(map(len, _cut(octets))))


@cache
def _again(lengths: tuple[int, ...], automaton: Automaton) -> tuple[Vector, ...]:
    """An error, and a character in two chunks, after a long stream of each length."""
    filler = fillers(automaton)[-1]
    later = ((_NO_LEAD,), (filler[:1], filler[1:]))
    return tuple(
        Vector(
            CATEGORY,
            b"".join(chunks),
            "after a stream of many octets",
            tuple(map(len, chunks)),
            earlier=tuple(_cut(_text(automaton, length))),
        )
        for length in lengths
        for chunks in later
    )


def _suite(name: str, sentence: str, asks: str, made: Callable[[Automaton], tuple[Vector, ...]]) -> Suite:
    """One vector in each batch: it takes long."""
    return Suite(name, sentence, lambda profile: in_batches(made(profile.dialect.automaton), 1), asks=asks)


def _used_before(name: str, sentence: str, *lengths: int) -> Suite:
    return _suite(name, sentence, AGAIN, partial(_again, lengths))


TOTALS = _suite("totals", "the result does not depend on how many octets the stream had", STREAMING, _streams)
TOTALS_USED_BEFORE = (
    _used_before("totals-used-before", "nor on how many octets the decoder has decoded before", 1 << 16, 1 << 20),
    _used_before("totals-longer", "the same after 2^22 octets", 1 << 22),
    _used_before("totals-longest", "the same after 2^24 octets", 1 << 24),
)
"""Suites of ever longer streams."""
