"""Sends work units to a pool of workers and yields results in any order; and the engine that each thread keeps.

A sweep's units are shards, a campaign's are ranges of inputs. The workers are the threads of this process, or those of
a Dask cluster (extra ``cluster``). A worker of a cluster runs the same function as a thread here: it starts the target
as a process of its own, never inside the worker. If a worker is killed, its target's input ends and its sandbox closes,
so the target ends too. The scheduler gives the worker's units to another; as units are pure, the result is the same.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import re
import socket
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.printable import printable
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Unit = TypeVar("Unit")
Result = TypeVar("Result")
_Kept = TypeVar("_Kept")

_AHEAD = 2  # units under way for each worker: no worker waits for the harness, and memory stays flat
_LOOK = 0.5  # seconds without a result before the pool is checked
_PATIENCE = 2.0  # seconds for threads to end after their engines were closed
_CONNECT = 5.0  # seconds to find the scheduler, at first or again
_ALONE = 10.0  # seconds without a result and without a worker
_COUNT = 2.0  # seconds for which a count of the workers stays valid

_ADDRESS = re.compile(r"tcp://([\w.-]+|\[[\da-fA-F:.%]+\]):\d{1,5}")

_checked = threading.local()


def cpus() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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


class Engines(Generic[_Kept]):
    """One engine for each thread of this process: the one for the thread's last job. It has ``close()``."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: set[Any] = set()
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
        engine: Any = getattr(self._mine, "engine", None)
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


class Threaded(Pool[Unit, Result]):
    """The threads of this process as a pool; each keeps an engine.

    Threads suffice, because they only wait: each drives an engine whose target processes do the work. They end with the
    process: a silent target does not keep it alive.
    """

    def __init__(self, run: Callable[[Unit], Result], jobs: int, engines: Engines[Any]) -> None:
        """Start them.

        Args:
            run: what each does with a unit.
            jobs: the number of threads.
            engines: those that ``run`` uses.
        """
        super().__init__()
        self._run, self._engines = run, engines
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
            self._engines.end_all()
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
                    result = self._run(unit)
                except BaseException as error:  # noqa: BLE001 (it is the future's)
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            self._engines.end()


class Cluster(Pool[Unit, Result]):
    """The workers of a scheduler, as a pool. If a worker is lost, another one gets its unit."""

    def __init__(
        self,
        address: str,
        run: Callable[[Unit], Result],
        identify: Callable[[], tuple[str, ...]],
        identities: tuple[str, ...],
        end: Callable[[], None],
    ) -> None:
        """Connect, and wait for a worker.

        Args:
            address: that of the scheduler: ``tcp://host:port``.
            run: what a worker does with a unit. Each of its threads keeps its own engine.
            identify: gives the targets' digests on the machine that calls it.
            identities: the targets' digests on this machine; those of the workers must be the same.
            end: called in each worker after the last unit: ends the engines of all its threads.

        Raises:
            TargetError: there is no scheduler or no worker, or a worker cannot run a unit.
        """
        super().__init__()
        try:
            from dask import config
            from distributed import Client
        except ImportError as error:
            raise TargetError(f"--jobs tcp://HOST:PORT takes dask.distributed; {install('cluster')}") from error
        self._address = printable(address)
        self._brought, self._end = (version("overlong"), run, identify, identities), end
        unreachable = (
            f"no scheduler at {self._address}: start one with 'dask scheduler', and workers with "
            "'dask worker tcp://HOST:PORT'"
        )
        if not _ADDRESS.fullmatch(address):  # a client with a malformed address does not end
            raise TargetError(unreachable)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the errors raised here say it in one line
        try:
            with config.set({"distributed.comm.timeouts.connect": f"{_CONNECT}s"}):
                connect: Any = Client  # dask has no types
                self._client = connect(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise TargetError(unreachable) from error
        self._counted, self._threads = -_COUNT, 0
        self._executor = self._client.get_executor(pure=False)
        try:
            self._client.wait_for_workers(1, timeout=_ALONE)
            self._client.run(remote_version)  # a worker without overlong would exit when it gets a shard
        except Exception as error:
            self.close(at_once=True)
            why = "the scheduler has no workers" if isinstance(error, TimeoutError) else _why(error)
            raise TargetError(f"{self._address}: {why}; {self._remedy}") from error
        except BaseException:
            self.close(at_once=True)
            raise

    @property
    def _remedy(self) -> str:
        return f"start workers with 'dask worker {self._address}', where overlong is installed as it is here"

    @property
    def workers(self) -> int:
        """The number of threads of all workers."""
        if time.monotonic() - self._counted > _COUNT:
            self._threads = self._count()
        return max(self._threads, 1)

    def _count(self) -> int:
        """The number of threads of all current workers.

        Raises:
            TargetError: the scheduler does not answer.
        """
        try:
            workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1).get("workers", {})
        except Exception as error:
            raise TargetError(self._lost) from error
        self._counted = time.monotonic()
        return sum(int(worker.get("nthreads", 1)) for worker in workers.values())

    def start(self, unit: Unit) -> Future[Result]:
        try:
            future: Future[Result] = self._executor.submit(run_elsewhere, *self._brought, unit)
        except Exception as error:
            raise TargetError(self._lost) from error
        return future

    @property
    def _lost(self) -> str:
        return f"{self._address}: the scheduler is gone"

    def check(self, silent: float, error: BaseException | None = None) -> None:
        if isinstance(error, TargetError | BudgetSpent):
            return
        if self._client.status != "running" or isinstance(error, CancelledError):
            raise TargetError(self._lost) from error
        if error is not None:
            raise TargetError(f"{self._address}: {_why(error)}") from error
        if silent > _ALONE and not self._count():
            raise TargetError(f"{self._address}: no workers are left; {self._remedy}")

    def close(self, *, at_once: bool) -> None:
        self.forget()
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=False)
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.run(self._end, wait=not at_once)
        with contextlib.suppress(Exception):
            self._client.close(timeout=1)


def remote_version() -> str:
    """The version of overlong in the process that calls this."""
    return version("overlong")


def run_elsewhere(
    release: str,
    run: Callable[[Unit], Result],
    identify: Callable[[], tuple[str, ...]],
    identities: tuple[str, ...],
    unit: Unit,
) -> Result:
    """Run a unit in a worker, if it has the same overlong and the same targets as the asking process.

    Args:
        release: that of overlong on the machine of the run.
        run: what to do.
        identify: gives the identities of the targets here.
        identities: those on the machine of the run.
        unit: the unit.

    Raises:
        BudgetSpent: a target failed more often than its limit.
        TargetError: the worker differs in these, or a target cannot be asked.
    """
    if getattr(_checked, "brought", None) != (release, identities):
        here = printable(socket.gethostname())
        if (mine := version("overlong")) != release:
            raise TargetError(f"a worker on {here} has overlong {printable(mine)}, and this is {release}")
        if identify() != identities:
            which = "this target" if len(identities) == 1 else "a target"
            raise TargetError(f"a worker on {here} has another file or command for {which} than is here")
        _checked.brought = release, identities
    return run(unit)


def _why(error: BaseException) -> str:
    """The words for a worker's failure that the target did not cause."""
    names = {type(each).__name__ for each in (error, error.__cause__, error.__context__) if each is not None}
    text = printable(str(error).partition("\n")[0], 200)
    if "ModuleNotFoundError" in names or "No module named" in str(error):
        return f"a worker or the scheduler lacks a module ({text})"
    if "KilledWorker" in names:
        return f"a shard has ended several workers: look at their memory ({text})"
    return f"a worker failed: {type(error).__name__}: {text}"
