"""Tiers of assurance: the sweeps of a certificate, as fixed lists of plans. The target's rate selects the list.

Three of the lists are tiers that ``--tier`` takes and reports name; the others fit speeds between and beside them, and
reports name their plans alone.

Nothing within a tier depends on a clock, so two machines with the same tier and the same seed write the same
certificate; ``--tier`` fixes the first. A decoder can know a fixed list by heart, so strings that a fresh seed draws
follow it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import counted, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.results.invocation import Invocation
    from overlong.conformance.vectors.profile import Profile


@dataclass(frozen=True)
class Tier:
    """The plans for decoders of some speed."""

    name: str
    plans: tuple[str, ...]
    """The plans; those with the most findings for their cost come first."""
    bears: str
    """The decoders that usually get it."""
    is_typed: bool = True
    """True if users know its name."""

    def size(self, profile: Profile) -> int:
        """The number of strings."""
        from overlong.conformance.sweep.plan import plan_named

        return sum(plan_named(name, profile).size for name in self.plans)

    def price(self, profile: Profile) -> float:
        """The cost: the number of short strings that take a decoder as long."""
        from overlong.conformance.sweep.plan import plan_named

        return sum(plan_named(name, profile).price for name in self.plans)


DEEP = Tier(
    "deep",
    (
        *("offsets-256", "after-3", "forms", "leads", "faults-3", "transitions-2", "order", "far-20", "placed-256"),
        *("blocks-16", "runs-16", "addresses-72", "follows-64"),
        *("pairs", "history", "exhaustive-3", "lengths-4096", "thresholds-22", "depth-2"),
    ),
    "functions of shared libraries, given a minute or two",
    is_typed=False,
)
FULL = Tier(
    "full",
    (
        *("offsets-128", "after-3", "depth-1", "forms", "leads", "faults-3", "transitions-2", "order", "far-18"),
        *("blocks-16", "runs-16", "addresses-72", "follows-64"),
        *("placed-64", "pairs", "history", "exhaustive-3", "lengths-1024", "thresholds-20"),
    ),
    "functions of shared libraries, which are called in a process of their own",
)
USUAL = Tier(
    "usual",
    (
        *("exhaustive-2", "transitions-1", "after-3", "offsets-128", "far-17", "thresholds-8", "faults-3"),
        *("octets-72", "blocks-13", "forms", "leads", "depth-1", "order"),
    ),
    "decoders that answer the strings of the suites at a million a second; functions of shared libraries with --quick",
)
AMPLE = Tier(
    "ample",
    (
        *("exhaustive-2", "transitions-1", "after-1", "offsets-128", "thresholds-4", "faults-1", "placed-4"),
        *("octets-72", "blocks-8", "forms", "far-17"),
    ),
    "slower ones, down to four hundred thousand a second",
    is_typed=False,
)
LEAN = Tier(
    "lean",
    (
        *("exhaustive-2", "transitions-1", "after-1", "offsets-96", "octets-72", "far-17", "blocks-8"),
        *("thresholds-4", "faults-1"),
    ),
    "slower ones, down to two hundred thousand a second",
    is_typed=False,
)
BRIEF = Tier(
    "brief",
    ("exhaustive-2", "thresholds-4", "after-1", "faults-1", "offsets-32", "octets-72", "transitions-1", "far-15"),
    "slower ones, down to a hundred and ten thousand a second; others with --quick",
)
SMALL = Tier(
    "small",
    ("exhaustive-2", "offsets-32", "after-0", "transitions-0", "far-13", "faults-1"),
    "those below, down to sixty thousand a second",
    is_typed=False,
)
LEAST = Tier("least", ("exhaustive-2", "offsets-8"), "the slowest, down to ten thousand a second", is_typed=False)

STEPS = {tier.name: tier for tier in (DEEP, FULL, USUAL, AMPLE, LEAN, BRIEF, SMALL, LEAST)}
"""All lists by name, the most thorough first."""
TIERS = {name: tier for name, tier in STEPS.items() if tier.is_typed}
"""Those that ``--tier`` takes. The command line reads this at its start, so this module loads no plans."""


HASTY, NO_TIER = "quick", "none"
"""What else a caller may name: some suites and a sweep of a second or two, and only the plans that are named."""


def with_tier(invocation: Invocation) -> Invocation:
    """What is asked, with the plans of its tier by name.

    Raises:
        ValueError: there is no such tier.
    """
    name, named = invocation.tier, tuple(invocation.plans or ())
    if name is None or name == NO_TIER:
        return invocation
    if name == HASTY:
        from overlong.conformance.vectors.suites import QUICK

        return invocation if invocation.suites is not None else replace(invocation, suites=tuple(QUICK))
    if name not in TIERS:
        raise ValueError(f"no tier {name!r}; {did_you_mean(name, (*TIERS, HASTY, NO_TIER))}")
    return replace(invocation, tier=NO_TIER, plans=(*TIERS[name].plans, fresh(TIERS[name]), *named))


def is_hasty(invocation: Invocation) -> bool:
    """True if a target that passes its suites is swept for a second or two."""
    return invocation.tier == HASTY and invocation.plans is None


def fresh(tier: Tier | None) -> str:
    """A plan of strings that no decoder can know: its seed is unpredictable, and its name repeats it."""
    from overlong.conformance.sweep.schemes import DRAWN, SAMPLE

    kind = DRAWN if tier is not None and tier.name in {FULL.name, DEEP.name} else SAMPLE
    return f"{kind.name}-{secrets.randbelow(kind.most + 1)}"


NOT_FURTHER = "not swept further"
"""How a note begins that names what a sweep left out."""
GIANTS = ("giant-24", "giant-32")
"""Plans that follow the tiers ``full`` and ``deep``, for functions that only validate: the first measures how fast a
function reads, and the second is asked if that is fast enough."""
GIANTS_TAKE = 2.5
"""The most seconds of the second."""


def seeds_of(plans: Iterable[str]) -> tuple[str, ...]:
    """The seeds by which some of these plans are drawn."""
    from overlong.conformance.sweep.plan import SEEDED

    parted = (name.partition("-") for name in plans)
    return tuple(seed for kind, _, seed in parted if kind in SEEDED)


def constants_of(plans: Iterable[str]) -> tuple[int, ...]:
    """The numbers around which some of these plans ask."""
    from overlong.conformance.sweep.distances import CONSTANT

    parted = (name.partition("-") for name in plans)
    return tuple(int(number) for kind, _, number in parted if kind == CONSTANT.name)


def is_in_no_tier(plan: str) -> bool:
    """True if a plan belongs to one decoder or one run: a seed or the decoder's code gives its number."""
    return bool(seeds_of([plan]) or constants_of([plan]))


def tier_of(plans: Iterable[str]) -> Tier | None:
    """The tier that these plans form, apart from those that no tier has; None if they form none."""
    named = {name for name in plans if not is_in_no_tier(name) and name not in GIANTS}
    return next((tier for tier in STEPS.values() if set(tier.plans) == named), None)


def short_of_usual(plans: Iterable[str]) -> str:
    """The extent of a sweep smaller than ``usual``: ``tier brief; not swept further``, ``not swept``.

    Plans of the same kind count alike, whatever their numbers. Empty if nothing is missing.
    """
    plans = set(plans)
    named = {name for name in plans if not is_in_no_tier(name)}
    kinds = {name.partition("-")[0] for name in named}
    if "addresses" in kinds:
        kinds.add("octets")  # each is at each of these offsets there, too
    if kinds >= {name.partition("-")[0] for name in USUAL.plans}:
        return ""
    tier = tier_of(named)
    if tier and tier.is_typed:
        return f"tier {tier.name}; {NOT_FURTHER}"
    return f"{counted(len(named or plans), 'plan')} swept" if plans else "not swept"
