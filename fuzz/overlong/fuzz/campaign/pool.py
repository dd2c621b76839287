"""Pools that run the units of a campaign: this process, several of its own, or the workers of a cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NoReturn

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.interpreter import as_before, safe_for_children
from overlong.conformance.support.interruption import held
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.engine import Engines
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.resolve import resolve
from overlong.fuzz.execution.engine import UnitResult, WorkUnit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from multiprocessing.context import SpawnProcess

    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection as Connection
    else:
        from multiprocessing.connection import Connection

    from overlong.fuzz.execution.engine import CampaignJob, InputEngine

_AHEAD = 2  # units for each worker that are under way: none waits for triage
_DEATHS = 3  # workers in a row that may end without running a unit
_SAY = 0.2  # seconds between two messages of a worker
_PATIENCE = 5.0  # seconds for a worker to end its targets


def ran(engine: InputEngine, unit: WorkUnit, progress: Callable[[int], None]) -> UnitResult:
    """Run a unit. Returns the result and the duration.

    Raises:
        TargetError: a target cannot be asked any more; or the engine failed.
    """
    try:
        result = engine.run(unit, progress)
    except BudgetSpent as error:
        raise TargetError(str(error)) from error
    if result.unit != unit:
        raise TargetError(f"the engine ran {result.unit} and was to run {unit}")
    return result


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
    """Runs a job's units in a worker of a cluster."""

    job: CampaignJob
    open_engine: Callable[[CampaignJob], InputEngine]
    identify: Callable[[CampaignJob], tuple[str, ...]] = identities_of

    def identities(self) -> tuple[str, ...]:
        """The digest of each target, as it is there.

        Raises:
            TargetError: one of them cannot be used there.
        """
        return self.identify(self.job)

    def run(self, unit: WorkUnit) -> UnitResult:
        """Run a unit; each thread of a worker keeps an engine.

        Raises:
            TargetError: a target cannot be asked any more; or the engine failed.
        """
        engine = _engines.serving(self, lambda: self.open_engine(self.job))
        try:
            return ran(engine, unit, _nobody)
        except BaseException:
            _engines.end()
            raise


def _nobody(_done: int) -> None:
    """A watcher that does nothing, for a worker."""


def end_engines() -> None:
    """End the engines of all threads of this process. Units still running fail."""
    _engines.end_all()


class Here:
    """Runs units in this process, one at a time, when the caller waits for a result."""

    def __init__(
        self, job: CampaignJob, open_engine: Callable[[CampaignJob], InputEngine], told: Callable[[], None]
    ) -> None:
        """``told`` is called from time to time while a unit runs."""
        self._job, self._open, self._told = job, open_engine, told
        self._engine: InputEngine | None = None
        self._unit: WorkUnit | None = None
        self.progress = 0

    @property
    def room(self) -> int:
        return 1 - self.pending

    @property
    def pending(self) -> int:
        return int(self._unit is not None)

    def submit(self, unit: WorkUnit) -> None:
        self._unit = unit

    def next(self, seconds: float) -> UnitResult | None:  # noqa: ARG002 (it is there when this returns)
        unit = self._unit
        if unit is None:
            return None

        def progress(done: int) -> None:
            self.progress = done
            self._told()

        if self._engine is None:
            self._engine = self._open(self._job)
        result = ran(self._engine, unit, progress)
        self._unit, self.progress = None, 0
        return result

    def close(self, *, at_once: bool) -> None:  # noqa: ARG002 (nothing is under way)
        if self._engine is not None:
            self._engine.close()
            self._engine = None


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection[Any, Any]
    units: deque[WorkUnit] = field(default_factory=deque[WorkUnit])
    progress: int = 0


class Processes:
    """Several processes, each with its own engine. The pool replaces a lost process."""

    def __init__(self, job: CampaignJob, open_engine: Callable[[CampaignJob], InputEngine], count: int) -> None:
        self._job, self._open = job, open_engine
        self._context = multiprocessing.get_context("spawn")
        self._deaths = 0
        self._workers: list[_Worker] = []
        try:
            for _ in range(count):
                self._workers.append(self._started())
        except BaseException:
            self.close(at_once=True)
            raise

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, self._open, self._job), daemon=True)
        with held(), _no_interrupt(), safe_for_children():  # a process that reads half its start shows a traceback
            process.start()
        theirs.close()  # so that the end of the process closes the pipe
        return _Worker(process, ours)

    @property
    def room(self) -> int:
        return _AHEAD * len(self._workers) - self.pending

    @property
    def pending(self) -> int:
        return sum(len(worker.units) for worker in self._workers)

    @property
    def progress(self) -> int:
        return sum(worker.progress for worker in self._workers)

    def submit(self, unit: WorkUnit) -> None:
        worker = min(self._workers, key=lambda worker: len(worker.units))
        worker.units.append(unit)
        with contextlib.suppress(OSError):  # the process has ended, which the next wait detects
            worker.connection.send(unit)

    def next(self, seconds: float) -> UnitResult | None:
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            ready = wait([worker.connection for worker in self._workers], max(left, 0))
            for worker in self._workers:
                if worker.connection in ready and (result := self._said(worker)) is not None:
                    return result
            if left <= 0:
                return None

    def _said(self, worker: _Worker) -> UnitResult | None:
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return None
        match said:
            case int():
                worker.progress = said
                return None
            case UnitResult():
                self._deaths = 0
                worker.units.popleft()
                worker.progress = 0
                return said
            case _:
                raise said

    def _replace(self, worker: _Worker) -> None:
        """Start another process, and give it the units of the lost one."""
        self._deaths += 1
        worker.connection.close()
        worker.process.join(_PATIENCE)
        if self._deaths >= _DEATHS:
            ending = _ending(worker.process.exitcode)
            remedy = "look at the machine's memory" if ending == "SIGKILL" else "--jobs 1 does without such processes"
            raise TargetError(
                f"a process of this program that tests the targets has ended {_DEATHS} times in a row "
                f"({ending}); {remedy}; go on with --resume"
            )
        new = self._started()
        self._workers[self._workers.index(worker)] = new
        for unit in worker.units:
            new.units.append(unit)
            with contextlib.suppress(OSError):  # as above
                new.connection.send(unit)

    def close(self, *, at_once: bool) -> None:
        for worker in self._workers:
            if at_once:
                worker.process.terminate()
            with contextlib.suppress(OSError, ValueError):
                worker.connection.close()  # the process ends when its pipe closes
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.process.join(max(deadline - time.monotonic(), 0))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


@contextlib.contextmanager
def _no_interrupt() -> Generator[None]:
    """Delay Ctrl-C if possible; a process that starts here is protected until it has set its own handler."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit {code}"


def serve(
    connection: Connection[Any, Any], open_engine: Callable[[CampaignJob], InputEngine], job: CampaignJob
) -> None:
    """Run units until the reader is gone. The process does nothing else, and ends with its parent."""
    as_before()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which ends this process
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # targets must not inherit a blocked signal
    signal.signal(signal.SIGTERM, _leave)
    engine: InputEngine | None = None
    said = 0.0

    def progress(done: int) -> None:
        nonlocal said
        if time.monotonic() - said > _SAY:
            connection.send(done)
            said = time.monotonic()

    try:
        while True:
            unit = connection.recv()
            try:
                engine = engine or open_engine(job)
                result: UnitResult | TargetError = ran(engine, unit, progress)
            except OSError as error:
                if isinstance(error, BrokenPipeError):
                    raise
                result = _failed(error)
            except TargetError as error:
                result = TargetError(str(error))
            except Exception as error:  # noqa: BLE001 (told in one line, where it can be)
                result = _failed(error)
            connection.send(result)
    except (EOFError, BrokenPipeError, ConnectionError):
        pass
    finally:
        if engine is not None:
            engine.close()


def _end_with_parent() -> None:
    """Wait for the end of the parent process, and leave at once: targets end by their own lifelines."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _failed(error: Exception) -> TargetError:
    return TargetError(f"the engine failed: {type(error).__name__}: {printable(str(error), 200)}")


def _leave(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)
