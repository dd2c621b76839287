"""Chunking: the same octets, cut. A decoder of streams must give the result of the whole."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.protocol import STREAMING
from overlong.conformance.suites.core import core_vectors
from overlong.conformance.suites.suite import Suite, in_batches
from overlong.conformance.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = 12  # octets up to which every cut into two and three is made


def cuts(length: int) -> Iterator[tuple[int, ...]]:
    """Chunk lengths: every cut of a short input into two and three, octet by octet, and with empty chunks."""
    places = range(1, length) if length <= _SHORT else (1, length // 2, length - 1)
    for number in (1, 2):
        for chosen in combinations(places, number):
            bounds = (0, *chosen, length)
            yield tuple(end - start for start, end in pairwise(bounds))
    yield (0, length, 0)
    if length > 1:
        yield (1,) * length
        yield (1, 0, length - 1)
        yield (length - 1, 0, 1)


@cache
def _vectors() -> tuple[Vector, ...]:
    return tuple(
        Vector("chunking", vector.octets, vector.comment, chunks)
        for vector in core_vectors()
        if vector.octets
        for chunks in sorted(set(cuts(len(vector.octets))))
    )


CHUNKING = Suite(
    "chunking",
    "the result does not depend on where the input is cut",
    lambda: in_batches(_vectors()),
    lambda: len(_vectors()),
    asks=STREAMING,
)
