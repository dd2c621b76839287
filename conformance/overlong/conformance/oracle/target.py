"""A target: anything that can be asked to decode or judge octets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.protocol.wire import SEPARATE, VALIDATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.protocol.answers import Answers
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Fault, Observation
    from overlong.conformance.vectors.batch import Batch


class TargetError(Exception):
    """The target cannot be measured: it does not start, or its adapter is broken. The message gives the reason."""


class UnknownTarget(TargetError):
    """There is no target of that name; the message suggests others."""


class BudgetSpent(Exception):
    """The target was restarted too often; the measurements so far remain valid."""


@dataclass(frozen=True)
class Answered:
    """The answers of a target to (a part of) a batch.

    ``faults`` maps indices in the batch to faults; there the columns have a placeholder.
    ``again``: it failed on a batch with these vectors, which were asked again.
    ``unstable``: likewise, and these were the last of the batch: it failed on none of them singly.
    """

    batch: Batch
    operation: str
    answers: Answers
    faults: dict[int, Fault] = field(default_factory=dict[int, "Fault"])
    again: bool = False
    unstable: Fault | None = None
    seconds: float = 0.0
    """The time that it took, if known."""

    def observed(self, greeting: Greeting) -> list[Observation]:
        """The answer to each vector, with the faults; where only verdicts are asked for, without output."""
        silent = self.operation in VALIDATE + SEPARATE
        said = self.answers.observations(greeting.units_of(self.operation), verdict_only=silent)
        return [self.faults.get(place, each) for place, each in enumerate(said)]


class Target(Protocol):
    """The interface of a target for the runner."""

    @property
    def id(self) -> str:
        """The name by which a user can ask it again."""
        ...

    @property
    def greeting(self) -> Greeting:
        """Its capabilities."""
        ...

    @property
    def restarts(self) -> int:
        """The number of its restarts."""
        ...

    @property
    def notes(self) -> list[str]:
        """Further observations about it."""
        ...

    def open(self) -> None:
        """Start it and check that its adapter works.

        Raises:
            TargetError: it does not start or work.
        """
        ...

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        """Its answers to each batch and operation, in order; a batch may come back in parts.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """
        ...

    def close(self) -> None:
        """End it. Never raises."""
        ...
