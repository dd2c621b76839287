"""What a operator is: faults that a list of strings may show, one kind of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from overlong.conformance.models.score.specimen import Specimen

Fault = int | str
"""Names a fault within its operator."""


class MutationOperator(Protocol):
    """Faults of one kind. A fault lives until a string shows it: until some right answer differs from its own."""

    @property
    def total(self) -> int:
        """Faults at the start."""
        ...

    @property
    def live(self) -> int:
        """Faults that no string has shown yet."""
        ...

    def shown(self, specimen: Specimen) -> Collection[Fault]:
        """The live faults that a string shows. Nothing is changed."""
        ...

    def kill(self, faults: Iterable[Fault]) -> None:
        """These live no longer."""
        ...
