"""Which vectors are meant: suites, families, flags, ids."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from overlong.conformance.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vector import Vector


class SelectionError(ValueError):
    """A selection that cannot be, or matches nothing; the message says what there is."""


@dataclass(frozen=True)
class Selection:
    """Vectors of ``suites`` that fit each of the other criteria; an empty criterion fits all."""

    suites: tuple[str, ...] = ("core",)
    families: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Globs, over ids and names of cases."""

    @property
    def words(self) -> str:
        """The selection in words: ``core``, ``core, flag OV201``."""
        parts = [", ".join(self.suites)]
        parts += [f"{kind} {value}" for kind, values in self._criteria for value in values]
        return ", ".join(parts)

    @property
    def _criteria(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ("family", self.families), ("flag", self.flags), ("id", self.ids)

    @property
    def whole(self) -> bool:
        """No criterion narrows the suites."""
        return not any(values for _, values in self._criteria)

    def fits(self, vector: Vector) -> bool:
        """Whether the criteria other than the suite let it through."""
        return (
            (not self.families or vector.category in self.families)
            and (not self.flags or not set(self.flags).isdisjoint(vector.flags))
            and (not self.ids or any(fnmatchcase(name, glob) for glob in self.ids for name in (vector.id, vector.case)))
        )

    def vectors(self) -> Iterator[Vector]:
        """They themselves, in the order of the suites; never all in memory.

        Raises:
            SelectionError: there is no such suite.
        """
        for name in self.suites:
            if name not in SUITES:
                raise SelectionError(f"no suite {name!r}; there is {', '.join(SUITES)}")
            for vector in SUITES[name].vectors():
                if self.whole or self.fits(vector):
                    yield vector
