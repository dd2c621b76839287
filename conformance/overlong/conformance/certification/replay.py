"""Asks one target one vector again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import NOT_IN_THREADS, can_ask, expected_under, judged_alone, limits_of, raced
from overlong.conformance.oracle.compare import confirmed, control_of, expected_of, is_open
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.wire import (
    AGAIN,
    ANNOUNCE,
    ASKING,
    DECODE,
    ENCODE,
    ENCODE_UTF16,
    GUARDED,
    REPLACE,
    SEPARATE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.results.run import offered
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import SCALARS, UTF16, WIDTHS, Asked
from overlong.conformance.vectors.suites.streams import VALUES
from overlong.conformance.vectors.vector import IdError
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Outcome


_THREADS, _TIMES = 4, 4
WHOLE = VALIDATE + DECODE + REPLACE + GUARDED
"""The operations for a vector that is a whole input."""


@dataclass(frozen=True)
class Answer:
    """The answer of one operation."""

    operation: str
    """Its letter."""
    expected: Outcome | None
    """None if many answers are right: its error mode is unknown, and the answer has no fault."""
    observed: Observation
    finding: Finding | None
    error_mode: str = ""
    """The target's name for its error mode."""


def asks(vector: Vector) -> str:
    """The operations that a vector fits.

    Raises:
        IdError: it is for an encoder, and no whole number of code points or code units; or it is no question.
    """
    width = WIDTHS.get(vector.category, 1)
    if len(vector.octets) % width:
        raise IdError(f"{vector.id} is cut short: each number in {vector.category}/… has {2 * width} digits")
    if vector.category in WIDTHS:
        return {SCALARS: ENCODE + ANNOUNCE, UTF16: ENCODE_UTF16}[vector.category]
    if vector.category == VALUES:
        return SEPARATE
    if vector.category in QUESTIONS:
        Asked.of(vector.octets)
        return ASKING
    if vector.earlier is not None:
        return AGAIN
    return STREAMING if vector.chunks is not None else WHOLE


def replay(
    vector: Vector, target: str | Sequence[str], limits: Limits | None = None, other: Vector | None = None
) -> list[Answer]:
    """The answers of all the target's operations that fit the vector.

    ``other``: also give it in threads, while others are given that vector; a different answer follows as one more.

    Raises:
        TargetError: the target cannot be measured.
        IdError: no operation takes the vector.
    """
    wanted = asks(vector)
    resolved = resolve(target, limits)
    resolved.open()
    try:
        greeting = resolved.greeting
        vector = replace(vector, profile=vector.profile.as_said(greeting))
        if wanted == WHOLE and not offered(wanted, greeting):
            wanted, vector = STREAMING, replace(vector, chunks=(len(vector.octets),))  # a stream of one chunk
        batch = Batch.of([vector])
        declared = () if wanted in ENCODE + ANNOUNCE + ENCODE_UTF16 + ASKING else limits_of(greeting)
        answers: list[Answer] = []
        try:
            for answered in resolved.observe((batch, operation) for operation in offered(wanted, greeting)):
                observed, finding = judged_alone(answered, greeting)
                may = expected_under(vector, answered.operation, declared)
                expected = next(iter(may), expected_of(vector, answered.operation))
                answers.append(Answer(answered.operation, expected, observed, finding, greeting.error_mode))
            answers = [_settled(answer, vector, resolved) for answer in answers]
            if other is not None:
                answers += _in_threads(vector, replace(other, profile=vector.profile), answers, resolved)
        except BudgetSpent as error:
            raise TargetError(str(error)) from error
        return answers
    finally:
        resolved.close()


def _in_threads(vector: Vector, other: Vector, answers: Sequence[Answer], target: Target) -> list[Answer]:
    """The answers that differ in threads.

    Raises:
        TargetError: the target is not called in threads.
    """
    if not can_ask(target.greeting):
        raise TargetError("its adapter does not call it in threads; leave out --beside")
    operations = [each.operation for each in answers if each.operation not in NOT_IN_THREADS + AGAIN]
    found = (
        each for operation in operations for each in raced([(vector, other)] * _TIMES, operation, _THREADS, target)
    )
    return [Answer(each.operation, each.expected, each.observed, each) for each in found]


def _settled(answer: Answer, vector: Vector, target: Target) -> Answer:
    """The answer without an unconfirmed finding, and without an expectation if many answers are right."""
    finding = answer.finding
    if finding is not None and (control := control_of(finding)) is not None:
        finding = next(confirmed([(finding, control)], target), None)
    expected = None if finding is None and is_open(vector, answer.operation) else answer.expected
    return replace(answer, expected=expected, finding=finding)
