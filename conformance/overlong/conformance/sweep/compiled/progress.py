"""How far a compiled loop is, in memory that survives the process that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmap import mmap

PROGRESS_OCTETS = 256
INDEX, EARLIER, CURRENT = 0, 1, 2
"""Words: the string that is asked; whether it is the one before it; which of two snapshots is complete."""
SNAPSHOT, SNAPSHOTS = 8, 8
"""The first word of the first snapshot, and words from one to the next."""
REACHED, STRINGS, OCTETS, WELL_FORMED, ACCEPTED, CHECKSUM = range(6)
"""Words of a snapshot."""
_WORDS = 6


class OverwrittenError(ValueError):
    """The memory does not hold what the loop wrote; the message names possible causes."""

    def __init__(self) -> None:
        super().__init__("its counters are damaged; the function may have written over memory that is not its own")


class Progress:
    """A view of that memory. ``compiled/__init__.py`` says how to go on after a crash."""

    def __init__(self, memory: mmap | bytearray | memoryview) -> None:
        """Look at the first :data:`PROGRESS_OCTETS` octets of ``memory``, which is writable and aligned to 8."""
        self.words = memoryview(memory)[:PROGRESS_OCTETS].cast("B").cast("q")

    def begin(self, first: int) -> None:
        """Nothing has been asked, and ``first`` comes first."""
        self.words[INDEX] = -1
        self.words[EARLIER] = 0
        self._publish([first, 0, 0, 0, 0, 0])

    @property
    def index(self) -> int:
        """The number of the string that is asked, or was asked last; -1: none was."""
        return self.words[INDEX]

    @property
    def earlier(self) -> bool:
        """It is the string that comes before it, and is not judged, that is asked."""
        return bool(self.words[EARLIER])

    @property
    def reached(self) -> int:
        """All strings before this one are in the sums."""
        return self._snapshot()[REACHED]

    @property
    def strings(self) -> int:
        return self._snapshot()[STRINGS]

    @property
    def octets(self) -> int:
        return self._snapshot()[OCTETS]

    @property
    def well_formed(self) -> int:
        return self._snapshot()[WELL_FORMED]

    @property
    def accepted(self) -> int:
        return self._snapshot()[ACCEPTED]

    @property
    def checksum(self) -> int:
        return self._snapshot()[CHECKSUM] & (1 << 64) - 1

    def passed(self, octets: int, *, well_formed: bool) -> None:
        """The next string was asked and did not come back: it counts, and adds nothing to the checksum."""
        reached, strings, total, well, accepted, checksum = self._snapshot()
        self._publish([reached + 1, strings + 1, total + octets, well + well_formed, accepted, checksum])

    def left_out(self, strings: int = 1) -> None:
        """So many strings are not asked."""
        reached, *sums = self._snapshot()
        self._publish([reached + strings, *sums])

    def _snapshot(self) -> list[int]:
        if self.words[CURRENT] not in (0, 1):
            raise OverwrittenError
        start = SNAPSHOT + SNAPSHOTS * self.words[CURRENT]
        return self.words[start : start + _WORDS].tolist()

    def _publish(self, snapshot: list[int]) -> None:
        other = 1 - self.words[CURRENT]
        for place, number in enumerate(snapshot, SNAPSHOT + SNAPSHOTS * other):
            self.words[place] = number
        self.words[CURRENT] = other
