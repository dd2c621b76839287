"""A target: anything that can be asked what it makes of octets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.protocol.observation import Fault
    from overlong.conformance.protocol.wire import Answers, Greeting
    from overlong.conformance.vectors.batch import Batch


class TargetError(Exception):
    """The target cannot be measured: it would not start, or its harness is broken. The message says why."""


class UnknownTarget(TargetError):
    """There is no target of that name; the message says which there are."""


class BudgetSpent(Exception):
    """The target was restarted too often; the measurements so far remain valid."""


@dataclass(frozen=True)
class Answered:
    """The answers of a target to (a part of) a batch.

    ``faults`` maps places in the batch to what went wrong there; the columns hold a placeholder.
    ``unstable``: it failed on these vectors in a batch, and on none of them singly.
    """

    batch: Batch
    operation: str
    answers: Answers
    faults: dict[int, Fault] = field(default_factory=dict[int, "Fault"])
    unstable: Fault | None = None


class Target(Protocol):
    """What the runner needs of a target."""

    @property
    def id(self) -> str:
        """The name by which a user asks for it again."""
        ...

    @property
    def greeting(self) -> Greeting:
        """Its capabilities."""
        ...

    @property
    def restarts(self) -> int:
        """How often it had to be started anew."""
        ...

    @property
    def notes(self) -> list[str]:
        """What else was seen of it."""
        ...

    def open(self) -> None:
        """Start it and check that its harness is sound.

        Raises:
            TargetError: it is not.
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
