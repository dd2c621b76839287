"""What an engine is, and the one that a job names. Each is imported on demand: some need optional packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.engines.result import UnitResult
    from overlong.fuzz.execution.job import CampaignJob, WorkUnit


class InputEngine(Protocol):
    """Makes inputs and asks the targets, one unit after the other; a pure function of its job and the unit."""

    def run(self, unit: WorkUnit) -> UnitResult:
        """Ask the inputs of a unit.

        Raises:
            BudgetSpent: a target failed more often than its limit allows.
            TargetError: a target cannot be asked (any more).
            KeyboardInterrupt: on Ctrl-C; then no part of the unit is kept.
        """
        ...

    def close(self) -> None:
        """End the targets' processes."""
        ...


def _grammar(job: CampaignJob) -> InputEngine:
    from overlong.fuzz.engines.grammar import GrammarEngine

    return GrammarEngine(job)


def _hypothesis(job: CampaignJob) -> InputEngine:
    try:
        from overlong.fuzz.engines.hypothesis_engine import HypothesisEngine
    except ImportError as error:
        raise TargetError(f"the hypothesis engine needs Hypothesis; {install('fuzz')}") from error
    return HypothesisEngine(job)


def _atheris(job: CampaignJob) -> InputEngine:
    from overlong.fuzz.engines.atheris_engine import AtherisEngine

    return AtherisEngine(job)


ENGINES: dict[str, Callable[[CampaignJob], InputEngine]] = {
    "grammar": _grammar,
    "hypothesis": _hypothesis,
    "atheris": _atheris,
}
"""Engines by name, the default first."""


def open_engine(job: CampaignJob) -> InputEngine:
    """The engine of a job; it starts no target.

    Raises:
        TargetError: there is no such engine, or it cannot be used here; the message has the remedy.
    """
    if (make := ENGINES.get(job.engine)) is None:
        raise TargetError(f"there is no engine '{printable(job.engine)}'; there are {', '.join(ENGINES)}")
    return make(job)
