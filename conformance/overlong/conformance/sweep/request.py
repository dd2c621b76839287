"""What the harness asks of ``adapter.py``, which sweeps a shared library in its own process, and how it answers.

The harness knows this alone of the adapter, which can be imported only where there is ``fork``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

SWEEP, AT_WORK = "W", b"W"
"""The operation; and the status of a frame that says that the answer is not ready yet, once a second."""
HEAD_OF_RESULT = struct.Struct(">I")
"""Before a result: octets of its JSON. What follows that are the kinds."""


class Question(NamedTuple):
    """What all strings of a request have in common."""

    plan: str
    grid: int
    speaks: str
    operation: str
    more: str = ""


@dataclass(frozen=True)
class WantedSweep:
    """What is asked: a shard, and how it is to be judged. As JSON it is the payload of :data:`SWEEP`."""

    plan: str
    grid: int
    first: int
    count: int
    speaks: str
    """The profile's dialect."""
    operation: str
    timeout: float
    """Seconds for one call."""
    restarts: int
    """Deaths in the shard after which strings are left out behind each."""
    more: str = ""
    """What else the source of the strings is told, in words of its own."""

    @property
    def question(self) -> Question:
        return Question(self.plan, self.grid, self.speaks, self.operation, self.more)
