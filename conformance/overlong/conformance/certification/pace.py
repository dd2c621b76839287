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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN_SECONDS = 0.006
"""The time of the calculation on a known processor, an x86-64 of 2023 at 3 GHz."""

_TIMES = 15
"""The repetitions of the calculation: other processes share the processor and its caches, as during the run."""
_WAITED_FOR = 0.1
"""The least share of this process's waiting time in which the target's processes must have worked, for their time to
count. If they worked less, something else did the work: a container, another machine."""
_SCHEDULED = Path("/proc/thread-self/schedstat")
"""Linux: this thread's nanoseconds of processor time, and of waiting for a processor."""

MOST = 5.0
"""The most seconds that a suite of longer texts may take a target by default: as long as it may take for one answer."""
ENOUGH = 15.0
"""The most seconds of one process, on an idle machine, that the suites of a million texts may take a target that is
refused already: they would say no more of why."""
_GROWTH = 4.0, 16.0
"""How the time grows at least and at most, as the texts become four times as long: with their length, or its square."""


def next_after(seconds: Sequence[float]) -> float:
    """The seconds that the next suite of longer texts will take, at most.

    Args:
        seconds: of the suites before it: the first, of texts a fourth as long, or the first two, of texts a 64th and a
            16th as long.
    """
    least, most = _GROWTH
    if len(seconds) == 1:
        return seconds[0] * most
    growth = seconds[1] / seconds[0] if seconds[0] else most
    return seconds[1] * min(max(growth, least), most) ** 2


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
        return (now - before) * _of_known()


class Crowd:
    """Tells what elapsed seconds would be on an idle machine with a known processor; make it before they begin.

    A target waits for a processor as long as this thread does, which waits for the same ones.
    """

    def __init__(self) -> None:
        self._before = _scheduled()

    def alone(self, elapsed: float) -> float:
        """The seconds that a target would need alone for what it did in ``elapsed`` seconds."""
        worked, waited = (now - before for now, before in zip(_scheduled(), self._before, strict=True))
        share = worked / (worked + waited) if worked else 1.0
        return elapsed * share * _of_known()

    def exceeds(self, elapsed: float, most: float) -> bool:
        """True if what took, or will take, ``elapsed`` seconds would exceed ``most`` alone, too."""
        return elapsed > most and self.alone(elapsed) > most


def _of_known() -> float:
    """The seconds of the known processor in which it does what this one does in a second."""
    return _KNOWN_SECONDS / median(_known() for _ in range(_TIMES))


def _of_children() -> float | None:
    """The processor time of all ended children of this process; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _at_work() -> float:
    """Seconds in which this process worked, or waited for a processor (known on Linux only)."""
    return time.process_time() + _scheduled()[1]


def _scheduled() -> tuple[float, float]:
    """The seconds in which this thread worked, and waited for a processor; zeros if the system does not say it."""
    if not _SCHEDULED.exists():
        return 0.0, 0.0
    worked, waited, _ = _SCHEDULED.read_text("ascii").split()
    return int(worked) / 1e9, int(waited) / 1e9


def _known() -> float:
    """The seconds of a calculation that is the same everywhere and uses no cache."""
    started = time.process_time()
    pow(3, (1 << 512) - 1, (1 << 2203) - 1)
    return time.process_time() - started
