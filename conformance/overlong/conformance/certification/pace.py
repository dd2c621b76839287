"""How fast a target is, independent of the machine's load and speed.

A certificate names what its target was swept with, and that depends on this. So it is counted in processor time where
the system says it, and by a known calculation beside it: then two machines, busy or not, usually come to the same.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

_KNOWN_SECONDS = 0.006
"""The time of the calculation on a known processor, an x86-64 of 2023 at 3 GHz."""

_TIMES = 15
"""How often it is timed: others take turns on this processor, and share its caches, as they did meanwhile."""
_WAITED_FOR = 0.1
"""The part of the time in which this process waited for the target that the target's processes must have worked, for
their time to count. If they worked less, something else did the work: a container, another machine."""
_SCHEDULED = Path("/proc/self/schedstat")
"""Linux: nanoseconds of processor time, and those for which it waited for a processor."""


class Pace:
    """Counts from when it is made; the target is open by then, and ended when it is read."""

    def __init__(self) -> None:
        self._before, self._at_work = _of_children(), _at_work()

    def seconds(self, run: float) -> float:
        """Processor time of the target, in seconds of a known processor; ``run`` seconds passed meanwhile.

        Where the system does not say (Windows), those that passed; where something else did the target's work, those in
        which this process had nothing to do.
        """
        before, now = self._before, _of_children()
        if before is None or now is None:
            return run
        waited = max(0.0, run - (_at_work() - self._at_work))
        if now - before < _WAITED_FOR * waited:
            return waited
        return (now - before) * _KNOWN_SECONDS / median(_known() for _ in range(_TIMES))


def _of_children() -> float | None:
    """The processor time of all processes that this one started and that ended; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _at_work() -> float:
    """Seconds in which this process worked, or would have, had others not had the processors (known on Linux only)."""
    queued = int(_SCHEDULED.read_text("ascii").split()[1]) / 1e9 if _SCHEDULED.exists() else 0.0
    return time.process_time() + queued


def _known() -> float:
    """Seconds of a calculation that is the same everywhere and in no cache."""
    started = time.process_time()
    pow(3, (1 << 512) - 1, (1 << 2203) - 1)
    return time.process_time() - started
