"""What an engine is: whatever makes inputs, asks the targets, and tells what diverges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.targets.resolve import Limits
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.execution.divergence import Divergence, Fingerprint

BLOCK = 1 << 12
"""Inputs of a block: units are whole blocks, but for the last one of a campaign that has a number of runs."""


@dataclass(frozen=True, order=True)
class WorkUnit:
    """Inputs by number: ``first``, and so many from there on."""

    first: int
    count: int


@dataclass(frozen=True)
class CampaignJob:
    """What an engine is to do. It can be pickled: a worker elsewhere makes an engine of it."""

    targets: tuple[str | tuple[str, ...], ...]
    """Names, as on the command line; or commands that speak the protocol."""
    seed: int = 0
    engine: str = "grammar"
    profile: Profile = RFC3629
    limits: Limits = field(default_factory=Limits)
    seeds: tuple[bytes, ...] = ()
    """Inputs of a corpus from which parts are taken, in order; they and the seed fix every input."""
    corpus: str = ""
    """The folder of the corpus, for an engine that reads and writes one itself; empty if there is none."""


@dataclass(frozen=True)
class UnitResult:
    """What came of a unit."""

    unit: WorkUnit
    executions: int
    """Answers that were asked for: inputs times targets, and each operation counts."""
    octets: int
    """Octets of the inputs."""
    divergences: tuple[Divergence, ...] = ()
    """The first of each fingerprint in each block, in the order of inputs, targets and operations."""
    counts: Counter[Fingerprint] = field(default_factory=Counter["Fingerprint"])
    """How many inputs of each fingerprint diverge."""
    reached: frozenset[int] = frozenset()
    """Features of the reference that the inputs reached: see ``generation/features.py``."""
    interesting: tuple[bytes, ...] = ()
    """The shortest inputs that reach them: candidates for the corpus."""
    coverage: int = 0
    """Edges of a target's code that were reached, if it is instrumented."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What a user should know, each safe to show."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Executions by target and operation; together :attr:`executions`."""
    covering: tuple[bytes, ...] = ()
    """Inputs that reach new code of a target: they belong into the corpus whatever they reach of the reference."""
    starting: float = 0.0
    """Seconds of :attr:`seconds` before anything was asked: a longer unit has no more of them."""


class InputEngine(Protocol):
    """Makes inputs and asks the targets, one unit after the other; a pure function of its job and the unit."""

    def run(self, unit: WorkUnit, progress: Callable[[int], None]) -> UnitResult:
        """Ask the inputs of a unit; ``progress`` is told now and then how many of them are done.

        Raises:
            BudgetSpent: a target failed more often than its limit.
            TargetError: a target cannot be asked (any more).
            KeyboardInterrupt: as it comes; nothing of the unit is kept then.
        """
        ...

    def close(self) -> None:
        """End the targets' processes."""
        ...
