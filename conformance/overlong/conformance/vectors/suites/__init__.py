"""The suites, those of one theme in a module; :data:`SUITES` names them in the order in which they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, ASK, ENCODING, IN_MEMORY, SEPARATE
from overlong.conformance.vectors.suites.complete import CHUNK_EDGES, COMPLETE, COMPLETE_REFUSING, COMPLETE_REPLACING
from overlong.conformance.vectors.suites.encoding import (
    ENCODED_SCALARS,
    ENCODER_EDGES,
    ENCODER_LONG,
    ENCODER_UTF16,
    ENCODER_UTF16_LONG,
)
from overlong.conformance.vectors.suites.exhaustive import BETWEEN_OTHERS, LONGEST, RUNS, SCALARS, exhaustive
from overlong.conformance.vectors.suites.functions import (
    FUNCTIONS,
    FUNCTIONS_EXHAUSTIVE,
    FUNCTIONS_IN_MEMORY,
    FUNCTIONS_LONG,
    FUNCTIONS_OCTETS,
)
from overlong.conformance.vectors.suites.mixtures import MIXTURES, MIXTURES_IN_CHUNKS, MIXTURES_USED_BEFORE
from overlong.conformance.vectors.suites.streams import (
    CHUNKING,
    SEPARATE_VALUES,
    TOTALS,
    TOTALS_USED_BEFORE,
    USED_BEFORE,
)
from overlong.conformance.vectors.suites.suite import CORE, MEMORY, STREAMS

if TYPE_CHECKING:
    from overlong.conformance.vectors.suites.suite import Suite

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        *(CORE, COMPLETE, COMPLETE_REFUSING, COMPLETE_REPLACING, SCALARS, BETWEEN_OTHERS, RUNS, MIXTURES),
        *(STREAMS, CHUNKING, CHUNK_EDGES, USED_BEFORE, TOTALS, *TOTALS_USED_BEFORE),
        *(MIXTURES_IN_CHUNKS, MIXTURES_USED_BEFORE),
        *(ENCODED_SCALARS, ENCODER_EDGES, ENCODER_LONG, ENCODER_UTF16, ENCODER_UTF16_LONG),
        MEMORY,
        SEPARATE_VALUES,
        *(FUNCTIONS, FUNCTIONS_OCTETS, FUNCTIONS_IN_MEMORY, *FUNCTIONS_LONG, FUNCTIONS_EXHAUSTIVE),
    )
}
QUICK = (
    *("core", "complete-0", "complete-0-refusing", "complete-0-replacing"),
    *("streams", "chunking", "complete-0-in-chunks", "used-before"),
    *("encoder-edges", "encoder-long", "encoder-utf-16", "encoder-utf-16-long"),
    "memory",
    "separate-values",
    "functions",
    "functions-in-memory",
)
DRAWN = (MIXTURES.name, MIXTURES_IN_CHUNKS.name, MIXTURES_USED_BEFORE.name)
"""Suites that sample, as sweeps do: they take seconds, and a run without sweeps leaves them out."""
SHARED = (SCALARS.name, BETWEEN_OTHERS.name, ENCODED_SCALARS.name)
"""Suites of a million vectors, which two processes of a target share."""
GROWING = tuple(tuple(suite.name for suite in suites) for suites in (TOTALS_USED_BEFORE, FUNCTIONS_LONG))
"""Series of suites of ever longer texts. By default a target gets the next one if it answered the last one quickly
enough."""
ONLY_THOROUGH = (FUNCTIONS_EXHAUSTIVE.name,)
"""Suites of several minutes for all questions, which show what hardly any function gets wrong otherwise."""

GENERATED = {f"exhaustive-{longest}": longest for longest in range(1, LONGEST + 1)}
"""Suites that no certificate uses: they can be exported to files."""


NO_FILES = ENCODING + AGAIN + IN_MEMORY + SEPARATE + ASK
OF_OCTETS = tuple(name for name, suite in SUITES.items() if not set(suite.asks) & set(NO_FILES) and name != TOTALS.name)
"""Suites whose vectors are octets to decode, and not very long. No file format can hold the others: vectors for
encoders are numbers, vectors for decoders used before are two streams, answers about memory say nothing of the octets,
lists hold several values, and a question stands before its text."""


def suite_named(name: str) -> Suite:
    """The suite of that name, for export to files.

    Raises:
        KeyError: :data:`OF_OCTETS` and :data:`GENERATED` have no such suite.
    """
    return exhaustive(GENERATED[name]) if name in GENERATED else {each: SUITES[each] for each in OF_OCTETS}[name]


__all__ = ["GENERATED", "OF_OCTETS", "QUICK", "SUITES", "suite_named"]
