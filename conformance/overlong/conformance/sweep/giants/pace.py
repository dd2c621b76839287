"""How fast a function reads long text, measured by one plan of giant strings for the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.giants.loop import expected_offset

if TYPE_CHECKING:
    from overlong.conformance.results.shard import ShardResult
    from overlong.conformance.sweep.plan import Plan

_LONG = 1 << 23
"""Octets of a string that measure the rate, not the call."""


class GiantPace:
    """The least seconds for an octet of a giant string so far: what else runs on the machine only adds to them."""

    def __init__(self, most: float | None, jobs: int) -> None:
        """``most``: the seconds that a plan may take; None: any. ``jobs``: the processes that ask it."""
        self._most, self._jobs, self._each = most, jobs, 0.0

    def saw(self, plan: Plan, result: ShardResult) -> None:
        """Take the result of a plan's shard into account, if it is one of a giant string."""
        if self._most is None or not plan.giant:
            return
        octets = _read(plan, result.shard.grid, result.shard.first)
        if octets >= _LONG:
            each = result.seconds / octets
            self._each = min(self._each or each, each)

    def too_long(self, plan: Plan) -> float:
        """About the seconds that a plan would take, if these are too many; else 0."""
        if self._most is None or not plan.giant or not self._each:
            return 0.0
        octets = sum(_read(plan, number, index) for number, grid in enumerate(plan.grids) for index in range(grid.size))
        seconds = octets * self._each / self._jobs
        return seconds if seconds > self._most else 0.0


def _read(plan: Plan, number: int, index: int) -> int:
    """The octets of a string that a right decoder reads: up to the first error."""
    return expected_offset(plan.grids[number], index, plan.profile.dialect.automaton)
