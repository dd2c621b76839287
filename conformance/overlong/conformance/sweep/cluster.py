"""Work units to the workers of a Dask cluster (extra ``cluster``), for sweeps and campaigns.

A worker is asked to run the same function that a thread runs here: it starts the target as a process of its own,
never inside the worker. A worker that is killed takes its target with it, whose input ends and whose sandbox closes;
the scheduler gives its units to another, and as units are pure, nothing shows of that in the result.
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
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.pool import Futures, PoolTask, Result, Unit
from overlong.reference.extra import install

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

_CONNECT = 5.0  # seconds to find the scheduler, at first and after it was lost
_ALONE = 10.0  # seconds without a result and without a worker
_COUNT = 2.0  # seconds for which a count of the workers is good

_ADDRESS = re.compile(r"tcp://([\w.-]+|\[[\da-fA-F:.%]+\]):\d{1,5}")

_checked = threading.local()


class Cluster(Futures[Unit, Result]):
    """The workers of a scheduler, as a pool. A unit whose worker is lost is given to another."""

    def __init__(
        self, address: str, task: PoolTask[Unit, Result], identities: tuple[str, ...], end: Callable[[], None]
    ) -> None:
        """Connect, and wait for a worker.

        Args:
            address: of the scheduler: ``tcp://host:port``.
            task: what they are to do.
            identities: digests of the targets as they are here; they must be the same there.
            end: called in each worker when nothing more is wanted: ends the engines of all its threads.

        Raises:
            TargetError: there is no scheduler, no worker, or one that cannot run a unit.
        """
        super().__init__()
        try:
            from dask import config
            from distributed import Client
        except ImportError as error:
            raise TargetError(f"--cluster takes dask.distributed; {install('cluster')}") from error
        self._address = printable(address)
        self._brought, self._end = Brought(version("overlong"), task, identities), end
        unreachable = (
            f"no scheduler at {self._address}: start one with 'dask scheduler', and workers with "
            "'dask worker tcp://HOST:PORT'"
        )
        if not _ADDRESS.fullmatch(address):  # a client that cannot make sense of it does not end
            raise TargetError(unreachable)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # one line here says what matters
        try:
            with config.set({"distributed.comm.timeouts.connect": f"{_CONNECT}s"}):
                connect: Any = Client  # has no types
                self._client = connect(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise TargetError(unreachable) from error
        self._counted, self._threads = -_COUNT, 0
        self._executor = self._client.get_executor(pure=False)
        try:
            self._client.wait_for_workers(1, timeout=_ALONE)
            self._client.run(remote_version)  # a worker without overlong would leave when it gets a shard
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
        """Threads of all workers."""
        if time.monotonic() - self._counted > _COUNT:
            self._threads = self._count()
        return max(self._threads, 1)

    def _count(self) -> int:
        """Threads of all workers that there are now.

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
            future: Future[Result] = self._executor.submit(run_elsewhere, self._brought, unit)
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


class Brought(NamedTuple):
    """Data that a worker gets with each unit."""

    release: str
    """Release of overlong, where the run is."""
    task: PoolTask[Any, Any]
    identities: tuple[str, ...]
    """Identities of the targets, where the run is."""


def remote_version() -> str:
    """The version of overlong where this is called."""
    return version("overlong")


def run_elsewhere(brought: Brought, unit: Any) -> Any:
    """Run a unit in a worker, if it has the same overlong and the same targets as the process that asks.

    Raises:
        BudgetSpent: a target failed more often than its limit.
        TargetError: the worker has not; or a target cannot be asked.
    """
    if getattr(_checked, "brought", None) != brought:
        here = printable(socket.gethostname())
        if (mine := version("overlong")) != brought.release:
            raise TargetError(f"a worker on {here} has overlong {printable(mine)}, and this is {brought.release}")
        if brought.task.identities() != brought.identities:
            which = "this target" if len(brought.identities) == 1 else "a target"
            raise TargetError(f"a worker on {here} has another file or command for {which} than is here")
        _checked.brought = brought
    return brought.task.run(unit)


def _why(error: BaseException) -> str:
    """A worker's failure that the target did not cause."""
    names = {type(each).__name__ for each in (error, error.__cause__, error.__context__) if each is not None}
    text = printable(str(error).partition("\n")[0], 200)
    if "ModuleNotFoundError" in names or "No module named" in str(error):
        return f"a worker or the scheduler lacks a module ({text})"
    if "KilledWorker" in names:
        return f"a shard has ended several workers: look at their memory ({text})"
    return f"a worker failed: {type(error).__name__}: {text}"
