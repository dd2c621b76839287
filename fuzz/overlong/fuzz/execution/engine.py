"""The interface of an engine, which makes inputs, asks the targets, and reports divergences."""

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
"""Inputs of a block: units are whole blocks, except the last one of a campaign with a limit on inputs."""


def octave(block: int) -> int:
    """The number of times that the campaign's length, in blocks, had doubled before this block."""
    return (block + 1).bit_length()


@dataclass(frozen=True, order=True)
class WorkUnit:
    """Inputs by number: ``count`` of them from ``first`` on."""

    first: int
    count: int


@dataclass(frozen=True)
class CampaignJob:
    """The work of an engine. It can be pickled, and a worker elsewhere makes an engine from it."""

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
    """The result of a unit."""

    unit: WorkUnit
    executions: int
    """Answers that were asked for: inputs times targets, and each operation counts."""
    octets: int
    """Octets of the inputs."""
    divergences: tuple[Divergence, ...] = ()
    """The first divergence of each fingerprint in each octave, in any order; further ones do no harm."""
    counts: Counter[Fingerprint] = field(default_factory=Counter["Fingerprint"])
    """The number of divergent inputs for each fingerprint."""
    reached: frozenset[int] = frozenset()
    """Features of the reference that the inputs reached: see ``generation/features.py``."""
    interesting: tuple[bytes, ...] = ()
    """The shortest inputs that reach each feature: candidates for the corpus."""
    coverage: int = 0
    """The number of edges reached in the code of an instrumented target."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """Notes for the user, each safe to show."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Executions by target and operation; together :attr:`executions`."""
    covering: tuple[bytes, ...] = ()
    """Inputs that reach new code of a target. They belong in the corpus, whatever they reach in the reference."""
    starting: float = 0.0
    """The part of :attr:`seconds` before the first question, which does not grow with the unit."""


class InputEngine(Protocol):
    """Makes inputs and asks the targets, one unit after the other; a pure function of its job and the unit."""

    def run(self, unit: WorkUnit, progress: Callable[[int], None]) -> UnitResult:
        """Ask the inputs of a unit; ``progress`` gets the number of finished inputs from time to time.

        Raises:
            BudgetSpent: a target failed more often than its limit allows.
            TargetError: a target cannot be asked (any more).
            KeyboardInterrupt: on Ctrl-C; then no part of the unit is kept.
        """
        ...

    def close(self) -> None:
        """End the targets' processes."""
        ...
