"""The requests to ``adapter.py``, which sweeps a shared library in its own process, and their strings.

The harness imports this module: the adapter itself can be imported only on systems with ``fork``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.vectors.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.sweep.compiled import Asking
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

SWEEP, AT_WORK = "W", b"W"
"""The operation; and the status of the frame sent once a second while the answer is not ready."""
HEAD_OF_RESULT = struct.Struct(">I")
"""The header of a result: the size of its JSON in octets. The kinds follow the JSON."""


@dataclass(frozen=True)
class WantedSweep:
    """A request: a shard and the rules to judge it. As JSON it is the payload of :data:`SWEEP`."""

    plan: str
    grid: int
    first: int
    count: int
    speaks: str
    """The profile's dialect."""
    operation: str
    timeout: float
    """The seconds allowed for one call."""
    restarts: int
    """The number of crashes in the shard after which each further one skips the strings after it."""
    more: str = ""
    """Further data for the source of the strings, in its own format."""


class NumberedStrings(Protocol):
    """Strings by their numbers."""

    def string(self, index: int, /) -> bytes: ...


class Source(Protocol):
    """The source of a request's strings, and the loop that asks them."""

    def strings(self, wanted: WantedSweep, /) -> NumberedStrings:
        """The strings of a request; the same object for the same strings, so that a loop recognises it.

        Raises:
            ValueError, TargetError: there is no plan or grid of that name.
        """
        ...

    def sparing(self, wanted: WantedSweep, /) -> Callable[[int, int], Sequence[int]] | None:
        """A function that chooses the strings of a shard to skip.

        For each unanswered string, in order, and its kind, the function returns later numbers, ascending. None if
        similar strings are adjacent.
        """
        ...

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asking:
        """The loop that asks the functions at these addresses such strings."""
        ...


class Grids:
    """The strings of a plan's grids."""

    def strings(self, wanted: WantedSweep) -> Grid:
        return plan_named(wanted.plan, Profile(wanted.speaks)).grids[wanted.grid]

    def sparing(self, _wanted: WantedSweep) -> None:
        """None: similar strings are adjacent in grids."""

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asking:
        from overlong.conformance.sweep.compiled import GridLoop

        return GridLoop(abi, addresses, expected, layout)
