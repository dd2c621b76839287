"""What engines work on: targets and inputs by number; and what they report: divergences."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.support.printable import as_text
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.vector import RFC3629, Profile

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding

BLOCK = 1 << 12
"""Inputs of a block: units are whole blocks, except the last one of a campaign with a limit on inputs."""


def named(target: str | tuple[str, ...]) -> str:
    """A target as findings name it, and a user asks for it again."""
    return as_text(target if isinstance(target, str) else f"-- {shlex.join(target)}")


def octave(block: int) -> int:
    """The number of times that the campaign's length, in blocks, had doubled before this block."""
    return (block + 1).bit_length()


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


@dataclass(frozen=True, order=True)
class WorkUnit:
    """Inputs by number: ``count`` of them from ``first`` on."""

    first: int
    count: int


@dataclass(frozen=True)
class CampaignJob:
    """The work of an engine. It can be pickled, and a worker elsewhere makes an engine from it."""

    targets: tuple[str | tuple[str, ...], ...]
    """Names, as on the command line; or commands that speak the protocol."""
    seed: int = 0
    engine: str = "grammar"
    profile: Profile = RFC3629
    limits: Limits = field(default_factory=Limits)
    seeds: tuple[bytes, ...] = ()
    """Inputs of a corpus from which parts are taken, in order; they and the seed fix every input."""
    corpus: str = ""
    """The folder of the corpus, for an engine that reads and writes one itself; empty if there is none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The targets, as findings name them."""
        return tuple(map(named, self.targets))
