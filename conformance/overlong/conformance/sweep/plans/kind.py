"""Kinds of plans: a name, what it shows, and which strings it asks for each number."""

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
    """What it shows, in a sentence; ``{}`` stands for the number, ``{states}``, ``{speaks}`` and ``{within}`` for the
    automaton's states and as many more, its dialect, and the states that lie within so many octets of its own."""
    grids: Callable[[Profile, int], Iterator[Grid]]
    least: int | None = None
    """The smallest number; None if it takes none."""
    usual: int = 0
    most: int = 0

    @property
    def form(self) -> str:
        """How its name is written."""
        return self.name if self.least is None else f"{self.name}-{self.usual}"
