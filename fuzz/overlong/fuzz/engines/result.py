"""The result of an engine: findings by fingerprint, counts, and what the inputs reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import OTHER_INPUT
from overlong.fuzz.execution.job import Divergence, Fingerprint, octave
from overlong.fuzz.execution.places import place_of
from overlong.fuzz.generation.features import first_to_reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.execution.job import WorkUnit
    from overlong.reference.dialect import Dialect


def fingerprint_of(finding: Finding, target: str) -> Fingerprint:
    """The fingerprint of a finding that is not examined: its code, and the octets at its place."""
    place = finding.place if finding.operation in OTHER_INPUT else place_of(finding.vector)
    return Fingerprint(target, finding.operation, finding.code, place)


@dataclass
class UnitResult:
    """The result of a unit, which grows while an engine runs it."""

    unit: WorkUnit
    octets: int = 0
    """Octets of the inputs."""
    firsts: dict[tuple[int, Fingerprint], Divergence] = field(default_factory=dict[tuple[int, Fingerprint], Divergence])
    """The first divergence of each fingerprint in each octave."""
    counts: Counter[Fingerprint] = field(default_factory=Counter[Fingerprint])
    """The number of divergent inputs for each fingerprint."""
    reached: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """Features of the reference that the inputs reached (see ``generation/features.py``), each with the first of the
    shortest inputs that do, a candidate for the corpus."""
    coverage: int = 0
    """The number of edges reached in the code of an instrumented target."""
    seconds: float = 0.0
    """How long the engine has run; see ``campaign/pool.py``."""
    notes: list[str] = field(default_factory=list[str])
    """Notes for the user, each safe to show."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Executions by target and operation."""
    covering: list[bytes] = field(default_factory=list[bytes])
    """Inputs that reach new code of a target. They belong in the corpus, whatever they reach in the reference."""
    starting: float = 0.0
    """The part of :attr:`seconds` before the first question, which does not grow with the unit."""

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """Those to examine, in any order."""
        return tuple(self.firsts.values())

    @property
    def executions(self) -> int:
        """Answers that were asked for: inputs times targets, and each operation counts."""
        return self.asked.total()

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
        return (octave(block), fingerprint) not in self.firsts

    def keep(self, divergence: Divergence, block: int) -> None:
        """Keep a divergence, which counts elsewhere, if it is new."""
        self.firsts.setdefault((octave(block), divergence.fingerprint), divergence)

    def note(self, *notes: str) -> None:
        """Add notes that are not there yet."""
        self.notes += [note for note in notes if note not in self.notes]

    def reach(self, lengths: Sequence[int], octets: bytes, spoken: Dialect) -> None:
        """Add the features that inputs reach, and keep the first of the shortest inputs for each."""
        ends = list(accumulate(lengths))
        for feature, place in first_to_reach(lengths, octets, spoken).items():
            found = octets[ends[place] - lengths[place] : ends[place]]
            self.reached[feature] = min(self.reached.get(feature, found), found, key=len)
