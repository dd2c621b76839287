"""Chooses how a sweep asks its shards: in the target's own process, or by frames in columns."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.results.shard import Shard
from overlong.conformance.sweep.engine import NOT_RECORDED, Engines, ShardEngine, SweepJob
from overlong.conformance.sweep.in_process import InProcess, reason_against
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import resolve

if TYPE_CHECKING:
    from overlong.conformance.results.shard import ShardResult
    from overlong.conformance.targets.framed import FramedTarget


def open_engine(job: SweepJob) -> ShardEngine:
    """The engine for its target: in the target's own process if possible, else by frames in columns.

    Raises:
        TargetError: the target cannot be measured, or has no operation that a sweep can ask.
    """
    target = resolve(job.target, job.limits)
    if isinstance(target, RecordedTarget):
        raise TargetError(NOT_RECORDED)
    if called_in_process(job, target):
        return InProcess(job, target)
    from overlong.conformance.sweep.columnar import Columnar  # with NumPy, which takes a while

    return Columnar(job)


def called_in_process(job: SweepJob, target: FramedTarget) -> bool:
    """True if a target is a function that the core can call in a separate process."""
    return not job.columns and not reason_against(target)


_engines = Engines[ShardEngine]()


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


def open_ahead(job: SweepJob, plan: str) -> None:
    """Open this thread's engine, and let it prepare for a plan. An error shows again when a shard is run."""
    with contextlib.suppress(Exception):  # another thread may end it meanwhile
        run_shard(job, Shard(plan, 0, 0, 0))


end_engine = _engines.end


def close_engines() -> None:
    """End the engines of all threads of this process, even busy ones: their tasks fail."""
    _engines.end_all()
