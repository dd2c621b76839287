"""Tiers of assurance: the sweeps of a certificate, as fixed lists of plans. Which one is asked, the rate decides.

Nothing within a tier depends on a clock, so two machines that choose alike write the same certificate, and ``--tier``
chooses for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import counted
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.plans import DRAWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.vectors.profile import Profile


@dataclass(frozen=True)
class Tier:
    """What a decoder of some speed is swept with."""

    name: str
    plans: tuple[str, ...]
    bears: str
    """Which decoders usually get it."""

    def size(self, profile: Profile) -> int:
        """How many strings."""
        return sum(plan_named(name, profile).size for name in self.plans)


DEEP = Tier(
    "deep",
    (
        *("exhaustive-3", "depth-2", "leads", "forms", "placed-256", "lengths-4096", "pairs"),
        *("after", "transitions", "faults", "thresholds-22", "order", "history"),
    ),
    "functions of shared libraries, if somebody waits a minute or two for them",
)
FULL = Tier(
    "full",
    (
        *("exhaustive-3", "depth-1", "leads", "forms", "placed-64", "lengths-1024", "pairs"),
        *("after", "transitions", "faults", "thresholds-20", "order", "history"),
    ),
    "functions of shared libraries, which are called in a process of their own",
)
FAST = Tier(
    "fast",
    ("exhaustive-2", "leads", "placed-16", "after", "transitions", "faults", "thresholds-12", "order", "history"),
    "functions of shared libraries where it must be quick",
)
USUAL = Tier(
    "usual",
    ("exhaustive-2", "depth-1", "leads", "placed-16", "after", "faults", "thresholds-12", "order", "history"),
    "decoders that answer the strings of the suites at a million a second",
)
BRIEF = Tier("brief", ("exhaustive-2", "after", "faults"), "slower ones, down to a hundred and fifty thousand a second")
LEAST = Tier("least", ("exhaustive-2",), "still slower ones, down to seven thousand a second")

TIERS = {tier.name: tier for tier in (DEEP, FULL, FAST, USUAL, BRIEF, LEAST)}
"""By name, the most thorough first."""


def seeds_of(plans: Iterable[str]) -> tuple[str, ...]:
    """The seeds by which some of these plans are drawn."""
    return tuple(name.removeprefix(f"{DRAWN.name}-") for name in plans if name.startswith(f"{DRAWN.name}-"))


def tier_of(plans: Iterable[str]) -> Tier | None:
    """The tier that these plans are, whatever is drawn besides; None if they are none."""
    named = {name for name in plans if not seeds_of([name])}
    return next((tier for tier in TIERS.values() if set(tier.plans) == named), None)


def short_of_usual(plans: Iterable[str]) -> str:
    """``tier brief``, ``1 plan swept``, ``not swept``: what was swept, if it is less than ``usual`` or ``fast`` asks.

    Plans of the same kind count alike, whatever their numbers. Empty if nothing is lacking.
    """
    named = {name for name in plans if not seeds_of([name])}
    kinds = {name.partition("-")[0] for name in named}
    if any(kinds >= {name.partition("-")[0] for name in tier.plans} for tier in (USUAL, FAST)):
        return ""
    tier = tier_of(named)
    return f"tier {tier.name}" if tier else f"{counted(len(named), 'plan')} swept" if named else "not swept"
