"""The divergences of a sweep, as a few sets: which plans to describe, and an explained example of each set.

An example is asked again singly, in the ordinary way: expected and observed answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import RERUN, RerunQueue, expected_under, judged_alone, limits_of
from overlong.conformance.oracle.compare import compare_batch, expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import CRASHED, DEMANDED, KINDS, MISBEHAVED, TIMED_OUT, BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.results.run import offered
from overlong.conformance.results.sweeps import DivergentSet, PlanRun, SweepBucket, SweepRun
from overlong.conformance.sweep.explained import explained
from overlong.conformance.sweep.giants.told import bucket_of, is_wrong_without_letters
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import SWEPT, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.sweep.ledger import Ledger
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.profile import Profile

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


AFTER, AT_PLACE, AMONG = Code.EARLIER_CALLS, Code.PLACE_IN_MEMORY, Code.UNSTABLE
"""The codes of a divergence that its string alone does not reproduce: it depends on the earlier string; or on the
place in memory, if the target was called in its own process; or on the strings asked with it. A failure that
does not recur gets the last code, whatever its cause."""
_FAILED = {CRASHED, TIMED_OUT, MISBEHAVED}


def asked_again(
    target: FramedTarget,
    profile: Profile,
    operation: str,
    found: DivergentSet,
    *,
    in_process: bool,
) -> Finding:
    """The fault in the answer to the least of some strings; if there is none, the condition of its divergence.

    If repeated questions get different answers, that is the fault. If the answer depends on the place in memory, a
    function is examined (``G``), which names the address or the guard that shows it.

    Args:
        target: open.
        profile: the profile to judge by.
        operation: ``V`` or ``D``.
        found: the set with that string as its example.
        in_process: the sweep called the target in its own process.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked any more.
    """
    greeting, octets = target.greeting, found.example
    vector = Vector(SWEPT, octets, profile=profile.as_said(greeting))
    limits = limits_of(greeting)
    touched = any(limit.touches(octets) for limit in limits)
    for answered in target.observe([(Batch.of([vector]), operation)]):
        observed, finding = judged_alone(answered, greeting)
        if finding is not None:
            return _rerun(target, finding)
        expected = next(iter(expected_under(vector, operation, limits)), expected_of(vector, operation))
        is_placed = in_process and found.kind not in _FAILED
        if is_placed and not touched and (in_memory := _examined(target, vector)) is not None:
            return in_memory
        code = AFTER if found.where.earlier is not None else AT_PLACE if is_placed else AMONG
        said_then = f"that is right; in the sweep: {KINDS[found.kind]}"
        # the answer in the sweep was wrong all the same, whatever it depends on
        refutes = DEMANDED.get(found.kind, "")
        right = Finding(vector, operation, code, expected, observed, KINDS[found.kind], ("", said_then), refutes)
        return _rerun(target, right)
    raise TargetError(f"{target.id}: it gives no answer to a string of the sweep when tested again")


def _examined(target: FramedTarget, vector: Vector) -> Finding | None:
    """The fault of memory that explains an answer that is right when tested again: it names the address."""
    for answered in target.observe([(Batch.of([vector]), each) for each in offered(GUARDED, target.greeting)]):
        return next(compare_batch(answered, target.greeting), None)
    return None


def _rerun(target: FramedTarget, finding: Finding) -> Finding:
    """The finding; or an unstable target, if repeated questions get different answers."""
    queue = RerunQueue()
    for _ in range(RERUN):  # a random answer can be right several times in a row
        queue.add(finding)
    return next(iter(list(queue.flaky(target))), finding)  # leave no answer in the pipe
