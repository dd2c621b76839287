"""Sends work units to a pool of workers and yields results in any order; and the pool of this machine's threads.

A sweep's units are shards, a campaign's are ranges of inputs. A Dask cluster is a pool in ``cluster.py``.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import zlib
from abc import ABC, abstractmethod
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.results.shard import Shard
from overlong.conformance.sweep.ledger import LedgerEntry
from overlong.conformance.sweep.opening import close_engines, end_engine, open_ahead, run_shard
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from overlong.conformance.sweep.engine import SweepJob

Unit = TypeVar("Unit")
Result = TypeVar("Result")
_Taken_contra = TypeVar("_Taken_contra", contravariant=True)
_Given_co = TypeVar("_Given_co", covariant=True)

_AHEAD = 2  # units under way for each worker: no worker waits for the harness, and memory stays flat
_LOOK = 0.5  # seconds without a result before the pool is checked
_PATIENCE = 2.0  # seconds for threads to end after their engines were closed


def cpus() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class PoolTask(Protocol[_Taken_contra, _Given_co]):
    """Runs work units in any process. Two tasks that do the same are equal."""

    def identities(self) -> tuple[str, ...]:
        """The digest of each target on the machine that calls this.

        Raises:
            TargetError: a target cannot be used there.
        """
        ...

    def run(self, unit: _Taken_contra) -> _Given_co:
        """Run a unit; each thread keeps its own engine.

        Raises:
            BudgetSpent: a target failed more often than its limit.
            TargetError: a target cannot be asked.
        """
        ...


class Pool(Protocol[_Taken_contra, _Given_co]):
    """Runs work units, and yields their results in any order."""

    @property
    def room(self) -> int:
        """The number of units that it can still take."""
        ...

    @property
    def pending(self) -> int:
        """The number of units under way."""
        ...

    def submit(self, unit: _Taken_contra) -> None:
        """Start a unit."""
        ...

    def next(self, seconds: float) -> _Given_co | None:
        """A unit's result; None if none arrives in time.

        Raises:
            BudgetSpent: the target failed more often than its limit.
            TargetError: a target cannot be asked any more, or no worker is left.
            KeyboardInterrupt: the user interrupts.
        """
        ...

    def close(self, *, at_once: bool) -> None:
        """End the pool; ``at_once``: without waiting for units in progress. Never raises."""
        ...


def results(pool: Pool[Unit, Result], units: Iterable[Unit]) -> Iterator[Result]:
    """The results of units as they arrive; a few units for each worker are in progress.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked, or no worker is left.
    """
    source = iter(units)
    while True:
        while pool.room > 0 and (unit := next(source, None)) is not None:
            pool.submit(unit)
        if not pool.pending:
            return
        if (result := pool.next(_LOOK)) is not None:
            yield result


class Futures(ABC, Generic[Unit, Result]):
    """The common part of pools whose workers answer by futures."""

    def __init__(self) -> None:
        self._futures: set[Future[Result]] = set()
        self._last = time.monotonic()

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of units that can run at a time; it may change."""

    @abstractmethod
    def start(self, unit: Unit) -> Future[Result]:
        """Start a unit."""

    def check(self, silent: float, error: BaseException | None = None) -> None:
        """Check that there can be further results.

        Args:
            silent: the seconds since the last result.
            error: the exception raised in place of a result.

        Raises:
            TargetError: there can be none; the message gives reason and remedy.
        """

    @property
    def room(self) -> int:
        return _AHEAD * self.workers - self.pending

    @property
    def pending(self) -> int:
        return len(self._futures)

    def submit(self, unit: Unit) -> None:
        if not self._futures:
            self._last = time.monotonic()
        self._futures.add(self.start(unit))

    def next(self, seconds: float) -> Result | None:
        done, _ = wait(self._futures, seconds, FIRST_COMPLETED)
        failed: BaseException | None = None
        for future in done:
            error = CancelledError() if future.cancelled() else future.exception()
            if error is None:
                self._futures.remove(future)
                self._last = time.monotonic()
                return future.result()
            failed = error
        self.check(time.monotonic() - self._last if self._futures else 0.0, failed)
        if failed is not None:
            raise failed
        return None

    def forget(self) -> None:
        """Drop the units in progress."""
        for future in self._futures:
            future.cancel()
        self._futures = set()


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


class Threads(Executor):
    """A number of threads, which end with the process: a silent target does not keep it alive.

    Threads suffice, because they only wait: each drives an engine whose target processes do the work.
    """

    def __init__(self, count: int, at_end: Callable[[], None], at_start: Callable[[], None] | None = None) -> None:
        """``at_start`` and ``at_end`` are called in each thread; the first raises nothing."""
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = (
            queue.SimpleQueue()
        )
        self._at_start, self._at_end = at_start, at_end
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        self._waiting.put((future, fn, args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        if cancel_futures:
            try:
                while (item := self._waiting.get_nowait()) is not None:
                    item[0].cancel()
            except queue.Empty:
                pass
        for _ in self._threads:
            self._waiting.put(None)
        if wait:
            self.join(None)

    def join(self, seconds: float | None) -> bool:
        """Wait for the threads to end; return True if they have."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(deadline - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        try:
            if self._at_start is not None:
                self._at_start()
            while (item := self._waiting.get()) is not None:
                future, call, arguments = item
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    result = call(*arguments)
                except BaseException as error:  # noqa: BLE001 (it is the future's)
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            self._at_end()


class Threaded(Futures[Unit, Result]):
    """The threads of this process as a pool; each keeps an engine."""

    def __init__(
        self, task: PoolTask[Unit, Result], jobs: int, at_end: Callable[[], None], close_all: Callable[[], None],
        at_start: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """``at_start`` and ``at_end`` are called in each thread; ``close_all`` ends the engines of all, busy or not."""
        super().__init__()
        self._task, self._jobs, self._close_all = task, jobs, close_all
        self._threads = Threads(jobs, at_end, at_start)

    @property
    def workers(self) -> int:
        return self._jobs

    def start(self, unit: Unit) -> Future[Result]:
        return self._threads.submit(self._task.run, unit)

    def close(self, *, at_once: bool) -> None:
        self.forget()
        if not at_once:
            self._threads.shutdown()
            return
        if self._threads.join(0):
            return  # it was closed before; the engines that are left belong to others
        self._threads.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + _PATIENCE
        while True:  # a thread may restart its target before it notices the end
            self._close_all()
            if self._threads.join(0.05) or time.monotonic() > deadline:
                return


class Local(Threaded[Shard, LedgerEntry]):
    """The threads of this process, for a sweep."""

    def __init__(self, job: SweepJob, jobs: int, ahead: str = "") -> None:
        """``ahead``: a plan for which the engines prepare before there is a shard."""
        prepare = partial(open_ahead, job, ahead) if ahead else None
        super().__init__(ShardTask(job), jobs, end_engine, close_engines, prepare)
