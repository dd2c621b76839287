"""What came of a shard until now: sums, the kinds of strings that diverge, the first faults of each kind."""

from __future__ import annotations

import zlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.shard import FAULTS, ShardResult

if TYPE_CHECKING:
    from overlong.conformance.results.shard import Fault, Shard


class Tally:
    """The sums of a shard; who counts strings in decides what holds their kinds."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.octets = self.well_formed = self.accepted = self.checksum = self.strings = 0
        self.kinds: Any = None  # a buffer of octets, when one is needed
        self.faults: list[Fault] = []
        self._told: dict[int, int] = {}

    def tell(self, fault: Fault) -> None:
        """Keep it, if it is among the first of its kind."""
        told = self._told[fault.kind] = self._told.get(fault.kind, 0) + 1
        if told <= FAULTS:
            self.faults.append(fault)

    def result(self, seconds: float) -> ShardResult:
        """All of it, when the shard is done."""
        return ShardResult(
            self.shard,
            self.strings,
            self.octets,
            self.well_formed,
            self.accepted,
            self.checksum,
            b"" if self.kinds is None else zlib.compress(self.kinds, 1),
            tuple(sorted(self.faults, key=attrgetter("index", "kind"))),
            seconds,
        )
