"""The engine that a job names, and the pools that run the units of a campaign on engines: a thread of this process,
several processes, or a cluster's workers.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import as_before, held, safe_for_children
from overlong.conformance.sweep.pool import Engines, Pool, Threaded
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.resolve import resolve
from overlong.fuzz.engines.job import UnitResult
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from overlong.fuzz.engines.atheris_engine import AtherisEngine
    from overlong.fuzz.engines.grammar import GrammarEngine
    from overlong.fuzz.engines.hypothesis_engine import HypothesisEngine
    from overlong.fuzz.engines.job import CampaignJob

    InputEngine = GrammarEngine | HypothesisEngine | AtherisEngine

_DEATHS = 3
"""How often processes may end in a row without a result."""


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
"""Engines by name, the default first, each imported on demand: some need optional packages.

An engine makes inputs and asks the targets, one unit after the other: ``run(unit)`` returns a result, which is a pure
function of the job and the unit, or raises BudgetSpent, TargetError or KeyboardInterrupt; then no part of the unit is
kept. ``close()`` ends the targets' processes.
"""


def open_engine(job: CampaignJob) -> InputEngine:
    """The engine of a job; it starts no target.

    Raises:
        TargetError: there is no such engine, or it cannot be used here; the message has the remedy.
    """
    if (make := ENGINES.get(job.engine)) is None:
        raise TargetError(f"there is no engine '{printable(job.engine)}'; there are {', '.join(ENGINES)}")
    return make(job)


def identities_of(job: CampaignJob) -> tuple[str, ...]:
    """The digest of each target: of its command, and of the files in it.

    Raises:
        TargetError: one of them cannot be used here.
    """
    try:
        return tuple(identity_of(resolve(target, job.limits)).digest for target in job.targets)
    except OSError as error:
        raise TargetError(f"{printable(str(error.filename))}: {error.strerror}; check the path") from error


_engines = Engines["InputEngine"]()


@dataclass(frozen=True)
class UnitTask:
    """Runs a job's units in any process."""

    job: CampaignJob

    def identities(self) -> tuple[str, ...]:
        """The digest of each target, as it is there.

        Raises:
            TargetError: one of them cannot be used there.
        """
        return identities_of(self.job)

    def run(self, unit: range) -> UnitResult:
        """Run a unit; each thread keeps an engine.

        Raises:
            TargetError: a target cannot be asked any more; or the engine failed.
        """
        try:
            engine = _engines.serving(self, lambda: open_engine(self.job))
            began = time.monotonic()
            result = engine.run(unit)
            result.seconds = time.monotonic() - began
        except BudgetSpent as error:
            _engines.end()
            raise TargetError(str(error)) from error
        except BaseException:
            _engines.end()
            raise
        if result.unit != unit:
            raise TargetError(f"the engine ran {result.unit} and was to run {unit}")
        return result


def end_engines() -> None:
    """End the engines of all threads of this process. Units still running fail."""
    _engines.end_all()


def pool_of(task: UnitTask, jobs: int, cluster: str) -> Pool[range, UnitResult]:
    """A pool of a number of processes; or of the workers of the scheduler at an address.

    Raises:
        TargetError: there is no such scheduler, or a worker cannot run a unit.
    """
    if cluster:
        from overlong.conformance.sweep.pool import Cluster

        return Cluster(cluster, task.run, task.identities, task.identities(), end_engines)
    return Processes(task, jobs) if jobs > 1 else Threaded(task.run, 1, _engines)


class Processes(Pool[range, UnitResult]):
    """Several processes. If one is lost, all are replaced, and their units run again."""

    def __init__(self, task: UnitTask, count: int) -> None:
        super().__init__()
        self._task, self._count, self._deaths = task, count, 0
        self._units: dict[Future[UnitResult], range] = {}
        self._open()

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")
        theirs, self._stop = context.Pipe(duplex=False)
        with _starting():  # a process of Python's own, which counts semaphores
            self._executor = ProcessPoolExecutor(self._count, context, _begin, (theirs, self._task))

    @property
    def workers(self) -> int:
        return self._count

    def start(self, unit: range) -> Future[UnitResult]:
        try:
            with _starting():  # if a process is missing
                future = self._executor.submit(run_there, unit)
        except BrokenProcessPool as error:  # one was lost just now: as if it had been lost a moment later
            future = Future[UnitResult]()
            future.set_exception(error)
        self._units[future] = unit
        return future

    def next(self, seconds: float) -> UnitResult | None:
        try:
            result = super().next(seconds)
        except BrokenProcessPool:
            self._replace()
            return None
        if result is not None:
            self._deaths = 0
            self._units = {future: self._units[future] for future in self._futures}
        return result

    def _replace(self) -> None:
        """Start other processes for the units that have no result."""
        self._deaths += 1
        units = [self._units[future] for future in self._futures]
        self.close(at_once=True)
        if self._deaths >= _DEATHS:
            raise TargetError(
                f"a process of this program that tests the targets has ended {_DEATHS} times in a row; look at the "
                "machine's memory, or do without such processes by --jobs 1; go on with --resume"
            )
        self._open()
        for unit in sorted(units, key=lambda unit: unit.start):
            self.submit(unit)

    def close(self, *, at_once: bool) -> None:
        self.forget()
        self._units.clear()
        if at_once:
            self._stop.close()  # each process waits for this end
        with held():
            self._executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _starting() -> Generator[None]:
    """Processes that start here import nothing from the current folder, and get no Ctrl-C until they heed it."""
    with held(), safe_for_children():
        if sys.platform == "win32":
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


_tasks: list[UnitTask] = []
"""Of a process of a pool: the one that it runs."""


def _begin(stop: Any, task: UnitTask) -> None:
    """Prepare a new process: it ends when the pipe closes, or with the process that started it."""
    as_before()
    _tasks.append(task)
    threading.Thread(target=_end_at, args=(stop,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which ends this process
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # targets must not inherit a blocked signal
    atexit.register(end_engines)


def _end_at(stop: Any) -> None:
    with contextlib.suppress(EOFError, OSError):
        stop.recv()
    end_engines()
    os._exit(1)


def run_there(unit: range) -> UnitResult:
    """Run a unit in a process of a pool.

    Raises:
        TargetError: a target cannot be asked any more; or the engine failed.
    """
    try:
        return _tasks[0].run(unit)
    except TargetError as error:
        raise TargetError(str(error)) from None
    except Exception as error:  # noqa: BLE001 (told in one line)
        raise TargetError(f"the engine failed: {type(error).__name__}: {printable(str(error), 200)}") from None
