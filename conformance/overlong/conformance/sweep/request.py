"""The requests to ``adapter.py``, which sweeps a shared library in its own process, and its responses.

The harness imports only this module: the adapter itself can be imported only on systems with ``fork``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

SWEEP, AT_WORK = "W", b"W"
"""The operation; and the status of the frame sent once a second while the answer is not ready."""
HEAD_OF_RESULT = struct.Struct(">I")
"""The header of a result: the size of its JSON in octets. The kinds follow the JSON."""


class Question(NamedTuple):
    """The common data of all strings of a request."""

    plan: str
    grid: int
    speaks: str
    operation: str
    more: str = ""


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

    @property
    def question(self) -> Question:
        return Question(self.plan, self.grid, self.speaks, self.operation, self.more)
