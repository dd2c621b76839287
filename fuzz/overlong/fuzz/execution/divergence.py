"""An input for which a target's answer differs from the reference's, or from another target's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding


class Fingerprint(NamedTuple):
    """The fingerprint of a divergence before minimisation; divergences of one cause often share it.

    A fingerprint is cheap, but does not name a cause; a bucket does (see ``campaign/examiner.py``).
    """

    target: str
    operation: str
    kind: str
    """A code of a kind (``OV101``), or of a sweep (``refused``)."""
    where: str
    """The place, as far as known without a question: a state of the automaton and a class of octets."""


@dataclass(frozen=True)
class Divergence:
    """One input, one target, and the fault of its answer."""

    target: str
    """The target, as the campaign names it."""
    finding: Finding
    fingerprint: Fingerprint
    index: int
    """The number of the input in the campaign, or of its unit if it has none."""
    peer: str = ""
    """The other target of a difference that RFC 3629 allows, which is no fault; else empty."""
