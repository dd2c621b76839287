"""A sweep's job, and how its shards are asked: in the target's own process, or by frames in columns; and by whom."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.sweep.in_process import InProcess, reason_against
from overlong.conformance.sweep.ledger import LedgerEntry
from overlong.conformance.sweep.pool import Engines, Threaded
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from overlong.conformance.results.sweeps import Shard, ShardResult
    from overlong.conformance.sweep.columnar import Columnar
    from overlong.conformance.targets.framed import FramedTarget


@dataclass(frozen=True)
class SweepJob:
    """The target of a sweep, and the expectation. It can be pickled: a remote worker makes an engine from it."""

    target: str | tuple[str, ...]
    """Its name, as on the command line; or a command that speaks the protocol."""
    profile: Profile = RFC3629
    operation: str = ""
    """``V`` or ``D``; empty for the more informative one that the target has."""
    limits: Limits = field(default_factory=Limits)
    columns: bool = False
    """Ask in columns even if the target could be asked in its own process."""


NOT_RECORDED = "recorded answers cannot be swept; name the adapter that wrote them"


def open_engine(job: SweepJob) -> InProcess | Columnar:
    """The engine for its target: in the target's own process if possible, else by frames in columns.

    Raises:
        TargetError: the target cannot be measured, or has no operation that a sweep can ask.
    """
    target = resolve(job.target, job.limits)
    if isinstance(target, RecordedTarget):
        raise TargetError(NOT_RECORDED)
    if called_in_process(job, target):
        return InProcess(target, job.profile, job.operation)
    from overlong.conformance.sweep.columnar import Columnar  # with NumPy, which takes a while

    return Columnar(target, job.profile, job.operation)


def called_in_process(job: SweepJob, target: FramedTarget) -> bool:
    """True if a target is a function that the core can call in a separate process."""
    return not job.columns and not reason_against(target)


_engines = Engines["InProcess | Columnar"]()


def run_shard(job: SweepJob, shard: Shard) -> ShardResult:
    """Run a shard. A task for any executor: pure, except for the engine that each thread keeps for its job.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked (any more).
    """
    engine = _engines.serving(job, lambda: open_engine(job))
    try:
        return engine.run(shard)
    except BaseException:
        _engines.end()
        raise


end_engine = _engines.end


def close_engines() -> None:
    """End the engines of all threads of this process, even busy ones: their tasks fail."""
    _engines.end_all()


@dataclass(frozen=True)
class ShardTask:
    """Runs a job's shards in any process, and checks and counts their results there."""

    job: SweepJob

    def identities(self) -> tuple[str, ...]:
        """The digest of the target on that machine.

        Raises:
            TargetError: it cannot be used.
        """
        return (identity_of(resolve(self.job.target, self.job.limits)).digest,)

    def run(self, unit: Shard) -> LedgerEntry:
        """Run a shard.

        Raises:
            BudgetSpent: the target failed more often than its limit.
            TargetError: it cannot be asked, or its engine contradicts itself.
        """
        result = run_shard(self.job, unit)
        try:
            if result.shard != unit:
                raise ValueError(f"{unit.key}: the result of {result.shard.key}")
            return LedgerEntry.of(result)
        except (ValueError, zlib.error) as error:
            raise TargetError(f"the sweep did not run as planned: {error}") from error


def local_pool(job: SweepJob, jobs: int) -> Threaded[Shard, LedgerEntry]:
    """The threads of this process, for a sweep."""
    return Threaded(ShardTask(job), jobs, end_engine, close_engines)
