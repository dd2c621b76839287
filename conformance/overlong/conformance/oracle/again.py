"""Asks again: strings of batches singly, and in another order; divergent vectors several times.

An adapter that passes many strings at once (a column, an array) may answer them differently than single ones: it
reads the octets of neighbours, takes another path for many, or keeps state from one to the next.

A target whose answer changes is flaky, whatever else is wrong. The first findings of each bucket are asked again, each
vector singly. The first answer stays: if answers differ, a further finding lists them all, and none of them counts as
the true one.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare_batch, place_of_fault
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.oracle.own_mode import suspicion
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.protocol.wire import BATCH, OTHER_INPUT
from overlong.conformance.vectors.batch import Batch, Member
from overlong.reference.defect import UNEXPECTED_TAIL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation

OF_EACH = 2
"""The number of a batch's strings that are asked again."""
ALONE, REORDERED = "tested by itself", "tested with others in another order"
"""The circumstances of an answer that differs from the one in the batch."""
AGAIN = 3
"""The repetitions of a divergent vector."""
RERUN = 4
"""The number of each bucket's first findings that are asked again."""


def can_differ(greeting: Greeting) -> bool:
    """True if the target takes many strings in one request."""
    return BATCH in greeting.operations


def sample_of(batch: Batch, most: int = OF_EACH) -> list[Member]:
    """Some strings of a batch: always the same, but not predictable from their places."""
    count = min(most, len(batch))
    chosen = random.Random(zlib.crc32(batch.octets)).sample(range(len(batch)), count)  # noqa: S311 (no secret)
    return [Member(batch, place) for place in chosen]


def otherwise(asked: Sequence[tuple[Member, str]], target: Target) -> Iterator[tuple[int, Finding]]:
    """The strings that the target gets wrong singly, or in another order.

    Strings with the same operation are asked singly, one per request, and then in one batch: both times from the last
    to the first, except that truncated strings come right before strings that begin with a tail. The caller knows
    whether a string was right among its original neighbours.

    Args:
        asked: strings, and the operation of each; none is for guarded memory.
        target: open.

    Yields:
        its index in ``asked``, and the fault: an ``OV607`` that refutes the same claim as the wrong answer. Only the
        first fault of each string.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    told = set[int]()
    groups: dict[tuple[str, bool, bool], list[int]] = {}
    for place in reversed(range(len(asked))):
        member, operation = asked[place]
        groups.setdefault((operation, member.batch.chunks is None, member.batch.earlier is None), []).append(place)
    again, order = list[tuple[Batch, str]](), list[tuple[int, str]]()
    for (operation, _, _), same in groups.items():
        places = same
        if operation not in OTHER_INPUT:
            places = [same[number] for number in _reordered(Batch.gathered([asked[place][0] for place in same]))]
        batch = Batch.gathered([asked[place][0] for place in places])
        again.append((replace(batch, singly=True), operation))
        order += [(place, ALONE) for place in places]
        if len(places) > 1:
            again.append((batch, operation))
            order += [(place, REORDERED) for place in places]
    following = iter(order)
    for answered in target.observe(again):
        found: dict[object, Finding] = {}
        for finding in compare_batch(answered, target.greeting):
            found.setdefault(finding.vector.apart, finding)
        for _ in range(len(answered.batch)):
            place, how = next(following)
            vector = asked[place][0].vector
            wrong = found.get(vector.apart)
            if wrong is None or place in told or suspicion(wrong) is not None:
                continue
            told.add(place)
            yield (
                place,
                replace(
                    wrong,
                    vector=vector,
                    code=Code.IN_COMPANY,
                    place=wrong.title,
                    detail=("as among others", how),
                    refutes=wrong.claim,
                ),
            )


def _reordered(batch: Batch) -> list[int]:
    """The order in a batch, where truncated strings are paired with strings that begin with a tail."""
    cut, tails, others = list[int](), list[int](), list[int]()
    for place, flaw in enumerate(batch.flaws):
        begins_with_tail = flaw is not None and flaw.offset == 0 and flaw.defect == UNEXPECTED_TAIL
        (tails if begins_with_tail else cut if flaw is not None and flaw.incomplete else others).append(place)
    return [place for place in chain(*zip_longest(cut, tails), others) if place is not None]


class RerunQueue:
    """The first findings of each bucket, to be asked again at the end."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], list[Finding]] = {}

    def add(self, finding: Finding) -> None:
        """Note a finding, if it is one of the first of its bucket, and an answer. Crashes were already retried.

        A fault that shows only in a batch does not recur here, and that does not make it flaky.
        """
        if finding.detail[1] == REORDERED:
            return
        first = self._first.setdefault(finding.bucket, [])
        if len(first) < RERUN and isinstance(finding.observed, Accepted | Refused | Failed):
            first.append(finding)

    def wanted(self, bucket: tuple[str, str]) -> int:
        """The number of a bucket's findings still to be noted."""
        return RERUN - len(self._first.get(bucket, ()))

    def flaky(self, target: Target) -> Iterator[Finding]:
        """Ask again, and yield the resulting findings of OV605.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """
        findings = tuple(chain(*self._first.values()))
        waiting = iter(findings)  # separate, because requests run ahead of answers
        asked = ((Batch.of([finding.vector]), finding.operation) for finding in findings for _ in range(AGAIN))
        answers: list[Observation] = []
        for answered in target.observe(asked):
            answers += answered.observed(target.greeting)
            if len(answers) == AGAIN:
                finding = next(waiting)
                if any(_differ(finding.observed, answer) for answer in answers):
                    yield _with_all(finding, answers)
                answers = []


def _differ(first: Observation, other: Observation) -> bool:
    """True if verdicts or outputs differ; the place and the text of an error may vary."""
    if isinstance(first, Accepted):
        return first != other
    return type(first) is not type(other)


def _with_all(finding: Finding, answers: list[Observation]) -> Finding:
    words = "; ".join(observed_in_words(answer, finding.operation, finding.vector.octets) for answer in answers)
    return replace(
        finding,
        code=Code.UNSTABLE,
        place=place_of_fault(finding.operation),
        detail=("each time", f"tested again: {words}"),
    )
