"""A shard: a range of strings of a plan, and what came of it. Shards are pure: what they are asked is in their key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.vectors.names import spelt_before

if TYPE_CHECKING:
    from overlong.conformance.oracle.kinds import Fault


@dataclass(frozen=True, order=True)
class Shard:
    """A range of strings of one of a plan's grids."""

    plan: str
    """The plan, as ``plan_named`` takes it: ``exhaustive-4``."""
    grid: int
    first: int
    count: int

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.plan}/{self.grid}/{self.first}+{self.count}"

    @property
    def digested(self) -> str:
        """Its name as digests have it, once and for all: with the plan spelt as it was before."""
        return f"{spelt_before(self.plan)}/{self.grid}/{self.first}+{self.count}"


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard."""

    shard: Shard
    strings: int
    """Asked: all of the shard's but those left out."""
    octets: int
    """Octets of those."""
    well_formed: int
    """How many of those are well-formed, as the oracle found when it read them."""
    accepted: int
    """How many of those the target accepted."""
    checksum: int
    """Checksum of the target's answers: see :func:`answer_code`. A string that it did not survive adds nothing."""
    kinds: bytes = b""
    """One octet for each string of the shard, compressed by zlib; empty if all agree."""
    faults: tuple[Fault, ...] = ()
    """The first few of each kind."""
    seconds: float = 0.0
    """Seconds of the target and what drives it, by the clock; no part of any digest."""


class Account(NamedTuple):
    """The sums over some strings."""

    strings: int
    octets: int
    """Octets of the strings that are judged."""
    well_formed: int
    """How many of them the automaton accepts."""


NOTHING = Account(0, 0, 0)
