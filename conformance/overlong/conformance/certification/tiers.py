"""Tiers of assurance: the sweeps of a certificate, as fixed lists of plans, and the speed that selects the list.

Three of the lists are tiers that ``--tier`` takes and reports name; the others fit speeds between and beside them, and
reports name their plans alone.

Nothing within a tier depends on a clock, so two machines with the same tier and the same seed write the same
certificate; ``--tier`` fixes the first. A decoder can know a fixed list by heart, so strings that a fresh seed draws
follow it.

The speed of a target is measured in processor time (:class:`Pace`), if the system reports that, and relative to a known
calculation: then two machines, busy or not, usually choose the same plans.

:func:`left_out` gives the additional plans of the next tier, and their approximate time: for a person, never for a
certificate. It depends on a clock: on the rate of the answers to the sweeps just now, or to the suites if there was no
sweep.
"""

from __future__ import annotations

import secrets
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import counted, did_you_mean, lasting, thousands

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.results.invocation import Invocation
    from overlong.conformance.results.run import Run
    from overlong.conformance.vectors.vector import Profile


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
    from overlong.conformance.sweep.plan import plan_named

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


_KNOWN_SECONDS = 0.006
"""The time of the calculation on a known processor, an x86-64 of 2023 at 3 GHz."""

_TIMES = 15
"""The repetitions of the calculation: other processes share the processor and its caches, as during the run."""
_WAITED_FOR = 0.1
"""The least share of this process's waiting time in which the target's processes must have worked, for their time to
count. If they worked less, something else did the work: a container, another machine."""
_SCHEDULED = Path("/proc/thread-self/schedstat")
"""Linux: this thread's nanoseconds of processor time, and of waiting for a processor."""

MOST = 5.0
"""The most seconds that a suite of longer texts may take a target by default: as long as it may take for one answer."""
ENOUGH = 15.0
"""The most seconds of one process, on an idle machine, that the suites of a million texts may take a target that is
refused already: they would say no more of why."""
_GROWTH = 4.0, 16.0
"""How the time grows at least and at most, as the texts become four times as long: with their length, or its square."""


def next_after(seconds: Sequence[float]) -> float:
    """The seconds that the next suite of longer texts will take, at most.

    Args:
        seconds: of the suites before it: the first, of texts a fourth as long, or the first two, of texts a 64th and a
            16th as long.
    """
    least, most = _GROWTH
    if len(seconds) == 1:
        return seconds[0] * most
    growth = seconds[1] / seconds[0] if seconds[0] else most
    return seconds[1] * min(max(growth, least), most) ** 2


class Pace:
    """A clock that starts when it is made, and knows how busy the machine has been since.

    A target waits for a processor as long as this thread does, which waits for the same ones.
    """

    def __init__(self) -> None:
        self._children, self._own = _of_children(), _of_this_thread()

    def seconds(self, run: float) -> float:
        """A target's processor time, in seconds of a known processor, during ``run`` seconds; ask after it has ended.

        The clock was made with the target open. If the system does not report the time (Windows), the elapsed seconds;
        if something else did the target's work, the seconds in which this process was idle.
        """
        before, now = self._children, _of_children()
        if before is None or now is None:
            return run
        _, waiting, working = (later - earlier for later, earlier in zip(_of_this_thread(), self._own, strict=True))
        waited = max(0.0, run - working - waiting)
        if now - before < _WAITED_FOR * waited:
            return waited
        return (now - before) * _of_known()

    def alone(self, elapsed: float) -> float:
        """The seconds, of an idle machine with a known processor, for what a target did in ``elapsed`` seconds."""
        worked, waited, _ = (later - earlier for later, earlier in zip(_of_this_thread(), self._own, strict=True))
        share = worked / (worked + waited) if worked else 1.0
        return elapsed * share * _of_known()

    def exceeds(self, elapsed: float, most: float) -> bool:
        """True if what took, or will take, ``elapsed`` seconds would exceed ``most`` alone, too."""
        return elapsed > most and self.alone(elapsed) > most


def _of_known() -> float:
    """The seconds of the known processor in which it does what this one does in a second."""
    return _KNOWN_SECONDS / sorted(_known() for _ in range(_TIMES))[_TIMES // 2]


def _of_children() -> float | None:
    """The processor time of all ended children of this process; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_this_thread() -> tuple[float, float, float]:
    """The seconds in which this thread worked, and waited for a processor; and those in which this process worked.

    The first two are zeros if the system does not say them.
    """
    if not _SCHEDULED.exists():
        return 0.0, 0.0, time.process_time()
    worked, waited, _ = _SCHEDULED.read_text("ascii").split()
    return int(worked) / 1e9, int(waited) / 1e9, time.process_time()


def _known() -> float:
    """The seconds of a calculation that is the same everywhere and uses no cache."""
    started = time.process_time()
    pow(3, (1 << 512) - 1, (1 << 2203) - 1)
    return time.process_time() - started
