"""Check that a finding shows again, each time in a fresh process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import Code
from overlong.conformance.sweep.pool import cpus
from overlong.fuzz.minimise.stored import AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.execution.probe import Probe

CHANGING = (Code.UNSTABLE, Code.PLACE_IN_MEMORY, Code.EARLIER_CALLS)
"""Codes of answers that change each time, in another place, or after other calls."""
_LOOK = 0.05  # seconds between two looks at other work


def stable(finding: Finding, probe: Probe, meanwhile: Callable[[], None] = lambda: None) -> int:
    """Return how often it shows, out of :data:`AGAIN`. A child forked from an earlier process does not count as fresh.

    A finding of a changing answer shows if the answer is wrong in any way.

    Args:
        finding: the finding.
        probe: its target. Its processes stay as they are: others start, one for each processor at a time.
        meanwhile: called while they start and answer. If it raises, no further process starts.

    Raises:
        TargetError: the target does not start any more.
    """

    def shows() -> bool:
        fresh = probe.fresh()
        try:
            again = fresh.ask_one(finding.vector, finding.operation)
        finally:
            fresh.close()
        return again is not None and (again.code == finding.code or finding.code in CHANGING)

    with ThreadPoolExecutor(cpus()) as executor:
        waiting = [executor.submit(shows) for _ in range(AGAIN)]
        try:
            left = set(waiting)
            while left:
                _, left = wait(left, _LOOK)
                meanwhile()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return sum(each.result() for each in waiting)
