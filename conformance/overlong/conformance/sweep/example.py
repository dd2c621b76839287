"""An example of a sweep's finding, asked again singly in the ordinary way: expected and observed answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.again import RERUN, RerunQueue
from overlong.conformance.oracle.compare import compare_batch, expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.kinds import CRASHED, DEMANDED, KINDS, MISBEHAVED, TIMED_OUT
from overlong.conformance.oracle.limits import expected_under, judged_alone, limits_of
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.results.run import offered
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import SWEPT, Vector

if TYPE_CHECKING:
    from overlong.conformance.results.sweeps import DivergentSet
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.profile import Profile

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
