"""The sweeps that a certificate rests on, beside the suites: which of them suit a target, and their findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.certification.nearest_model import hold_to_sweeps
from overlong.conformance.certification.tiers import (
    BRIEF,
    DEEP,
    FULL,
    GIANTS,
    GIANTS_TAKE,
    NO_TIER,
    NOT_FURTHER,
    STEPS,
    USUAL,
    Tier,
    constants_of,
    fresh,
    is_hasty,
    is_in_no_tier,
    left_out,
    seeds_of,
)
from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.oracle.target import TargetError, expectation
from overlong.conformance.protocol.observation import Code
from overlong.conformance.results.model import FAILS
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.distances import CONSTANT, numbers_of_utf8
from overlong.conformance.sweep.in_process import reason_against, reason_against_giants, why_slow
from overlong.conformance.sweep.ledger import LedgerError
from overlong.conformance.sweep.plan import SEEDED, plan_named
from overlong.conformance.sweep.pool import cpus
from overlong.conformance.sweep.schemes import DRAWN, DRAWN_IN_SOAK, SOAK
from overlong.conformance.sweep.sweep import sweep
from overlong.conformance.targets.commands import constants_of as numbers_in_code_of
from overlong.conformance.vectors.suites.suite import core_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.results.invocation import Invocation
    from overlong.conformance.results.run import Run
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.limits import Limits

BEARABLE = 20.0
"""The default limit of a tier in seconds of processor time, shared by all processors, at the rate of the suites
(``tiers.py``). A decoder that raises an exception for each ill-formed string takes twice as long; others take
less."""
_FOR_CONSTANTS = 5
"""The part of the time for sweeps that the numbers in a decoder's code get: a fifth, in addition."""
_COVERED = 64
"""The suites ask every kind of error at offsets up to this."""
_MOST_CONSTANTS = 32
"""The most numbers: code that names more holds tables."""
_ENOUGH = 2
"""The number of divergent plans that settle the verdict; each further one takes seconds to ask and to describe."""
QUICKLY = 2.0
"""The seconds for a quick sweep of a decoder in frames. They are clock time, because such a run writes no
certificate."""
_PATIENT = 60.0
"""The budget in seconds from which a function of a shared library gets the deepest tier."""
_CALLED, _CALLED_DEEP = 8, 16
"""The approximate speed of such a function relative to frames, for ``drawn``, and for the tier ``deep``, whose strings
are shorter. The first was measured with a validator in C; the second follows from the time of ``deep``."""
MOST_DRAWN = 256
"""The most seeded plans in a certificate: it has some lines on each, and the command names each seed."""
_BELOW_USUAL = tuple(STEPS.values())[list(STEPS).index(USUAL.name) + 1 :]


def add_sweeps(
    target: FramedTarget,
    run: Run,
    invocation: Invocation,
    seconds: float,
    progress: Progress,
    found: Callable[[Finding], None] | None,
    unexpected: Mapping[tuple[str, str], Bucket],
    *,
    constants: bool,
    all_plans: bool,
) -> Invocation:
    """Choose the plans for a target whose suites ran, and sweep it with them as part of the run.

    Args:
        target: a target that is not started.
        run: the run of its suites.
        invocation: as in :func:`plans_for`.
        seconds: the target's time for its suites (``tiers.py``).
        progress: as in :func:`sweep_too`.
        found: likewise.
        unexpected: likewise.
        constants: also ask around the numbers in the target's code.
        all_plans: ask all plans, whatever diverges; chosen plans are always all asked.

    Returns:
        the invocation that repeats the run.
    """
    fast = is_hasty(invocation)
    plans, named = plans_for(target, run, invocation, seconds)
    if fast:
        plans = fast_plans(target, run, seconds)
    if constants and plans:
        called = 1 if reason_against(target) else _CALLED
        spare = QUICKLY if fast else _budget(invocation)
        more = constant_plans(target, run, plans, _each(run, seconds) / called, spare / _FOR_CONSTANTS)
        plans = (*plans, *more)
        named = replace(named, plans=(*(named.plans or ()), *more)) if more else named
    plans = tuple(sorted(plans, key=lambda name: not constants_of([name])))  # they are few and tell most
    if slow := why_slow(target):
        run.notes.append(slow)
    chosen = GIANTS[-1] in plans and GIANTS[-1] not in (invocation.plans or ())
    by_itself = (
        invocation.tier != NO_TIER and invocation.budget is None and all(map(is_in_no_tier, invocation.plans or ()))
    )
    sweep_too(
        *(run, invocation.target, plans, invocation.limits, progress, found, unexpected),
        all_plans=all_plans or not by_itself,
        within=QUICKLY if fast and plans and reason_against(target) else None,
        giants_within=GIANTS_TAKE if chosen else None,
    )
    if run.swept is not None and run.swept.spared and named.plans:
        named = replace(named, plans=tuple(name for name in named.plans if name not in run.swept.spared))
    asked = {part.plan for part in run.swept.plans} if run.swept else set[str]()
    if invocation.suites is None and not run.incomplete and not run.buckets and _sweepable(run):
        no_giants = "" if fast or reason_against(target) else reason_against_giants(target)
        run.left_out = left_out(run, _each(run, seconds) / cpus(), no_giants)
    return named if asked.issuperset(named.plans or ()) else invocation


def _budget(invocation: Invocation) -> float:
    return BEARABLE if invocation.budget is None else invocation.budget


def plans_for(
    target: FramedTarget, run: Run, invocation: Invocation, seconds: float
) -> tuple[tuple[str, ...], Invocation]:
    """The plans to sweep a target with after its suites; a note of the run names the plans for a faster target.

    All include a plan with a new, unpredictable seed: ``drawn`` with the tiers ``full`` and ``deep``, and ``sample``
    with all others and with none. A budget larger than the cost of ``deep`` adds plans with the following seeds. A
    budget for more than :data:`MOST_DRAWN` of them buys ``soak`` plans instead.

    Args:
        target: a target that is not started.
        run: the run of its suites.
        invocation: if it names suites, no tier is asked; its own plans replace the tier's of the same kind. If it is
            thorough, the tier is at least ``usual``. With a budget other than the default, the returned invocation
            names the chosen plans.
        seconds: the target's time for its suites (``tiers.py``).

    Returns:
        the plans, and the invocation that repeats the run.
    """
    budget, named = _budget(invocation), tuple(invocation.plans or ())
    plans = named if invocation.tier == NO_TIER else _plans(target, run, invocation, seconds, budget)
    if budget != BEARABLE:
        return plans, replace(invocation, plans=plans or invocation.plans)
    drawn = [name for name in plans if seeds_of([name]) and name not in named]
    return plans, replace(invocation, plans=(*named, *drawn)) if drawn else invocation


def _plans(target: FramedTarget, run: Run, invocation: Invocation, seconds: float, budget: float) -> tuple[str, ...]:
    wanted, thorough = tuple(invocation.plans or ()), invocation.thorough
    if invocation.suites is not None or invocation.plans == ():
        return wanted
    if not _sweepable(run):
        return wanted  # a named plan gets an error with the reason
    if not reason_against(target):
        tier: Tier | None = DEEP if budget >= _PATIENT else FULL
    else:
        tier = _bearable(run, seconds, budget)
        if thorough and (tier is None or tier in _BELOW_USUAL):
            tier = USUAL
    if run.breaks_down and not thorough:
        run.notes.append("not swept: it failed while the suites ran; 'overlong sweep' runs all the same")
        return wanted
    kinds = {name.partition("-")[0] for name in wanted}
    listed = tier.plans if tier else ()
    if tier in {DEEP, FULL} and not reason_against_giants(target):
        listed = (*listed, *GIANTS)
    chosen = tuple(name for name in listed if name.partition("-")[0] not in kinds)
    if kinds.isdisjoint(SEEDED):
        name = fresh(tier)
        if budget == BEARABLE or tier != DEEP:
            chosen = (*chosen, name)
        else:
            first, kind = int(name.rpartition("-")[2]), DRAWN
            many = _affordable(target, run, seconds, budget, first)
            if many > MOST_DRAWN:
                kind, many = SOAK, min(many // DRAWN_IN_SOAK, MOST_DRAWN)
            chosen = (*chosen, *(f"{kind.name}-{(first + each) % (kind.most + 1)}" for each in range(many)))
    if tier is None or tier in _BELOW_USUAL:
        run.notes.append(f"{NOT_FURTHER}: {_price(run)}")
    return (*chosen, *wanted)


def _sweepable(run: Run) -> bool:
    """True if a target offers what sweeps ask."""
    try:
        expectation(run.profile, run.greeting)
    except TargetError:
        return False
    return True


def _affordable(target: FramedTarget, run: Run, seconds: float, budget: float, seed: int) -> int:
    """About the number of ``drawn`` plans, at least one, within the budget after ``deep``, at the suites' rate."""
    deep, drawn = (_CALLED_DEEP, _CALLED) if not reason_against(target) else (1, 1)
    each = _each(run, seconds)
    left = budget - each * DEEP.price(run.profile) / deep
    price = each * plan_named(f"{DRAWN.name}-{seed}", run.profile).price / drawn
    return max(1, int(left / price)) if price else 1


def fast_plans(target: FramedTarget, run: Run, seconds: float) -> tuple[str, ...]:
    """The plans for a target that has passed its suites: the tier ``usual`` for a function called in its own process.

    Other targets get the tier ``brief``; or only a sample if its first plan would take twice :data:`QUICKLY` at the
    suites' rate, half of which may be their start. A sample comes first: the time may end the others.
    """
    if run.buckets or not _sweepable(run):
        return ()
    if not reason_against(target):
        return (fresh(USUAL), *USUAL.plans)
    first = plan_named(BRIEF.plans[0], run.profile)
    return (fresh(BRIEF), *(BRIEF.plans if _each(run, seconds) * first.price < 2 * QUICKLY else ()))


def _bearable(run: Run, seconds: float, budget: float) -> Tier | None:
    """The most thorough tier that a target in frames answers in some seconds, at the rate of its suites."""
    each = _each(run, seconds)
    return next((tier for tier in STEPS.values() if each * tier.price(run.profile) < budget), None)


def _each(run: Run, seconds: float) -> float:
    """The seconds for an answer to a string of the suites."""
    return seconds / max(run.answers, 1)


def _price(run: Run) -> str:
    """The cost of the usual tier; no clock time, so that a certificate is the same each time."""
    return (
        f"the {thousands(USUAL.size(run.profile))} strings of the tier usual would exceed the budget; use --tier usual"
    )


def constant_plans(target: FramedTarget, run: Run, plans: Sequence[str], each: float, budget: float) -> tuple[str, ...]:
    """The plans for the numbers in a decoder's code; a note of the run names those that would take too long.

    The numbers of UTF-8 itself do not count, nor those that the plans cover.

    Args:
        target: a target that has greeted.
        run: the run.
        plans: the plans that it gets anyway.
        each: the seconds for a short string.
        budget: the seconds for all.
    """
    assert CONSTANT.least is not None
    parted = (name.partition("-") for name in plans)
    covered = max((int(last) for kind, _, last in parted if kind == "offsets"), default=0)
    least = max(CONSTANT.least, covered + 1, _COVERED + 1)
    wanted = [
        number
        for number in numbers_in_code_of(target)
        if least <= number <= CONSTANT.most and number not in numbers_of_utf8() and number not in constants_of(plans)
    ]
    chosen, spent = list[str](), 0.0
    for number in wanted[:_MOST_CONSTANTS]:
        plan = plan_named(f"{CONSTANT.name}-{number}", run.profile)
        spent += each * plan.price
        if spent > budget:
            break
        chosen.append(plan.name)
    if left := wanted[len(chosen) :]:
        words = ", ".join(map(str, left[:_MOST_CONSTANTS]))
        run.notes.append(f"not tested around these numbers of its code: {words}; --plan constant-N tests around N")
    return tuple(chosen)


def sweep_too(
    run: Run,
    target: str | Sequence[str],
    plans: Sequence[str],
    limits: Limits | None,
    progress: Progress,
    found: Callable[[Finding], None] | None,
    unexpected: Mapping[tuple[str, str], Bucket],
    *,
    all_plans: bool,
    within: float | None = None,
    giants_within: float | None = None,
) -> None:
    """Sweep a target with some plans, if any, as part of a run; ``found`` gets findings of new buckets.

    A divergence that has a cause among those of the suites belongs to its bucket, which gets it as an example if it is
    less. An unfinished sweep leaves the run incomplete, with all results of the suites.

    Args:
        run: the run of the suites.
        target: its name on the command line, or its command.
        plans: the plans' names.
        limits: the target's limits.
        progress: called as the sweep proceeds.
        found: called with each finding of a bucket that the suites do not have.
        unexpected: the buckets of unexpected divergences, if some were expected: they share examples with the run.
        all_plans: false: begin no further plan once some plans have shown divergences; a note reports that.
        within: seconds, as in :func:`~overlong.conformance.sweep.sweep.sweep`.
        giants_within: likewise.
    """
    if not plans:
        return
    try:
        swept = sweep(
            target,
            plans,
            speaks=run.profile.speaks,
            jobs=cpus(),
            limits=limits,
            briefly=True,
            known=run.explanations,
            enough=None if all_plans else _ENOUGH,
            within=within,
            giants_within=giants_within,
            progress=progress,
        )
    except (TargetError, LedgerError) as error:
        run.incomplete = f"the sweep: {error}"
        return
    except KeyboardInterrupt:
        run.incomplete = "interrupted"
        return
    run.swept = swept
    asked = {*(part.plan for part in swept.plans), *swept.spared}
    if swept.divergences and (left := [name for name in plans if name not in asked]):
        run.notes.append(f"{NOT_FURTHER}, for it diverges: {', '.join(left)} ('overlong sweep' runs them)")
    if why := swept.incomplete or swept.wrong or swept.unsupported:
        run.incomplete = f"the sweep: {why}"
    hold_to_sweeps(run)
    later = set[int]()  # the causes that only the sweep shows
    for bucket in swept.buckets:
        finding = _as_known(bucket.finding, bucket.found.words)
        known = run.cause_of(bucket.finding)
        if known is not None and known.example.bucket == finding.bucket:
            known.show(finding)
        if known is not None and finding.bucket in unexpected:
            unexpected[finding.bucket].show(finding)
        known = run.explained_by(bucket.why) or run.cause_of(bucket.finding)
        if known is not None:
            known.count += bucket.found.count
        if known is not None and id(known) not in later:
            continue
        if known is not None:
            known.keys |= {*known.kinds, finding.bucket}
        elif bucket.why is not None:
            example = finding if bucket.cause is None else _as_known(bucket.cause, bucket.found.words)
            kinds = frozenset({example.bucket, finding.bucket})
            known = run.explain(bucket.why, Bucket(example, bucket.found.count, kinds, bucket.why.why))
        else:
            run.add(finding)
            known = run.buckets[finding.bucket]
            known.count += bucket.found.count - 1
        later.add(id(known))
        run.claims[known.example.claim] = FAILS
        if found is not None:
            found(finding)


def _as_known(finding: Finding, description: str) -> Finding:
    """A finding of a sweep, renamed to the core vector with the same octets, if there is one."""
    if finding.code == Code.GIANT:  # its vector lacks most of the octets
        return finding
    for known in core_vectors():
        if known.octets == finding.vector.octets and known.chunks is None:
            return replace(finding, vector=replace(known, profile=finding.vector.profile))
    return replace(finding, vector=replace(finding.vector, comment=description))
