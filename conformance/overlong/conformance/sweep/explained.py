"""Why the sets of a sweep diverge: the examiner finds the causes, and each set gets the first that predicts it.

A set may have several causes, and its least string shows one. So some strings are drawn from each set, and a cause of
those that no other predicts gets a bucket of its own, with as many strings as were drawn.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import symptom_of
from overlong.conformance.examination.examine import MOST, is_examinable, rank, why
from overlong.conformance.examination.text import text_of
from overlong.conformance.oracle.apart import limits_of
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.protocol.observation import Code
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import SWEPT, Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.sweeps import SweepBucket, Where
    from overlong.conformance.vectors.profile import Profile

_OCTETS = 1 << 16
"""The most octets of the strings drawn from a set that are asked: the readable judge takes a quarter of a second."""

_LONG, _MANY = 1 << 10, 64
"""The octets, and the errors, of a text that is long, and errors throughout."""


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
    causes, found = _Causes(list(known)), list(buckets)
    left = 0 if any(each.finding.code == Code.UNSTABLE for each in buckets) else MOST
    for place in sorted(range(len(buckets)), key=lambda place: _order(buckets[place].finding, profile)):
        bucket = buckets[place]
        finding = _with_earlier(bucket)
        cause = next((each for each in causes.all if each.joins(finding)), causes.found_again(finding))
        if cause is None and left and is_examinable(finding.code, finding.operation):
            left -= 1
            cause = causes.learned(finding, target, profile)
        found[place] = replace(bucket, why=cause)
    for place, bucket in enumerate(found):
        if bucket.why is not None and bucket.found.drawn and left:
            further = list(_further(bucket, target, profile, causes, left))
            left -= len(further)
            found += further
            beside = sum(each.found.count for each in further)
            found[place] = replace(bucket, found=replace(bucket.found, count=bucket.found.count - beside))
    return _united(found)


class _Causes:
    """The causes that are known.

    The rule of a cause that is found again does not predict all that it does. What else has that code belongs to it,
    and if it is found once more, what else has that symptom.
    """

    def __init__(self, known: list[Explanation]) -> None:
        self.all = known
        self._again = dict[str, "Explanation"]()
        self._times = Counter[str]()

    def found_again(self, finding: Finding) -> Explanation | None:
        """The cause of a finding by its code or symptom alone."""
        return self._again.get(finding.code, self._again.get(symptom_of(finding.code)))

    def learned(self, finding: Finding, target: Target, profile: Profile) -> Explanation | None:
        """The cause of a finding, by experiment; None if there is no condition.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        cause = why(finding, target, profile)
        if cause is None or cause.condition is None:
            return None
        if any(each.id == cause.id for each in self.all):
            self._times[cause.id] += 1
            self._again[finding.code if self._times[cause.id] == 1 else symptom_of(finding.code)] = cause
        self.all.append(cause)
        return cause


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
    bucket: SweepBucket, target: Target, profile: Profile, causes: _Causes, most: int
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
    batch = Batch.of([Vector(SWEPT, octets, profile=profile) for octets in where])
    left: list[Finding] = [
        finding
        for answered in target.observe([(batch, bucket.finding.operation)])
        for finding in compare_batch(answered, target.greeting)
        if is_examinable(finding.code, finding.operation) and not any(cause.takes(finding) for cause in causes.all)
    ]
    left.sort(key=lambda each: each.order)
    while left and most:
        most -= 1
        first = left.pop(0)
        if causes.found_again(first) is not None or (cause := causes.learned(first, target, profile)) is None:
            continue
        same = [each for each in left if cause.takes(each)]
        left = [each for each in left if each not in same]
        octets = first.vector.octets
        some = replace(bucket.found, count=1 + len(same), example=octets, where=where[octets], drawn=())
        yield replace(bucket, found=some, finding=first, why=cause)


def _order(finding: Finding, profile: Profile) -> tuple[bool, bool, tuple[int, int], object]:
    """The order of examinations: last those of texts that are errors throughout, of which many words are a cause."""
    can_be = is_examinable(finding.code, finding.operation)
    kind = rank(finding.code, finding.operation) if can_be else (0, 0)
    octets = finding.vector.octets
    throughout = can_be and len(octets) > _LONG and text_of(profile.dialect).has_more_flaws(octets, _MANY)
    return not can_be, throughout, kind, finding.order


def _with_earlier(bucket: SweepBucket) -> Finding:
    """The finding; if its answer depends on the string before, with that."""
    finding, earlier = bucket.finding, bucket.found.where.earlier
    if finding.code != Code.EARLIER_CALLS or earlier is None:
        return finding
    return replace(finding, vector=replace(finding.vector, earlier=(earlier,)))
