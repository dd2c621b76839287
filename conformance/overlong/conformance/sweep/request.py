"""What goes between the harness and ``adapter.py``, which sweeps a shared library in its own process, and its loop.

These are the requests with their strings, and the progress of a compiled loop, in memory that survives the process that
runs it. The harness imports this module: the adapter itself can be imported only on systems with ``fork``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmap import mmap


PROGRESS_OCTETS = 256
INDEX, EARLIER, CURRENT, NUMBER = range(4)
"""Words: the current string; 1 if its earlier string is being asked; the complete one of two snapshots; the number in
the last answer, if the loop of giant strings asks."""
SNAPSHOT, SNAPSHOTS = 8, 8
"""The first word of the first snapshot, and the words from one snapshot to the next."""
SUMS = ("strings", "octets", "well_formed", "accepted", "checksum")
"""The words of a snapshot after the number of the string that was reached."""


class Progress:
    """A view of that memory. ``compiled.py`` explains how to continue after a crash."""

    def __init__(self, memory: mmap | bytearray | memoryview) -> None:
        """View the first :data:`PROGRESS_OCTETS` octets of ``memory``, which is writable and aligned to 8."""
        self.words = memoryview(memory)[:PROGRESS_OCTETS].cast("B").cast("q")

    def begin(self, first: int) -> None:
        """Reset the sums; the next string is ``first``."""
        self.words[INDEX] = -1
        self.words[EARLIER] = 0
        self._publish([first, 0, 0, 0, 0, 0])

    @property
    def index(self) -> int:
        """The number of the string that is being asked, or was asked last; -1: none was."""
        return self.words[INDEX]

    @property
    def number(self) -> int:
        """The number in the last answer, of a giant string."""
        return self.words[NUMBER]

    @property
    def earlier(self) -> bool:
        """True if the earlier string, which is not judged, is being asked."""
        return bool(self.words[EARLIER])

    @property
    def reached(self) -> int:
        """All strings before this one are in the sums."""
        return self._snapshot()[0]

    @property
    def sums(self) -> dict[str, int]:
        """The sums by the names of a :class:`~overlong.conformance.results.sweeps.ShardResult`."""
        _, *sums, checksum = self._snapshot()
        return dict(zip(SUMS, (*sums, checksum & (1 << 64) - 1), strict=True))

    def passed(self, octets: int, *, well_formed: bool, accepted: bool = False, checked: int = 0) -> None:
        """Count the next string, and what its answer adds to the checksum: nothing if it has none."""
        reached, strings, total, well, all_accepted, checksum = self._snapshot()
        checksum = (checksum + checked + (1 << 63)) % (1 << 64) - (1 << 63)
        self._publish([reached + 1, strings + 1, total + octets, well + well_formed, all_accepted + accepted, checksum])

    def left_out(self, strings: int = 1) -> None:
        """Move past ``count`` strings that are not asked."""
        reached, *sums = self._snapshot()
        self._publish([reached + strings, *sums])

    def _snapshot(self) -> list[int]:
        if self.words[CURRENT] not in (0, 1):
            raise ValueError("its counters are damaged; the function may have written over memory that is not its own")
        start = SNAPSHOT + SNAPSHOTS * self.words[CURRENT]
        return self.words[start : start + 1 + len(SUMS)].tolist()

    def _publish(self, snapshot: list[int]) -> None:
        other = 1 - self.words[CURRENT]
        for place, number in enumerate(snapshot, SNAPSHOT + SNAPSHOTS * other):
            self.words[place] = number
        self.words[CURRENT] = other

    from overlong.conformance.oracle.target import ExpectedAnswers


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
