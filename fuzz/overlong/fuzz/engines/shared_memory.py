"""The last input and the counts of a child that may die at any moment: a file that both sides map."""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = 1 << 12
"""The most octets of an input."""
SLOTS = 1 << 10
"""The most fingerprints to count."""
_HEAD = struct.Struct("=4Q")  # executions, octets, whether the target is at work, octets of the input
_COUNT = struct.Struct("=Q")
_COUNTS = _HEAD.size + LONGEST
_SIZE = _COUNTS + SLOTS * _COUNT.size


class SharedMemory:
    """The mapped file. One side writes, the other reads at any time: its view may be one input old."""

    def __init__(self, path: Path, *, new: bool) -> None:
        """Raises: OSError: the file cannot be created, or read."""
        if new:
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)
        self._octets = 0
        self._executions = 0

    def begin(self, octets: bytes) -> None:
        """Note that the target gets this input."""
        self._executions += 1
        self._octets += len(octets)
        self._memory[_HEAD.size : _HEAD.size + len(octets)] = octets
        _HEAD.pack_into(self._memory, 0, self._executions, self._octets, 1, len(octets))

    def end(self) -> None:
        """Note that it has answered."""
        _COUNT.pack_into(self._memory, 2 * _COUNT.size, 0)

    def count(self, slot: int) -> None:
        """Count one more of a fingerprint."""
        place = _COUNTS + slot * _COUNT.size
        _COUNT.pack_into(self._memory, place, _COUNT.unpack_from(self._memory, place)[0] + 1)

    @property
    def executions(self) -> int:
        """The number of inputs so far."""
        return int(_HEAD.unpack_from(self._memory)[0])

    @property
    def octets(self) -> int:
        """The octets of these inputs."""
        return int(_HEAD.unpack_from(self._memory)[1])

    @property
    def at_hand(self) -> bytes | None:
        """The unanswered input; None if the target is not at work."""
        _, _, works, length = _HEAD.unpack_from(self._memory)
        return self._memory[_HEAD.size : _HEAD.size + min(length, LONGEST)] if works else None

    def counted(self, slot: int) -> int:
        """The count of a fingerprint."""
        return int(_COUNT.unpack_from(self._memory, _COUNTS + slot * _COUNT.size)[0])

    def close(self) -> None:
        """Close the mapping; the file stays."""
        self._memory.close()
