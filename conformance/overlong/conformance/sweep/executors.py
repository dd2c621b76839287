"""Shards to an executor, entries back in whatever order they come; and the executor of this machine.

Written against ``concurrent.futures.Executor``: threads here, a cluster's workers in ``cluster.py``.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import zlib
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import TYPE_CHECKING, Any, Protocol

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.sweep.engine import Job, close_engines, end_engine, run_shard
from overlong.conformance.sweep.ledger import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from overlong.conformance.results.shard import Shard

_AHEAD = 2  # shards for each worker that are under way: none waits for the harness, and memory stays flat
_LOOK = 0.5  # seconds without a result, after which the crew is looked at
_PATIENCE = 2.0  # seconds for threads whose engines were ended under them


def cpus() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew(Protocol):
    """Who runs the shards of a job."""

    @property
    def workers(self) -> int:
        """How many shards can be at work at a time; it may change."""
        ...

    def submit(self, shard: Shard) -> Future[Entry]:
        """Have a shard run."""
        ...

    def check(self, silent: float, error: BaseException | None = None) -> None:
        """Look whether there will be results.

        Args:
            silent: seconds since the last one.
            error: what came in place of one.

        Raises:
            TargetError: there will be none; the message says why, and what to do.
        """
        ...

    def close(self, *, at_once: bool) -> None:
        """Let it go; ``at_once``: without waiting for what is under way."""
        ...


def entries(crew: Crew, shards: Iterable[Shard]) -> Iterator[Entry]:
    """What comes of shards, as it comes; a few of them for each worker are under way.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked, or there is nobody left who does.
    """
    source, last = iter(shards), time.monotonic()
    pending: set[Future[Entry]] = set()
    try:
        while True:
            while len(pending) < _AHEAD * crew.workers and (shard := next(source, None)) is not None:
                pending.add(crew.submit(shard))
            if not pending:
                return
            done, pending = wait(pending, _LOOK, FIRST_COMPLETED)
            failed: Future[Entry] | None = None
            for future in done:
                if future.cancelled() or future.exception() is not None:
                    failed = future
                else:
                    last = time.monotonic()
                    yield future.result()
            if failed is not None:
                error = CancelledError() if failed.cancelled() else failed.exception()
                crew.check(time.monotonic() - last, error)
                failed.result()
            elif not done:
                crew.check(time.monotonic() - last)
    finally:
        for future in pending:
            future.cancel()


def task(job: Job, shard: Shard) -> Entry:
    """Run a shard, and check and count what came of it where it was run.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked, or its engine contradicts itself.
    """
    result = run_shard(job, shard)
    try:
        if result.shard != shard:
            raise ValueError(f"{shard.key}: the result of {result.shard.key}")
        return Entry.of(result)
    except (ValueError, zlib.error) as error:
        raise TargetError(f"the sweep did not run as planned: {error}") from error


class Threads(Executor):
    """So many threads, which end with the process: a target that answers nothing keeps nobody from leaving.

    Threads suffice, because they only wait: each drives an engine with target processes of its own, and these work.
    """

    def __init__(self, count: int, at_end: Callable[[], None]) -> None:
        """``at_end`` is called in each thread when it ends."""
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = (
            queue.SimpleQueue()
        )
        self._at_end = at_end
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
        """Wait for the threads to end; whether they have."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(deadline - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        try:
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


class Local:
    """The threads of this process."""

    def __init__(self, job: Job, jobs: int) -> None:
        self.workers = jobs
        self._job = job
        self._threads = Threads(jobs, end_engine)

    def submit(self, shard: Shard) -> Future[Entry]:
        return self._threads.submit(task, self._job, shard)

    def check(self, silent: float, error: BaseException | None = None) -> None:
        """Threads stay: what they do not survive, their results say."""

    def close(self, *, at_once: bool) -> None:
        if not at_once:
            self._threads.shutdown()
            return
        self._threads.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + _PATIENCE
        while True:  # a thread may start its target anew before it sees that it is to end
            close_engines()
            if self._threads.join(0.05) or time.monotonic() > deadline:
                return
