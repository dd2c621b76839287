"""Memory that the harness shares with one process of a target, for batches and their answers.

A pipe copies octets twice, and makes both sides wait. In shared memory, the harness writes its requests where the
target reads them, and compares the answers where the target wrote them. The target may write anywhere at any time. So
the memory's size is sealed, and the harness trusts only octets that it copied out, or found equal in place.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections import deque
from typing import NamedTuple

VARIABLE = "OVERLONG_SHARED_MEMORY"
"""The variable for the target: the number of the descriptor, and the octets to map."""

SIZE = 1 << 26  # octets; only used ones take memory
_NEAR = 1 << 22  # octets that the caches of both processes hold
_ABREAST = 8  # requests of the largest size that there is room for, if possible
_AN_OCTET, _AN_ITEM, _TEXTS = 4, 7, 256  # room for answers: UTF-32, or the marks of a stream; columns; short texts
_ALIGNED = 64


class Slot(NamedTuple):
    """The place of a request, followed by the room for its answers."""

    start: int
    size: int
    """The octets of the request: the lengths of its items, and their payloads."""
    room_start: int
    room: int

    @property
    def end(self) -> int:
        return self.room_start + self.room


class SharedMemory:
    """The memory of one process. Slots are freed in the order in which they were filled.

    They go round in the first few octets, and in more once a request needs more.
    """

    descriptor: int
    """The descriptor for the new process, to be closed once that has started."""
    _octets: mmap.mmap
    _slots: deque[Slot]
    _extent: int
    """The first octets of the memory, where slots go round for now."""

    def __init__(self) -> None:
        """Make the memory.

        Raises:
            OSError: the system refuses it, or has no such memory.
        """
        if sys.platform != "linux":
            raise OSError("no memory is shared here")
        import fcntl

        self.descriptor = os.memfd_create("overlong", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, SIZE)
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(
                self.descriptor, fcntl.F_ADD_SEALS, seals
            )  # if the target shrank it, SIGBUS would end the harness
            self._octets = mmap.mmap(self.descriptor, SIZE)
        except BaseException:
            os.close(self.descriptor)
            raise
        self._slots = deque()
        self._extent = _NEAR

    @property
    def variable(self) -> dict[str, str]:
        """The value of the environment variable."""
        return {VARIABLE: f"{self.descriptor} {SIZE}"}

    def close(self) -> None:
        """Release the memory."""
        self._octets.close()

    def slot(self, items: int, octets: int, *, anywhere: bool = False) -> Slot | None:
        """A slot, to be filled next, for that many items with that many octets in all; None if there is no room now.

        ``anywhere``: it may lie beyond the octets that the caches hold.
        """
        size = 4 * items + octets
        before, room = _parts(items, octets)
        first, last = (self._slots[0].start, self._slots[-1].end) if self._slots else (0, 0)
        if first <= last:  # the slots are in one piece
            self._extent = min(max(self._extent, _ABREAST * (before + room)), SIZE)
        extent = SIZE if anywhere else self._extent
        if not self._slots:
            start, end = 0, extent
        elif last <= first:  # between the last slot and the first
            start, end = last, first - 1
        elif last + before + room <= extent:
            start, end = last, extent
        else:
            start, end = 0, first - 1
        return Slot(start, size, start + before, room) if start + before + room <= end else None

    def can_hold(self, items: int, octets: int) -> bool:
        """True if they fit when no slot is taken."""
        return sum(_parts(items, octets)) <= SIZE

    def fill(self, slot: Slot, lengths: bytes, octets: bytes) -> None:
        """Take a slot, and write the request."""
        middle = slot.start + len(lengths)
        self._octets[slot.start : middle] = lengths
        self._octets[middle : slot.start + slot.size] = octets
        self._slots.append(slot)

    def free(self) -> Slot:
        """Free the oldest slot; its content stays until other slots have been filled."""
        return self._slots.popleft()

    def holds(self, slot: Slot, octets: bytes | bytearray) -> bool:
        """True if the room of a slot begins with these octets. They are compared in place, not copied."""
        with memoryview(self._octets) as view, view[slot.room_start : slot.end] as room:
            return len(octets) <= slot.room and octets.startswith(room[: len(octets)])

    def answer(self, slot: Slot, size: int) -> bytes:
        """The first octets of a slot's room."""
        return self._octets[slot.room_start : slot.room_start + size]


def _parts(items: int, octets: int) -> tuple[int, int]:
    """The octets of a request, and of the room for its answers."""
    return _aligned(4 * items + octets), _aligned(_AN_ITEM * items + _AN_OCTET * octets + _TEXTS)


def _aligned(octets: int) -> int:
    return -(-octets // _ALIGNED) * _ALIGNED
