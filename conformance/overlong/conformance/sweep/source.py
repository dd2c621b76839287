"""Where the strings of a request come from, and the loop that asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from overlong.conformance.sweep.giants.loop import GiantLoop
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.vectors.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.compiled.progress import Progress
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.request import Question
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout


class StringSource(Protocol):
    """Strings by their numbers."""

    def string(self, index: int, /) -> bytes: ...


class Asks(Protocol):
    """A loop that asks functions: see ``sweep/compiled/__init__.py``."""

    def run(self, strings: Any, until: int, progress: Progress, kinds: memoryview, origin: int, /) -> None: ...


class Source(Protocol):
    """The source of a request's strings, and the loop that asks them."""

    def strings(self, question: Question) -> StringSource:
        """The strings of a question; equal questions give the same object, so that a loop recognises it.

        Raises:
            ValueError, Impossible: there is no plan or grid of that name.
        """
        ...

    def sparing(self, question: Question, first: int, end: int) -> Callable[[int, int], Sequence[int]] | None:
        """A function that chooses the strings to skip in a shard from ``first`` up to, but not including, ``end``.

        For each unanswered string, in order, and its kind, the function returns later numbers, ascending. None if
        similar strings are adjacent.
        """
        ...

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        """The loop that asks the functions at these addresses such strings."""
        ...


class Grids:
    """The strings of a plan's grids."""

    def strings(self, question: Question) -> StringSource:
        return plan_named(question.plan, Profile(question.speaks)).grids[question.grid]

    def sparing(self, question: Question, first: int, end: int) -> None:
        """None: similar strings are adjacent in grids."""

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        return Loops(abi, addresses, expected, layout)


class Loops:
    """The loop that a grid needs."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> None:
        from overlong.conformance.sweep.compiled.loop import GridLoop

        self._of_strings, self._of_giants = (
            GridLoop(abi, addresses, expected, layout),
            GiantLoop(abi, addresses, expected),
        )

    def run(self, strings: Grid, until: int, progress: Progress, kinds: memoryview, origin: int, /) -> None:
        loop = self._of_giants if strings.between else self._of_strings
        loop.run(strings, until, progress, kinds, origin)


class Impossible(Exception):
    """The shard cannot be asked; the message gives the reason."""
