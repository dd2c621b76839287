"""Asks divergent vectors again: a target whose answer changes is flaky, whatever else is wrong.

The first findings of each bucket are asked again, each vector singly. The first answer stays: if answers differ, a
further finding lists them all, and none of them counts as the true one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from overlong.conformance.oracle.alone import REORDERED
from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.vectors.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.observation import Observation

AGAIN = 3
"""The repetitions of a divergent vector."""
RERUN = 4
"""The number of each bucket's first findings that are asked again."""


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
