"""Kinds of plans: a name, a purpose, and the strings for each number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.vectors.profile import Profile


@dataclass(frozen=True)
class KindOfPlan:
    """Plans that differ by a number."""

    name: str
    shows: str
    """Its purpose in a sentence. ``{}`` becomes the number, ``{states}`` the automaton's states plus the number,
    ``{speaks}`` the dialect, ``{within}`` the states at most that many octets from the automaton's own."""
    grids: Callable[[Profile, int], Iterator[Grid]]
    least: int | None = None
    """The smallest number; None if it takes none."""
    usual: int = 0
    most: int = 0

    @property
    def form(self) -> str:
        """The written form of its name."""
        return self.name if self.least is None else f"{self.name}-{self.usual}"

    def form_with(self, number: str | None) -> str:
        """The written form with that number, if the plan takes it."""
        takes = number is not None and self.least is not None and self.least <= int(number) <= self.most
        return f"{self.name}-{number}" if takes else self.form
