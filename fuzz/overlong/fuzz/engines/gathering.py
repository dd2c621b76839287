"""Gather the results of an engine without a survey: findings by fingerprint, and counts."""

from __future__ import annotations

import time
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import OTHER_INPUT
from overlong.fuzz.execution.engine import Divergence, Fingerprint, UnitResult, octave
from overlong.fuzz.execution.places import place_of
from overlong.fuzz.generation.features import first_to_reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.execution.engine import WorkUnit
    from overlong.reference.dialect import Dialect


def fingerprint_of(finding: Finding, target: str) -> Fingerprint:
    """The fingerprint of a finding that is not examined: its code, and the octets at its place."""
    place = finding.place if finding.operation in OTHER_INPUT else place_of(finding.vector)
    return Fingerprint(target, finding.operation, finding.code, place)


class Gathering:
    """The result of a unit, while it grows."""

    def __init__(self, unit: WorkUnit) -> None:
        self.unit = unit
        self.asked: Counter[tuple[str, str]] = Counter()
        """Executions by target and operation."""
        self.octets = 0
        """The octets of the inputs."""
        self.counts: Counter[Fingerprint] = Counter()
        self.notes: list[str] = []
        """Each safe to show."""
        self.coverage = 0
        self.covering: list[bytes] = []
        """Inputs that reach new code."""
        self.starting = 0.0
        """The seconds before the first input."""
        self._reaching: dict[int, bytes] = {}
        self._divergences: dict[tuple[int, Fingerprint], Divergence] = {}
        self._begun = time.monotonic()

    def add(self, finding: Finding, target: str, index: int, block: int = 0, *, times: int = 1) -> None:
        """Add a finding.

        Args:
            finding: of an input of the unit.
            target: its name in the campaign.
            index: the number of the input, or of the unit.
            block: the number of the block.
            times: the number of inputs that show it.
        """
        fingerprint = fingerprint_of(finding, target)
        self.counts[fingerprint] += times
        self.keep(Divergence(target, finding, fingerprint, index), block)

    def is_new(self, fingerprint: Fingerprint, block: int) -> bool:
        """True if there is no divergence of a fingerprint yet since the campaign last doubled its length."""
        return (octave(block), fingerprint) not in self._divergences

    def keep(self, divergence: Divergence, block: int) -> None:
        """Keep a divergence, which counts elsewhere, if it is new."""
        self._divergences.setdefault((octave(block), divergence.fingerprint), divergence)

    def note(self, *notes: str) -> None:
        """Add notes that are not there yet."""
        self.notes += [note for note in notes if note not in self.notes]

    def reach(self, lengths: Sequence[int], octets: bytes, spoken: Dialect) -> None:
        """Add the features that inputs reach, and keep the first of the shortest inputs for each."""
        ends = list(accumulate(lengths))
        for feature, place in first_to_reach(lengths, octets, spoken).items():
            found = octets[ends[place] - lengths[place] : ends[place]]
            self._reaching[feature] = min(self._reaching.get(feature, found), found, key=len)

    def result(self) -> UnitResult:
        """The result."""
        return UnitResult(
            self.unit,
            self.octets,
            tuple(self._divergences.values()),
            self.counts,
            frozenset(self._reaching),
            tuple(dict.fromkeys(self._reaching.values())),
            coverage=self.coverage,
            seconds=time.monotonic() - self._begun,
            notes=tuple(self.notes),
            asked=self.asked,
            covering=tuple(self.covering),
            starting=self.starting,
        )
