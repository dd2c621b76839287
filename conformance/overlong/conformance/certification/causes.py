"""Causes: sorts the divergences of a run into one bucket for each cause, which the examiner finds by experiment.

The most telling divergence is examined first. All divergences that its condition predicts belong to its bucket, and are
not examined. What remains after :data:`MOST` examinations, or cannot be examined, is sorted by code and place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.examination.examine import MOST, UNSTEADY, is_examinable, rank, resembles, why
from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import MEMORY
from overlong.conformance.results.run import add_cause

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from overlong.conformance.certification.triage import Alike
    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.run import Run
    from overlong.conformance.vectors.vector import Profile


def settle(run: Run, divergences: Iterable[Alike], target: Target) -> None:
    """Examine what must be, and sort all divergences into the run's buckets.

    Args:
        run: all its divergences are counted.
        divergences: these divergences.
        target: open. Failures of it end the examination, not the run.
    """
    found = list[tuple["Explanation", Bucket]]()
    unsteady = not run.codes.isdisjoint(UNSTEADY)
    left = list(divergences)
    for alike in left:
        alike.begin(_shown(alike, run), tried=not is_examinable(alike.key[0], alike.operation))
    try:
        for _ in range(MOST):
            known = {explanation.id for explanation, _ in found}
            if (cause := _next(left, target, run.profile, known, unsteady=unsteady)) is None:
                break
            add_cause(found, *cause)
    except (BudgetSpent, TargetError) as error:
        run.notes.append(f"not examined further: {error}")
    run.settle([*(bucket for _, bucket in found), *_others(left, unsteady=unsteady)], found)


def _shown(alike: Alike, run: Run) -> list[Finding]:
    """Those that are kept, and the least of their code and place if it is one of them."""
    least = run.buckets[alike.key].example
    own = (least.operation, least.vector.category) == (alike.operation, alike.category)
    return [least, *alike.kept] if own and len(alike.kept) < alike.count else alike.kept


def _next(
    left: list[Alike], target: Target, profile: Profile, known: Container[str], *, unsteady: bool
) -> tuple[Explanation, Bucket] | None:
    """Examine the most telling divergence that has no cause yet; None if there is none.

    If some answers are ``unsteady`` for another reason than earlier calls, only a confirmed rule tells anything.
    """
    for _ in range(MOST):
        waiting = [each for each in left if each.kept and not each.tried]
        if not waiting:
            break
        chosen = min(waiting, key=_telling)
        example = chosen.least
        explanation = why(example, target, profile)
        doubtful = unsteady and explanation is not None and not (explanation.recalls or explanation.confirmed)
        if explanation is None or explanation.condition is None or doubtful:
            chosen.less = None if explanation is None else explanation.finding
            for each in left:
                each.tried |= each.key == chosen.key
            continue
        return explanation, _bucket(explanation, example, left, again=explanation.id in known)
    return None


def _telling(alike: Alike) -> tuple[int, int, object]:
    """The order of examinations."""
    return *rank(alike.key[0], alike.operation), alike.least.order


def _bucket(explanation: Explanation, example: Finding, left: Sequence[Alike], *, again: bool) -> Bucket:
    """The bucket of an explanation: all divergences that it predicts, those that resemble it, and ``example``.

    If the explanation was found ``again``, its rule does not predict all of its own cause: what has the code and place
    of the example belongs to it.
    """
    condition = explanation.condition
    assert condition is not None

    def joins(finding: Finding) -> bool:
        alike = resembles(finding, example, condition, explanation.share)
        alike |= again and finding.bucket == example.bucket
        alike |= explanation.recalls and finding.code in UNSTEADY
        alike |= finding.is_untimely and finding.code == example.code
        return alike or finding is example or explanation.joins(finding)

    members, count, keys = list["Finding"](), 0, set[tuple[str, str]]()
    for each in left:
        taken, number = each.take(joins)
        members += taken
        count += number
        if taken:
            keys.add(each.key)
    shown = explanation.finding or example
    cause = shown if shown.claim == MEMORY else example
    own = [each for each in members if each.claim == cause.claim]
    own += [shown] if shown.claim == cause.claim else []
    return Bucket(min(own, key=partial(_plainest, cause.code)), max(count, 1), frozenset(keys), explanation.why)


def _plainest(code: str, finding: Finding) -> tuple[bool, bool, object, bool, object]:
    """The order of examples: whole inputs before streams, the cause's code before others, and of a suite's if equal."""
    order = finding.order
    return finding.vector.chunks is not None, finding.code != code, order[:3], finding.vector.category == "input", order


def _others(left: Sequence[Alike], *, unsteady: bool) -> Iterator[Bucket]:
    """A bucket for each code and place of divergences without a cause; for each code alone, if answers vary."""
    buckets: dict[tuple[str, str], Bucket] = {}
    for each in left:
        findings, count = each.take(lambda _: True)
        if findings:
            code, place = each.key
            bucket = buckets.setdefault((code, "" if unsteady else place), Bucket(findings[0], 0))
            bucket.count += count
            bucket.keys |= {each.key}
            for finding in (*findings, each.less):
                if finding is not None and finding.bucket in bucket.kinds:
                    bucket.show(finding)
    return iter(buckets.values())
