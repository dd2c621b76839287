"""The core: vectors that a person reads. Each is one fault (or one lawful edge), and says which in a sentence.

Those whose point is a cut between chunks are a suite of their own, for targets that read streams.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import STREAMING
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.suites.suite import Suite, in_batches

if TYPE_CHECKING:
    from overlong.conformance.vectors.vector import Vector


@cache
def core_vectors() -> tuple[Vector, ...]:
    """The families' vectors that are whole."""
    return tuple(vector for vector in all_vectors() if vector.chunks is None)


@cache
def stream_vectors() -> tuple[Vector, ...]:
    """The families' vectors that are cut into chunks."""
    return tuple(vector for vector in all_vectors() if vector.chunks is not None)


CORE = Suite(
    "core",
    "each known kind of fault, one at a time, named",
    lambda _: in_batches(core_vectors()),
    lambda _: len(core_vectors()),
    listed=core_vectors,
)
STREAMS = Suite(
    "streams",
    "each known kind of fault at the edge of a chunk, named",
    lambda _: in_batches(stream_vectors()),
    lambda _: len(stream_vectors()),
    asks=STREAMING,
    listed=stream_vectors,
)
