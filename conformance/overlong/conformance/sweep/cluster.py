"""Sends work units to the workers of a Dask cluster (extra ``cluster``), for sweeps and campaigns.

A worker runs the same function as a thread here: it starts the target as a process of its own, never inside the
worker. If a worker is killed, its target's input ends and its sandbox closes, so the target ends too. The scheduler
gives the worker's units to another; as units are pure, the result is the same.
"""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import threading
import time
from concurrent.futures import CancelledError
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.pool import Pool, PoolTask, Result, Unit
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

_CONNECT = 5.0  # seconds to find the scheduler, at first or again
_ALONE = 10.0  # seconds without a result and without a worker
_COUNT = 2.0  # seconds for which a count of the workers stays valid

_ADDRESS = re.compile(r"tcp://([\w.-]+|\[[\da-fA-F:.%]+\]):\d{1,5}")

_checked = threading.local()


class Cluster(Pool[Unit, Result]):
    """The workers of a scheduler, as a pool. If a worker is lost, another one gets its unit."""

    def __init__(
        self, address: str, task: PoolTask[Unit, Result], identities: tuple[str, ...], end: Callable[[], None]
    ) -> None:
        """Connect, and wait for a worker.

        Args:
            address: that of the scheduler: ``tcp://host:port``.
            task: the workers' task.
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
        self._brought, self._end = (version("overlong"), task, identities), end
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


def run_elsewhere(release: str, task: PoolTask[Any, Any], identities: tuple[str, ...], unit: Any) -> Any:
    """Run a unit in a worker, if it has the same overlong and the same targets as the asking process.

    Args:
        release: that of overlong on the machine of the run.
        task: what to do.
        identities: those of the targets on the machine of the run.
        unit: the unit.

    Raises:
        BudgetSpent: a target failed more often than its limit.
        TargetError: the worker differs in these, or a target cannot be asked.
    """
    if getattr(_checked, "brought", None) != (release, task, identities):
        here = printable(socket.gethostname())
        if (mine := version("overlong")) != release:
            raise TargetError(f"a worker on {here} has overlong {printable(mine)}, and this is {release}")
        if task.identities() != identities:
            which = "this target" if len(identities) == 1 else "a target"
            raise TargetError(f"a worker on {here} has another file or command for {which} than is here")
        _checked.brought = release, task, identities
    return task.run(unit)


def _why(error: BaseException) -> str:
    """The words for a worker's failure that the target did not cause."""
    names = {type(each).__name__ for each in (error, error.__cause__, error.__context__) if each is not None}
    text = printable(str(error).partition("\n")[0], 200)
    if "ModuleNotFoundError" in names or "No module named" in str(error):
        return f"a worker or the scheduler lacks a module ({text})"
    if "KilledWorker" in names:
        return f"a shard has ended several workers: look at their memory ({text})"
    return f"a worker failed: {type(error).__name__}: {text}"
