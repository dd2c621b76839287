"""The interface of a sweep's engine, its job, and the engine that each thread keeps."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.results.shard import Shard, ShardResult


class ShardEngine(Protocol):
    """Asks a target the strings of shards, one shard after the other."""

    def run(self, shard: Shard) -> ShardResult:
        """Ask all strings of a shard. A crash of the target is a fault in the result.

        Raises:
            BudgetSpent: it failed more often than its limit.
            TargetError: it cannot be asked any more.
        """
        ...

    def close(self) -> None:
        """End the target's processes."""
        ...


@dataclass(frozen=True)
class SweepJob:
    """The target of a sweep, and the expectation. It can be pickled: a remote worker makes an engine from it."""

    target: str | tuple[str, ...]
    """Its name, as on the command line; or a command that speaks the protocol."""
    profile: Profile = RFC3629
    operation: str = ""
    """``V`` or ``D``; empty for the more informative one that the target has."""
    limits: Limits = field(default_factory=Limits)
    columns: bool = False
    """Ask in columns even if the target could be asked in its own process."""


NOT_RECORDED = "recorded answers cannot be swept; name the adapter that wrote them"

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
