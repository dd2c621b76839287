"""What asks a shard: the target's own process, or frames in columns. Chosen here, and nowhere else."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import Limits, resolve
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from overlong.conformance.results.shard import Shard, ShardResult
    from overlong.conformance.targets.framed import FramedTarget


class Engine(Protocol):
    """Asks a target the strings of shards, one shard after the other."""

    def run(self, shard: Shard) -> ShardResult:
        """Ask all strings of a shard. What the target does not survive is a fault in the result.

        Raises:
            BudgetSpent: it failed more often than its limit.
            TargetError: it cannot be asked any more.
        """
        ...

    def close(self) -> None:
        """End the target's processes."""
        ...


@dataclass(frozen=True)
class Job:
    """Whom a sweep asks, and what is expected. It can be pickled: a worker elsewhere makes an engine of it."""

    target: str | tuple[str, ...]
    """Its name, as on the command line; or a command that speaks the protocol."""
    profile: Profile = RFC3629
    operation: str = ""
    """``V`` or ``D``; empty for the one of them that says more."""
    limits: Limits = field(default_factory=Limits)
    columns: bool = False
    """Ask in columns even what could be asked in its own process."""


def open_engine(job: Job) -> Engine:
    """What asks its target: the target's own process where that can be, else frames in columns.

    Raises:
        TargetError: the target cannot be measured, or there is nothing that a sweep could ask it.
    """
    from overlong.conformance.sweep.columnar import Columnar
    from overlong.conformance.sweep.in_process import InProcess

    target = resolve(job.target, job.limits)
    if isinstance(target, RecordedTarget):
        raise TargetError(NOT_RECORDED)
    return InProcess(job, target) if called_in_process(job, target) else Columnar(job)


def called_in_process(job: Job, target: FramedTarget) -> bool:
    """Whether a target is a function that compiled code can call in a process of its own."""
    from overlong.conformance.sweep.in_process import reason_against

    return not job.columns and not reason_against(target)


NOT_RECORDED = "answers in a file cannot be swept: nobody is there to ask; name the adapter that wrote them"

_mine = threading.local()
_all: set[Engine] = set()
_ended = 0  # how often all engines were ended
_lock = threading.Lock()


def run_shard(job: Job, shard: Shard) -> ShardResult:
    """What came of a shard. A task for any executor: pure, but for the engine that each thread keeps for its job.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked, or not any more.
    """
    if getattr(_mine, "serves", None) != (job, _ended):
        end_engine()
        _mine.engine = open_engine(job)
        _mine.serves = job, _ended
        with _lock:
            _all.add(_mine.engine)
    engine: Engine = _mine.engine
    try:
        return engine.run(shard)
    except BaseException:
        end_engine()
        raise


def end_engine() -> None:
    """End this thread's engine, if it has one."""
    engine, _mine.engine, _mine.serves = getattr(_mine, "engine", None), None, None
    if engine is not None:
        with _lock:
            _all.discard(engine)
        engine.close()


def close_engines() -> None:
    """End the engines of all threads of this process, also those that are at work: their tasks fail."""
    global _ended  # noqa: PLW0603 (one process, one count)
    with _lock:
        engines = list(_all)
        _ended += 1
    for engine in engines:
        with contextlib.suppress(Exception):  # a thread may be in the midst of it
            engine.close()
