"""How long a target takes by itself: not what else the machine does meanwhile, and not how fast the machine is.

A certificate names what its target was swept with, and that depends on this. So it is counted in processor time where
the system says it, and by a known calculation beside it: then two machines, busy or not, usually come to the same.
"""

from __future__ import annotations

import sys
import time
from statistics import median

_KNOWN_SECONDS = 0.006
"""What the calculation takes on a known processor, an x86-64 of 2023 at 3 GHz."""

_TIMES = 15
"""How often it is timed: others take turns on this processor, and share its caches, as they did meanwhile."""
_WAITED_FOR = 0.1
"""The part of a run's time that the target's processes must have worked, for their time to count. If they worked less,
they waited for something that did the work: a container, another machine."""


class Pace:
    """Counts from when it is made; the target is open by then, and ended when it is read."""

    def __init__(self) -> None:
        self._before = _of_children()

    def seconds(self, run: float) -> float:
        """Processor time of the target, in seconds of a known processor; ``run`` seconds passed meanwhile.

        Where the system does not say (Windows), those that passed.
        """
        before, now = self._before, _of_children()
        if before is None or now is None or now - before < _WAITED_FOR * run:
            return run
        return (now - before) * _KNOWN_SECONDS / median(_known() for _ in range(_TIMES))


def _of_children() -> float | None:
    """The processor time of all processes that this one started and that ended; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _known() -> float:
    """Seconds of a calculation that is the same everywhere and in no cache."""
    started = time.process_time()
    pow(3, (1 << 512) - 1, (1 << 2203) - 1)
    return time.process_time() - started
