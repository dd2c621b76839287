"""Why the sets of a sweep diverge: the examiner finds the causes, and each set gets the first that predicts it.

A set may have several causes, and its least string shows one. So some strings are drawn from each set, and a cause of
those that no other predicts gets a bucket of its own, with as many strings as were drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.choosing import MOST, is_examinable, rank, why
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.limits import limits_of
from overlong.conformance.protocol.kind import Code
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.sweeps import SweepBucket, Where
    from overlong.conformance.vectors.profile import Profile

_OCTETS = 1 << 20
"""The most octets of the strings drawn from a set that are asked: the readable judge takes about a second for these."""


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
    causes, found, again = list(known), list(buckets), dict[tuple[str, str], "Explanation"]()
    left = 0 if any(each.finding.code == Code.UNSTABLE for each in buckets) else MOST
    for place in sorted(range(len(buckets)), key=lambda place: _order(buckets[place].finding)):
        bucket = buckets[place]
        finding = _with_earlier(bucket)
        kind = finding.code, finding.operation
        cause = next((each for each in causes if each.joins(finding)), again.get(kind))
        if cause is None and left and is_examinable(*kind):
            left -= 1
            cause = why(finding, target, profile)
            if cause is not None and cause.condition is None:
                cause = None
            if cause is not None and _is_known(cause, causes):
                again[kind] = cause
            causes += [cause] if cause is not None else []
        found[place] = replace(bucket, why=cause)
    for place, bucket in enumerate(found):
        if bucket.why is not None and bucket.found.drawn and left:
            further = list(_further(bucket, target, profile, causes, left))
            left -= len(further)
            for each in further:
                causes += [each.why] if each.why is not None else []
                found.append(each)
            beside = sum(each.found.count for each in further)
            found[place] = replace(bucket, found=replace(bucket.found, count=bucket.found.count - beside))
    return _united(found)


def _united(buckets: Sequence[SweepBucket]) -> list[SweepBucket]:
    """The sets; those whose causes are parts of one have it."""
    causes, places = list["Explanation"](), dict[int, int]()
    for each in buckets:
        if (cause := each.why) is None:
            continue
        place, united = cause.among(causes) or (len(causes), cause)
        causes[place : place + 1] = [united]
        places[id(cause)] = place
    return [replace(each, why=causes[places[id(each.why)]]) if each.why is not None else each for each in buckets]


def _further(
    bucket: SweepBucket, target: Target, profile: Profile, causes: Sequence[Explanation], most: int
) -> Iterator[SweepBucket]:
    """The causes of those strings drawn from a set that no known cause predicts, each with their number."""
    limits, profile = limits_of(target.greeting), profile.as_said(target.greeting)
    where: dict[bytes, Where] = {}
    octets_left = _OCTETS
    for octets, at in sorted(bucket.found.drawn, key=lambda each: len(each[0])):
        octets_left -= len(octets)
        if octets_left >= 0 and not any(limit.touches(octets) for limit in limits):
            where[octets] = at
    if not where:
        return
    batch = Batch.of([Vector("sweep", octets, profile=profile) for octets in where])
    left: list[Finding] = [
        finding
        for answered in target.observe([(batch, bucket.finding.operation)])
        for finding in compare_batch(answered, target.greeting)
        if is_examinable(finding.code, finding.operation) and not any(cause.takes(finding) for cause in causes)
    ]
    left.sort(key=lambda each: each.order)
    while left and most:
        most -= 1
        first = left.pop(0)
        cause = why(first, target, profile)
        if cause is None or cause.condition is None:
            continue
        again = _is_known(cause, causes)
        same = [each for each in left if cause.takes(each) or (again and each.code == first.code)]
        left = [each for each in left if each not in same]
        octets = first.vector.octets
        some = replace(bucket.found, count=1 + len(same), example=octets, where=where[octets], drawn=())
        yield replace(bucket, found=some, finding=first, why=cause)


def _is_known(cause: Explanation, causes: Iterable[Explanation]) -> bool:
    """True if a cause is found again: then its rule does not predict all that it does, and the rest looks like it."""
    return any(each.id == cause.id for each in causes)


def _order(finding: Finding) -> tuple[bool, tuple[int, int], object]:
    can_be = is_examinable(finding.code, finding.operation)
    return not can_be, rank(finding.code, finding.operation) if can_be else (0, 0), finding.order


def _with_earlier(bucket: SweepBucket) -> Finding:
    """The finding; if its answer depends on the string before, with that."""
    finding, earlier = bucket.finding, bucket.found.where.earlier
    if finding.code != Code.EARLIER_CALLS or earlier is None:
        return finding
    return replace(finding, vector=replace(finding.vector, earlier=(earlier,)))
