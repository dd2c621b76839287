"""An input to which a target answers otherwise than the reference, or than another target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding


class Fingerprint(NamedTuple):
    """What divergences look like before they are minimised: those of one cause often share it.

    It is cheap, and no name for a cause: a bucket is (see ``bucket.py``).
    """

    target: str
    operation: str
    kind: str
    """A code of a kind (``OV101``), or of a sweep (``refused``)."""
    where: str
    """What is known of the place without asking anything: a state of the automaton and a class of octets."""


@dataclass(frozen=True)
class Divergence:
    """One input, one target, and what is wrong with its answer."""

    target: str
    """The target, as the campaign names it."""
    finding: Finding
    fingerprint: Fingerprint
    index: int
    """The number of the input in the campaign; of what has none, that of the unit in which it was found."""
    peer: str = ""
    """The other target, if two targets differ where RFC 3629 leaves it open: then it is a difference, and no fault."""
