"""Spans to the workers of a Dask cluster (extra ``cluster``): as sweeps do it, and with the same errors."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.cluster import Cluster
from overlong.conformance.targets.resolve import identity_of, resolve
from overlong.fuzz.campaign.crew import ran

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.execution.engine import Engine, Harvest, Job, Span

_AHEAD = 2  # spans for each worker that are under way


def identities_of(job: Job) -> tuple[str, ...]:
    """The digest of each target: of its command, and of the files in it.

    Raises:
        TargetError: one of them cannot be used here.
    """
    try:
        return tuple(identity_of(resolve(target, job.limits)).digest for target in job.targets)
    except OSError as error:
        raise TargetError(f"{printable(str(error.filename))}: {error.strerror}; check the path") from error


class Brought(NamedTuple):
    """What a worker gets with each span but for its job."""

    release: str
    """Of overlong, where the campaign is."""
    identify: Callable[[Job], tuple[str, ...]]
    identities: tuple[str, ...]
    """Of the targets, where the campaign is."""
    open_engine: Callable[[Job], Engine]


class OnCluster(Cluster):
    """The workers of a scheduler, as a crew. A span whose worker is lost is given to another."""

    def __init__(
        self,
        job: Job,
        address: str,
        open_engine: Callable[[Job], Engine],
        identities: Callable[[Job], tuple[str, ...]] = identities_of,
    ) -> None:
        """Connect, and wait for a worker.

        Args:
            job: whom to ask.
            address: of the scheduler: ``tcp://host:port``.
            open_engine: makes the engine in a worker.
            identities: tells the targets there from those here.

        Raises:
            TargetError: there is no scheduler, no worker, or one without this program.
        """
        super().__init__(cast("Any", job), address, "")
        self._tools = Brought(version("overlong"), identities, identities(job), open_engine)
        self._asks = job
        self._futures: set[Future[Harvest]] = set()
        self._last = time.monotonic()
        self.progress = 0

    @property
    def room(self) -> int:
        return _AHEAD * self.workers - self.pending

    @property
    def pending(self) -> int:
        return len(self._futures)

    def submit(self, span: Span) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            future = self._executor.submit(run_there, self._tools, self._asks, span)
        except Exception as error:
            raise TargetError(self._lost) from error
        self._futures.add(future)

    def next(self, seconds: float) -> Harvest | None:
        """What came of a span; None if nothing did for so long.

        Raises:
            TargetError: a target cannot be asked any more, or the scheduler or all workers are gone.
        """
        done, _ = wait(self._futures, seconds, FIRST_COMPLETED)
        for future in done:
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None:
                self.check(time.monotonic() - self._last, error)
                raise error
            self._futures.remove(future)
            self._last = time.monotonic()
            return future.result()
        self.check(time.monotonic() - self._last if self._futures else 0.0)
        return None

    def close(self, *, at_once: bool) -> None:
        for future in self._futures:
            future.cancel()
        self._futures = set()
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.run(end_engines, wait=not at_once)
        super().close(at_once=at_once)


_mine = threading.local()
_all: set[Engine] = set()
_lock = threading.Lock()


def run_there(tools: Brought, job: Job, span: Span) -> Harvest:
    """Run a span in a worker, if it has the same overlong and the same targets as who asks.

    Each of its threads keeps an engine.

    Raises:
        TargetError: it has not; or a target cannot be asked any more.
    """
    engine: Engine | None = getattr(_mine, "engine", None)
    if engine is None or engine not in _all or _mine.serves != (tools, job):
        here = printable(socket.gethostname())
        if (mine := version("overlong")) != tools.release:
            raise TargetError(f"a worker on {here} has overlong {printable(mine)}, and this is {tools.release}")
        if tools.identify(job) != tools.identities:
            raise TargetError(f"a worker on {here} has another file or command for a target than is here")
        _end(engine)
        engine, _mine.serves = tools.open_engine(job), (tools, job)
        _mine.engine = engine
        with _lock:
            _all.add(engine)
    try:
        return ran(engine, span, _nobody)
    except BaseException:
        _end(engine)
        raise


def _nobody(_done: int) -> None:
    """Nobody watches a worker."""


def _end(engine: Engine | None) -> None:
    if engine is not None:
        with _lock:
            _all.discard(engine)
        engine.close()


def end_engines() -> None:
    """End the engines of all threads of this process, also those that are at work: their spans fail."""
    with _lock:
        engines = list(_all)
        _all.clear()
    for engine in engines:
        with contextlib.suppress(Exception):  # a thread may be in the midst of it
            engine.close()
