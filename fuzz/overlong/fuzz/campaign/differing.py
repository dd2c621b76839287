"""Two targets as one, whose findings are differences that RFC 3629 allows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, STREAMING
from overlong.fuzz.execution.differences import differences
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.execution.sampled import Sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector


class Differing(Probe):
    """Asks both targets. A difference is a finding of the first target; a fault of either is no difference."""

    def __init__(self, probe: Probe, peer: Probe, operation: str) -> None:
        """Ask two targets, which the caller still owns, by one operation."""
        super().__init__(probe.target, probe.limits)
        self._both = probe, peer
        self._operation = operation

    @property
    def operations(self) -> str:
        """The one operation."""
        return self._operation

    def ask(self, vectors: Sequence[Vector], operation: str) -> list[tuple[Observation, Finding | None]]:
        """The first target's answer to each vector, and whether the other's differs.

        Raises:
            TargetError: one of them does not start any more.
        """
        if operation not in STREAMING + AGAIN:
            vectors = [replace(vector, chunks=None, earlier=None) for vector in vectors]
        said = [
            (probe.id, probe.profile, [(vector, *each) for vector, each in zip(vectors, answers, strict=True)])
            for probe in self._both
            for answers in [probe.ask(vectors, operation)]
        ]
        result: list[tuple[Observation, Finding | None]] = []
        for place, (_, observed, _) in enumerate(said[0][2]):
            one = [
                (name, profile, [Sampled(place, vector, operation, answer, finding)])
                for name, profile, answers in said
                for vector, answer, finding in [answers[place]]
            ]
            found = next(iter(differences(one, Counter())), None)
            result.append((observed, None if found is None else found.finding))
        return result
