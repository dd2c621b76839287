"""What is asked. Each suite is a module with one job; :data:`SUITES` names them in the order they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, ENCODING, GUARDED, SEPARATE
from overlong.conformance.vectors.names import spelt_now
from overlong.conformance.vectors.suites.again import USED_BEFORE
from overlong.conformance.vectors.suites.boundaries import CHUNK_EDGES
from overlong.conformance.vectors.suites.chunking import CHUNKING
from overlong.conformance.vectors.suites.complete import COMPLETE
from overlong.conformance.vectors.suites.core import CORE, STREAMS
from overlong.conformance.vectors.suites.encoding import ENCODED_SCALARS, ENCODER_EDGES, ENCODER_UTF16
from overlong.conformance.vectors.suites.error_modes import COMPLETE_REFUSING, COMPLETE_REPLACING
from overlong.conformance.vectors.suites.exhaustive import LONGEST, exhaustive
from overlong.conformance.vectors.suites.memory import MEMORY
from overlong.conformance.vectors.suites.scalars import BETWEEN_OTHERS, RUNS, SCALARS
from overlong.conformance.vectors.suites.values import SEPARATE_VALUES

if TYPE_CHECKING:
    from overlong.conformance.vectors.suites.suite import Suite

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        *(CORE, COMPLETE, COMPLETE_REFUSING, COMPLETE_REPLACING, SCALARS, BETWEEN_OTHERS, RUNS),
        *(STREAMS, CHUNKING, CHUNK_EDGES, USED_BEFORE),
        *(ENCODED_SCALARS, ENCODER_EDGES, ENCODER_UTF16),
        MEMORY,
        SEPARATE_VALUES,
    )
}
QUICK = (
    *("core", "complete-0", "complete-0-refusing", "complete-0-replacing"),
    *("streams", "chunking", "complete-0-in-chunks", "used-before"),
    *("encoder-edges", "encoder-utf-16"),
    "memory",
    "separate-values",
)

GENERATED = {f"exhaustive-{longest}": longest for longest in range(1, LONGEST + 1)}
"""Suites that no certificate asks for: they are there to be written to files."""


NO_FILES = ENCODING + AGAIN + GUARDED + SEPARATE
OF_OCTETS = tuple(name for name, suite in SUITES.items() if not set(suite.asks) & set(NO_FILES))
"""Suites whose vectors are octets to decode. No format of files is for those of encoders, which hold numbers, of
decoders used before, which hold two streams each, of memory, where an answer says nothing of the octets, or of lists
of values."""


def suite_named(name: str) -> Suite:
    """The suite of that name, or that had it, to be written to files.

    Raises:
        KeyError: there is none in :data:`OF_OCTETS` or :data:`GENERATED`.
    """
    name = spelt_now(name)
    return exhaustive(GENERATED[name]) if name in GENERATED else {each: SUITES[each] for each in OF_OCTETS}[name]


__all__ = ["GENERATED", "OF_OCTETS", "QUICK", "SUITES", "suite_named"]
