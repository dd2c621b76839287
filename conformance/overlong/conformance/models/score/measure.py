"""What a measure is: faults that a list of strings may show, one kind of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from overlong.conformance.models.score.specimen import Specimen

Fault = int | str
"""Names a fault within its measure."""


class Measure(Protocol):
    """Faults of one kind. A fault lives until a string shows it: until some right answer differs from its own."""

    @property
    def total(self) -> int:
        """Faults at the start."""
        ...

    @property
    def living(self) -> int:
        """Faults that no string has shown yet."""
        ...

    def shown(self, specimen: Specimen) -> Collection[Fault]:
        """The living faults that a string shows. Nothing is changed."""
        ...

    def strike(self, faults: Iterable[Fault]) -> None:
        """These live no longer."""
        ...
