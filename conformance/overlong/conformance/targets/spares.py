"""Processes of a target that a thread starts in advance, because a start takes at least as long as noticing a death."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor

    from overlong.conformance.targets.process import Process


class Spares:
    """The spares of one target, in the order in which they were started."""

    def __init__(self, start: Callable[[], Process]) -> None:
        """``start`` starts a process; it may raise OSError, ValueError or TargetError."""
        self._start = start
        self._started: deque[Future[Process]] = deque()
        self._starter: ThreadPoolExecutor | None = None

    def keep(self, wanted: int) -> None:
        """Start as many as are missing, without waiting for them."""
        if len(self._started) < wanted:
            if self._starter is None:
                from concurrent.futures import ThreadPoolExecutor

                self._starter = ThreadPoolExecutor(1, "spares")
            while len(self._started) < wanted:
                self._started.append(self._starter.submit(self._start))

    def take(self) -> Process | None:
        """The oldest one that is still running, if any."""
        while self._started:
            with contextlib.suppress(OSError, ValueError, TargetError):  # the next start reports the error
                if (spare := self._started[0].result()).is_alive:
                    self._started.popleft()
                    return spare
                spare.kill()
            self._started.popleft()
        return None

    def close(self) -> None:
        """End them all."""
        while (spare := self.take()) is not None:
            spare.kill()
        if self._starter is not None:
            self._starter.shutdown()
            self._starter = None
