"""The additional plans of the next tier, and their approximate time: for a person, never for a certificate.

A certificate's octets do not depend on a clock, but this text does: on the rate of the answers to the sweeps just now,
or to the suites if there was no sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.tiers import (
    AMPLE,
    BRIEF,
    DEEP,
    FULL,
    GIANTS,
    LEAN,
    LEAST,
    SMALL,
    USUAL,
    is_in_no_tier,
    tier_of,
)
from overlong.conformance.support.printable import counted, lasting, thousands
from overlong.conformance.sweep.plan import plan_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.certification.tiers import Tier
    from overlong.conformance.results.run import Run

_NEXT = {None: BRIEF, LEAST: BRIEF, SMALL: BRIEF, BRIEF: USUAL, LEAN: USUAL, AMPLE: USUAL, USUAL: FULL, FULL: DEEP}
_NAMED = 2
"""The number of named plans, the costliest first; the others are counted."""
_MILLION = 10**6


def left_out(run: Run, seconds: float, no_giants: str = "") -> str:
    """What a longer run would ask: giant strings, and the plans of the next tier.

    Args:
        run: a complete run, with its sweeps.
        seconds: the time for a string of the suites, used if no fixed plan was swept.
        no_giants: why a function of a shared library cannot be asked giant strings; empty if it can.

    Returns:
        an empty string if there is nothing more.
    """
    spared = run.swept.spared if run.swept is not None else {}
    giants = [f"{name} (about {_about(each)}): --plan {name}" for name, each in spared.items()]
    giants += [f"{GIANTS[-1]} ({no_giants})"] if no_giants else []
    return "; ".join(filter(None, (*giants, _of_next_tier(run, seconds))))


def next_tier(run: Run) -> Tier | None:
    """The tier after the one that was swept; None if there is none, or if the swept plans are no tier."""
    asked = [part.plan for part in run.swept.plans if part.plan not in GIANTS] if run.swept is not None else []
    got = tier_of(asked)
    return _NEXT.get(got) if got is not None or all(map(is_in_no_tier, asked)) else None


def _of_next_tier(run: Run, seconds: float) -> str:
    """``depth-2 (909 M strings, about 13 s) and 5 plans more, about 40 s in all: --for 2m``.

    Returns:
        an empty string if there is no next tier, or if the asked plans are no tier.
    """
    following = next_tier(run)
    if following is None:
        return ""
    parts = [part for part in run.swept.plans if part.plan not in GIANTS] if run.swept is not None else []
    asked = [part.plan for part in parts]
    fixed = [name for name in asked if not is_in_no_tier(name)]
    price = sum(plan_named(name, run.profile).price for name in asked)
    if run.swept is not None and price and fixed:  # a sample is too short to tell a rate
        giants = sum(part.seconds for part in run.swept.plans if part.plan in GIANTS) / run.swept.jobs
        seconds = max(run.swept.seconds - giants, 0) / price
    more = [plan_named(name, run.profile) for name in following.plans if name not in asked]
    more.sort(key=lambda plan: plan.price, reverse=True)
    named = [f"{plan.name} ({_strings(plan.size)}, about {_about(seconds * plan.price)})" for plan in more[:_NAMED]]
    total = f"about {_about(seconds * sum(plan.price for plan in more))} in all"
    others = [f"{counted(len(more) - _NAMED, 'plan')} more"] if len(more) > _NAMED else []
    option = f"--tier {following.name}" if following.is_typed else f"--for {_minutes(seconds, following, run)}m"
    return f"{_joined([*named, *others])}{f', {total}' if len(more) > 1 else ''}: {option}"


def _minutes(seconds: float, tier: Tier, run: Run) -> int:
    """A time for ``--for`` that is enough for a tier."""
    return 1 + int(seconds * tier.price(run.profile) / 60)


def _strings(count: int) -> str:
    return f"{thousands(round(count / _MILLION))} M strings" if count >= _MILLION else f"{thousands(count)} strings"


def _about(seconds: float) -> str:
    """A duration with two digits: it is no more precise."""
    if seconds < 1:
        return "1 s"
    return lasting(float(f"{seconds:.1e}"))


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
