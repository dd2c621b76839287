"""Chunking: the same octets, cut into chunks. A stream decoder must give the result of the whole input.

Every vector of the core is cut in these ways, each cut once:

- up to 24 octets: at every place (two chunks), at every two places (three chunks), and at every place with
  an empty chunk in the cut;
- up to 300 octets: at every place; at two places one to three octets apart, if the first is within four octets of
  an octet that is not ASCII, or of a multiple of 64; with an empty chunk in a cut within that distance;
- beyond: the same, but only at places within four octets of an end, of a multiple of 1024, or of a flaw;
- whole; octet by octet (up to 300 octets); octet by octet with an empty chunk after each octet (up to 24); with
  empty chunks at the start, at the end and at both.

So every character and every flaw of the core is cut at each place and at each two places, U+FEFF at the start too.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import STREAMING
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.suites.suite import BATCH, Suite, batched
from overlong.conformance.vectors.vector import Vector
from overlong.reference import MaximalSubpart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

SHORT = 24
"""The most octets of an input that is cut in every way into two and three."""
MEDIUM = 300
"""The most octets of an input that is cut in every way into two: more than 256, a usual size of buffers."""
NEAR = 4
"""The octets of the longest character."""


def cuts(octets: bytes) -> Iterator[tuple[int, ...]]:
    """The chunk lengths of the cuts that the module's docstring lists, without repetition."""
    yield from dict.fromkeys(_cuts(octets))


def _cuts(octets: bytes) -> Iterator[tuple[int, ...]]:
    size = len(octets)
    yield (size,)
    yield from ((0, size), (size, 0), (0, size, 0))
    places = places_to_cut(octets)
    yield from ((place, size - place) for place in places)
    if size <= SHORT:
        yield from ((first, second - first, size - second) for first, second in combinations(places, 2))
        yield from ((place, 0, size - place) for place in places)
        yield (1, 0) * size or (0,)
    else:
        chosen = set(places)
        for first in filter(_near_edges(octets).__contains__, places):
            yield (first, 0, size - first)
            for width in range(1, NEAR):
                if first + width in chosen:
                    yield (first, width, size - first - width)
    if 0 < size <= MEDIUM:
        yield (1,) * size


def places_to_cut(octets: bytes) -> list[int]:
    """The places at which ``octets`` are cut into two: all of them, or those beside edges and flaws."""
    size = len(octets)
    inside = range(1, size)
    if size <= MEDIUM:
        return list(inside)
    edges = {0, size, *range(0, size, 1024)}
    for found in Vector("", octets).segments:
        if isinstance(found, MaximalSubpart):
            edges |= {found.offset, found.offset + found.length}
    return sorted(place for place in _around(edges) if place in inside)


def _near_edges(octets: bytes) -> set[int]:
    """Places within four octets of an octet that is not ASCII, or of a multiple of 64."""
    return _around({place for place, octet in enumerate(octets) if octet > 0x7F or place % 64 == 0})


def _around(places: set[int]) -> set[int]:
    return {near for place in places for near in range(place - NEAR, place + NEAR + 1)}


def _chunked() -> Iterator[tuple[Vector, tuple[int, ...]]]:
    return ((vector, chunks) for vector in core_vectors() for chunks in cuts(vector.octets))


def _batches(_: Profile) -> Iterator[Batch]:
    for some in batched(_chunked(), BATCH):
        vectors, chunks = zip(*some, strict=True)
        comments = tuple([vector.comment for vector in vectors])
        yield Batch.of_strings("chunking", [vector.octets for vector in vectors], chunks, comments)


CHUNKING = Suite("chunking", "the result does not depend on where the input is cut", _batches, asks=STREAMING)
