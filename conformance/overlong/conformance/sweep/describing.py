"""The divergences of a sweep, as a few sets: which plans to describe, and an explained example of each set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.results.sweeps import DivergentSet, PlanRun, SweepBucket, SweepRun
from overlong.conformance.sweep.example import asked_again
from overlong.conformance.sweep.explained import explained
from overlong.conformance.sweep.giants.told import bucket_of, is_wrong_without_letters
from overlong.conformance.sweep.plan import plan_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.results.shard import Shard
    from overlong.conformance.sweep.ledger import Ledger, LedgerEntry
    from overlong.conformance.sweep.pool import Pool
    from overlong.conformance.targets.framed import FramedTarget

    _Pool = Pool[Shard, LedgerEntry]

_FAILURES = 32
"""The further failures that a target is allowed for each example that is tested again: each repetition may fail."""
_TOLD = 2
"""The number of plans whose divergences a certificate describes."""


def telling(diverging: Sequence[PlanRun]) -> list[PlanRun]:
    """The first few plans with divergent strings, and further plans with a new kind of divergence.

    A fault shows in many plans. Describing it takes seconds in each, and most descriptions are the same.
    """
    told: list[PlanRun] = []
    for part in diverging:
        if len(told) < _TOLD or not set(part.kinds) <= {kind for each in told for kind in each.kinds}:
            told.append(part)
    return told


def describe(
    run: SweepRun,
    diverging: Sequence[PlanRun],
    ledger: Ledger,
    target: FramedTarget,
    expected: ExpectedAnswers,
    known: Sequence[Explanation],
) -> None:
    """Add the divergences of some plans, as a few sets; the example of each is asked again singly, and examined.

    If the target fails too often, the run is incomplete, and keeps what was asked again before that.
    """
    if not diverging:
        return
    from overlong.conformance.sweep.summary import summarise

    found, giants = list[tuple[str, DivergentSet]](), list[SweepBucket]()
    for part in diverging:
        plan, results = plan_named(part.plan, run.profile), (entry.result for entry in ledger.entries(part.plan))
        if not plan.giant:
            found += [(plan.name, each) for each in summarise(plan, expected, results)]
        elif (giant := bucket_of(plan, run.operation, run.profile, results)) is not None:
            giants = [giant]  # a later plan has the strings of an earlier one
    # the limit was for the sweep, which has found the crashes
    target.restart_budget += _FAILURES * (len(found) + len(giants))
    buckets = list[SweepBucket]()
    try:
        target.open()
        for giant in giants:
            if is_wrong_without_letters(giant, target):
                found.append((giant.plan, giant.found))
            else:
                run.buckets.append(giant)
        for name, each in found:
            finding = asked_again(target, run.profile, run.operation, each, in_process=run.in_process)
            buckets.append(SweepBucket(name, each, finding))
        run.buckets += explained(buckets, target, run.profile, known)
        buckets.clear()
    except (BudgetSpent, TargetError) as error:
        run.incomplete = run.incomplete or str(error)
        run.buckets += buckets
