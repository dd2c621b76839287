"""A shard: a range of strings of a plan, and its result. Shards are pure: the key determines the strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overlong.conformance.oracle.kinds import Fault


@dataclass(frozen=True, order=True)
class Shard:
    """A range of strings of one of a plan's grids."""

    plan: str
    """The plan's name for ``plan_named``: ``exhaustive-4``."""
    grid: int
    first: int
    count: int

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.plan}/{self.grid}/{self.first}+{self.count}"


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard."""

    shard: Shard
    strings: int
    """The number of strings asked: all except those left out."""
    octets: int
    """The octets of those."""
    well_formed: int
    """The number of well-formed strings, counted by the oracle."""
    accepted: int
    """The number of strings that the target accepted."""
    checksum: int
    """Checksum of the target's answers: see :func:`answer_code`. A string that ended the target adds nothing."""
    kinds: bytes = b""
    """One octet for each string of the shard, compressed by zlib; empty if all agree."""
    faults: tuple[Fault, ...] = ()
    """The first few of each kind."""
    seconds: float = 0.0
    """Seconds of the target and its driver, by the clock; not part of any digest."""
    counts: dict[int, int] = field(default_factory=dict[int, int])
    """The number of strings of each kind, except agreement; this and the next are there once they are counted."""
    kinds_digest: str = ""
    """SHA-256 of the uncompressed kinds; empty if all agree."""


class Account(NamedTuple):
    """The sums over some strings."""

    strings: int
    octets: int
    """The octets of the judged strings."""
    well_formed: int
    """The number of them that the automaton accepts."""


NOTHING = Account(0, 0, 0)
