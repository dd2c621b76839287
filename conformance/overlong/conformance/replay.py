"""One vector again, on one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.batch import Batch
from overlong.conformance.compare import compare, expected_of
from overlong.conformance.protocol import OPERATIONS, VALIDATE
from overlong.conformance.runner import Runner
from overlong.conformance.suites import SUITES
from overlong.conformance.target import BudgetSpent, TargetError
from overlong.conformance.targets.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.finding import Finding
    from overlong.conformance.observation import Observation
    from overlong.conformance.targets.resolve import Limits
    from overlong.conformance.vector import Vector
    from overlong.reference import Outcome


@dataclass(frozen=True)
class Answer:
    """What one operation answered."""

    operation: str
    expected: Outcome
    observed: Observation
    finding: Finding | None


def replay(vector: Vector, target: str | Sequence[str], limits: Limits | None = None) -> list[Answer]:
    """What each operation of the target that fits the vector answers.

    Raises:
        TargetError: the target cannot be measured.
    """
    resolved = resolve(target, limits)
    resolved.open()
    try:
        operations = Runner(resolved).operations(SUITES["chunking" if vector.chunks is not None else "core"])
        batch = Batch.of([vector])
        answers: list[Answer] = []
        try:
            for answered in resolved.observe((batch, operation) for operation in operations):
                units = resolved.greeting.units_of(answered.operation)
                (said,) = answered.answers.observations(units, verdict_only=answered.operation == VALIDATE)
                observed = answered.faults.get(0, said)
                answers.append(
                    Answer(
                        OPERATIONS[answered.operation],
                        expected_of(vector, answered.operation),
                        observed,
                        compare(vector, answered.operation, observed),
                    )
                )
        except BudgetSpent as error:
            raise TargetError(str(error)) from error
        return answers
    finally:
        resolved.close()
