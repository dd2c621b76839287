"""Listed vectors: the core, written for people to read, and the vectors of a user's files.

Each vector of the core has one fault (or one lawful edge), and a sentence that names it. Vectors about a cut between
chunks form a suite of their own, for targets that read streams. The user's vectors go to all operations that fit the
kind of input.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, DECODE, GUARDED, REPLACE, STREAMING, VALIDATE
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.suites.suite import BATCH, in_batches, of_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.vectors.suites.suite import Suite
    from overlong.conformance.vectors.vector import Vector


@cache
def core_vectors() -> tuple[Vector, ...]:
    """The families' vectors without chunks."""
    return tuple(vector for vector in all_vectors() if vector.chunks is None)


@cache
def stream_vectors() -> tuple[Vector, ...]:
    """The families' vectors in chunks."""
    return tuple(vector for vector in all_vectors() if vector.chunks is not None)


CORE = of_vectors(
    "core",
    "each known kind of fault, one at a time, named",
    lambda _: core_vectors(),
    VALIDATE + DECODE + REPLACE,
    listed=core_vectors,
)
STREAMS = of_vectors(
    "streams",
    "each known kind of fault at the edge of a chunk, named",
    lambda _: stream_vectors(),
    STREAMING,
    listed=stream_vectors,
)


GIVEN = "given"
"""The first of their names; on the command line it stands for all of them."""
_AT_ONCE = 16
"""The number of vectors per request of the operation in memory: each takes long."""


def given_suites(vectors: Sequence[Vector]) -> tuple[Suite, ...]:
    """The suites of these vectors, one for each kind of vector."""
    whole = [vector for vector in vectors if vector.chunks is None and vector.earlier is None]
    streams = [vector for vector in vectors if vector.chunks is not None and vector.earlier is None]
    again = [vector for vector in vectors if vector.earlier is not None]
    suites = (
        (GIVEN, "none of the vectors given is answered wrongly", VALIDATE + DECODE + REPLACE, whole),
        (f"{GIVEN}-in-chunks", "nor is one that comes in chunks", STREAMING, streams),
        (f"{GIVEN}-used-before", "nor is one that follows another stream", AGAIN, again),
        (f"{GIVEN}-in-memory", "the function stays within its memory with each", GUARDED, whole),
    )
    return tuple(_given(*suite) for suite in suites if suite[-1])


def _given(name: str, shows: str, asks: str, vectors: Sequence[Vector]) -> Suite:
    batches = partial(in_batches, size=_AT_ONCE if asks == GUARDED else BATCH)
    return of_vectors(name, shows, lambda _: vectors, asks, batches, listed=lambda: vectors)
