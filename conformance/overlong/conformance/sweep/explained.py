"""Why the sets of a sweep diverge: the examiner finds the causes, and each set gets the first that predicts it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.choosing import MOST, is_examinable, rank, why
from overlong.conformance.protocol.kind import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.sweeps import SweepBucket
    from overlong.conformance.vectors.profile import Profile


def explained(
    buckets: Sequence[SweepBucket], target: Target, profile: Profile, known: Iterable[Explanation] = ()
) -> list[SweepBucket]:
    """The sets with their causes, in the same order; the most telling that none predicts is examined first.

    Args:
        buckets: the sets, without causes.
        target: open.
        profile: what it is measured by.
        known: causes that are known already.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    causes, found = list(known), list(buckets)
    left = 0 if any(each.finding.code == Code.UNSTABLE for each in buckets) else MOST
    for place in sorted(range(len(buckets)), key=lambda place: _order(buckets[place].finding)):
        bucket = buckets[place]
        finding = _with_earlier(bucket)
        cause = next((each for each in causes if each.joins(finding)), None)
        if cause is None and left and is_examinable(finding.code, finding.operation):
            left -= 1
            cause = why(finding, target, profile)
            if cause is not None and cause.condition is None:
                cause = None
            causes += [cause] if cause is not None else []
        found[place] = replace(bucket, why=cause)
    return found


def _order(finding: Finding) -> tuple[bool, tuple[int, int], object]:
    can_be = is_examinable(finding.code, finding.operation)
    return not can_be, rank(finding.code, finding.operation) if can_be else (0, 0), finding.order


def _with_earlier(bucket: SweepBucket) -> Finding:
    """The finding; if its answer depends on the string before, with that."""
    finding, earlier = bucket.finding, bucket.found.where.earlier
    if finding.code != Code.EARLIER_CALLS or earlier is None:
        return finding
    return replace(finding, vector=replace(finding.vector, earlier=(earlier,)))
