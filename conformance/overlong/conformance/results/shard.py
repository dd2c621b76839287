"""A shard: a range of strings of a plan, and what came of it. Shards are pure: what they are asked is in their key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from overlong.conformance.vectors.names import spelt_before

AGREES, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OUTPUT, OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE = range(7)
BROKEN, CRASHED, TIMED_OUT, MISBEHAVED = range(7, 11)
LEFT_OUT = 255
KINDS = {
    REFUSED_WELL_FORMED: "well-formed, and refused",
    ACCEPTED_ILL_FORMED: "ill-formed, and accepted",
    OTHER_OUTPUT: "decoded to something else",
    OTHER_OFFSET: "refused at another offset",
    OTHER_LENGTH: "refused with another length",
    OTHER_INCOMPLETE: "refused, and wrong about whether it is incomplete",
    BROKEN: "answered against its own convention",
    CRASHED: "crashed",
    TIMED_OUT: "did not answer in time",
    MISBEHAVED: "answered against the protocol",
    LEFT_OUT: "not asked, after too many faults",
}
"""What can become of a string, but for agreement: codes of one octet."""


FAULTS = 16
"""Of each kind, that a shard tells of."""


@dataclass(frozen=True, order=True)
class Shard:
    """A range of strings of one of a plan's grids."""

    plan: str
    """As ``plan_named`` takes it: ``exhaustive-4``."""
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
class Fault:
    """A string that the target did not survive, or broke its convention with."""

    index: int
    """The string's number in its grid."""
    kind: int
    text: str
    """In ASCII, safe to show: the signal, the convention that was broken."""


@dataclass(frozen=True)
class ShardResult:
    """What came of a shard."""

    shard: Shard
    strings: int
    """Asked: all of the shard's but those left out."""
    octets: int
    """Of those."""
    well_formed: int
    """Of those, as the oracle found when it read them."""
    accepted: int
    """Of those, by the target."""
    checksum: int
    """Of the target's answers: see :func:`answer_code`. A string that it did not survive adds nothing."""
    kinds: bytes = b""
    """One octet for each string of the shard, compressed by zlib; empty if all agree."""
    faults: tuple[Fault, ...] = ()
    """The first few of each kind."""
    seconds: float = 0.0
    """Of the target and what drives it, by the clock; no part of any digest."""


ODD = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits: multiples of it spread evenly (Knuth, The Art of Computer Programming, 6.4)."""


def answer_code(status: str, number: int) -> int:
    """An answer as a number: accepted (``A``, units), refused (``R``, offset or NOT_SAID), or neither (``X``).

    The checksum of a shard is the sum of ``(code + 1) * (index * ODD | 1)`` over its strings, modulo 2**64, ``index``
    being the string's number in its grid. A sum does not care in what parts or by which engine it was made.
    """
    return (number << 2 | "ARX".index(status)) if status != "X" else 2


class Account(NamedTuple):
    """What some strings add up to."""

    strings: int
    octets: int
    """Of the strings that are judged."""
    well_formed: int
    """How many of them the automaton accepts."""


NOTHING = Account(0, 0, 0)
