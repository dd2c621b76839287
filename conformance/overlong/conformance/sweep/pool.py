"""Sends work units to a pool of workers and yields results in any order; the pool of this machine's threads, and the
engine that each thread keeps.

A sweep's units are shards, a campaign's are ranges of inputs. A Dask cluster is a pool in ``cluster.py``.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


class Pool(ABC, Generic[Unit, Result]):
    """Runs work units by workers that answer by futures, and gives their results in any order."""

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

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the pool; ``at_once``: without waiting for units in progress. Never raises."""

    @property
    def room(self) -> int:
        """The number of units that it can still take."""
        return _AHEAD * self.workers - self.pending

    @property
    def pending(self) -> int:
        """The number of units under way."""
        return len(self._futures)

    def submit(self, unit: Unit) -> None:
        """Start a unit; it counts as under way."""
        if not self._futures:
            self._last = time.monotonic()
        self._futures.add(self.start(unit))

    def next(self, seconds: float) -> Result | None:
        """A unit's result; None if none arrives in time.

        Raises:
            BudgetSpent: the target failed more often than its limit.
            TargetError: a target cannot be asked any more, or no worker is left.
            KeyboardInterrupt: the user interrupts.
        """
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


class Threaded(Pool[Unit, Result]):
    """The threads of this process as a pool; each keeps an engine.

    Threads suffice, because they only wait: each drives an engine whose target processes do the work. They end with the
    process: a silent target does not keep it alive.
    """

    def __init__(
        self, task: PoolTask[Unit, Result], jobs: int, at_end: Callable[[], None], close_all: Callable[[], None]
    ) -> None:
        """Start them.

        Args:
            task: what each does.
            jobs: the number of threads.
            at_end: called in each thread at its end.
            close_all: ends the engines of all threads, busy or not.
        """
        super().__init__()
        self._task, self._at_end, self._close_all = task, at_end, close_all
        self._waiting: queue.SimpleQueue[tuple[Future[Result], Unit] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    @property
    def workers(self) -> int:
        return len(self._threads)

    def start(self, unit: Unit) -> Future[Result]:
        future = Future[Result]()
        self._waiting.put((future, unit))
        return future

    def close(self, *, at_once: bool) -> None:
        self.forget()
        if self._have_ended(0):
            return  # it was closed before; the engines that are left belong to others
        for _ in self._threads:
            self._waiting.put(None)
        if not at_once:
            self._have_ended(None)
            return
        deadline = time.monotonic() + _PATIENCE
        while True:  # a thread may restart its target before it notices the end
            self._close_all()
            if self._have_ended(0.05) or time.monotonic() > deadline:
                return

    def _have_ended(self, seconds: float | None) -> bool:
        """Wait for the threads to end; True if they have."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(deadline - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        try:
            while (item := self._waiting.get()) is not None:
                future, unit = item
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    result = self._task.run(unit)
                except BaseException as error:  # noqa: BLE001 (it is the future's)
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            self._at_end()


_Kept = TypeVar("_Kept", bound="Closed")


class Closed(Protocol):
    """An object that holds processes, and can be closed."""

    def close(self) -> None:
        """End its processes."""
        ...


class Engines(Generic[_Kept]):
    """One engine for each thread of this process: the one for the thread's last job."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: set[_Kept] = set()
        self._lock = threading.Lock()

    def serving(self, job: object, opened: Callable[[], _Kept]) -> _Kept:
        """The engine of this thread, if it serves that job and is open; otherwise a new one."""
        engine: _Kept | None = getattr(self._mine, "engine", None)
        if engine is None or engine not in self._all or self._mine.serves != job:
            self.end()
            engine, self._mine.serves = opened(), job
            self._mine.engine = engine
            with self._lock:
                self._all.add(engine)
        return engine

    def end(self) -> None:
        """End this thread's engine, if it has one."""
        engine: _Kept | None = getattr(self._mine, "engine", None)
        self._mine.engine = None
        if engine is not None:
            with self._lock:
                self._all.discard(engine)
            engine.close()

    def end_all(self) -> None:
        """End the engines of all threads of this process, even busy ones: their units fail."""
        with self._lock:
            engines = list(self._all)
            self._all.clear()
        for engine in engines:
            with contextlib.suppress(Exception):  # a thread may be using it
                engine.close()
