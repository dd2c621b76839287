"""The requests to ``adapter.py``, which sweeps a shared library in its own process, and its responses.

The harness knows this alone of the adapter, which can be imported only where there is ``fork``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

SWEEP, AT_WORK = "W", b"W"
"""The operation; and the status of a frame that says that the answer is not ready yet, once a second."""
HEAD_OF_RESULT = struct.Struct(">I")
"""Before a result: the size of its JSON in octets. The kinds follow the JSON."""


class Question(NamedTuple):
    """The common data of all strings of a request."""

    plan: str
    grid: int
    speaks: str
    operation: str
    more: str = ""


@dataclass(frozen=True)
class WantedSweep:
    """A request: a shard, and how to judge it. As JSON it is the payload of :data:`SWEEP`."""

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
    """Deaths in the shard after which strings following each further death are left out."""
    more: str = ""
    """Further data for the source of the strings, in its own words."""

    @property
    def question(self) -> Question:
        return Question(self.plan, self.grid, self.speaks, self.operation, self.more)
