"""A few inputs of many, asked in every other way: replacing, as streams, of used decoders, between guard pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import AGAIN
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

SAMPLE = 64
"""The first so many inputs of a block."""


class Sampled(NamedTuple):
    """An answer to one input."""

    number: int
    """Number of the input."""
    vector: Vector
    operation: str
    observed: Observation
    finding: Finding | None


def sampled(probe: Probe, generated: Generated, indices: Sequence[int], operations: str) -> Iterator[Sampled]:
    """What a target answers to inputs of these numbers, one operation after the other.

    Raises:
        TargetError: it does not start any more, or fails again and again without answering anything.
    """
    vectors = {
        index: Vector("fuzz", generated.string(index), chunks=generated.chunks(index), earlier=generated.earlier(index))
        for index in indices
    }
    for operation in operations:
        # a decoder that nothing came before is what streams are asked of anyway
        asked = {index: each for index, each in vectors.items() if operation not in AGAIN or each.earlier}
        said = probe.ask(list(asked.values()), operation)
        for (index, vector), (observed, finding) in zip(asked.items(), said, strict=True):
            yield Sampled(index, vector, operation, observed, finding)
