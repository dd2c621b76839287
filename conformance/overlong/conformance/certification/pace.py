"""Measures the speed of a target, independent of the machine's load and speed.

A certificate names the plans that swept its target, and the choice of plans depends on this speed. So it is measured
in processor time, if the system reports that, and relative to a known calculation: then two machines, busy or not,
usually choose the same plans.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

_KNOWN_SECONDS = 0.006
"""The time of the calculation on a known processor, an x86-64 of 2023 at 3 GHz."""

_TIMES = 15
"""The repetitions of the calculation: other processes share the processor and its caches, as during the run."""
_WAITED_FOR = 0.1
"""The least share of this process's waiting time in which the target's processes must have worked, for their time to
count. If they worked less, something else did the work: a container, another machine."""
_SCHEDULED = Path("/proc/self/schedstat")
"""Linux: nanoseconds of processor time, and of waiting for a processor."""


class Pace:
    """A clock that starts when it is made, with the target open; read it after the target has ended."""

    def __init__(self) -> None:
        self._before, self._at_work = _of_children(), _at_work()

    def seconds(self, run: float) -> float:
        """The target's processor time, in seconds of a known processor, during ``run`` seconds.

        If the system does not report it (Windows), the elapsed seconds; if something else did the target's work, the
        seconds in which this process was idle.
        """
        before, now = self._before, _of_children()
        if before is None or now is None:
            return run
        waited = max(0.0, run - (_at_work() - self._at_work))
        if now - before < _WAITED_FOR * waited:
            return waited
        return (now - before) * _KNOWN_SECONDS / median(_known() for _ in range(_TIMES))


def _of_children() -> float | None:
    """The processor time of all ended children of this process; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _at_work() -> float:
    """Seconds in which this process worked, or waited for a processor (known on Linux only)."""
    queued = int(_SCHEDULED.read_text("ascii").split()[1]) / 1e9 if _SCHEDULED.exists() else 0.0
    return time.process_time() + queued


def _known() -> float:
    """The seconds of a calculation that is the same everywhere and uses no cache."""
    started = time.process_time()
    pow(3, (1 << 512) - 1, (1 << 2203) - 1)
    return time.process_time() - started
