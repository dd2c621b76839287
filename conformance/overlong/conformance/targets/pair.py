"""Two processes of one target, which share its large suites.

The harness takes less time for a batch than most decoders, so it can keep two processes busy. Batches are dealt in
turn, and answers come back in order: a run has the same results as with one process, unless an answer depends on
strings of earlier batches.
"""

from __future__ import annotations

import contextlib
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.targets.process import Ended

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.batch import Batch


_PROVEN = 1 << 10
"""The vectors in a request of the first process that show how many the second one can take; it does not try first."""


_AHEAD = 64
"""The questions that wait for one process while the other has none."""


class Pair:
    """A target whose second process answers half of the shared suites; its first one answers everything else."""

    def __init__(self, first: FramedTarget) -> None:
        """Nothing starts here, and closing the pair leaves ``first`` open."""
        self._first, self._second = first, first.another()
        self._shared: Collection[str] = ()

    @property
    def id(self) -> str:
        return self._first.id

    @property
    def greeting(self) -> Greeting:
        return self._first.greeting

    @property
    def restarts(self) -> int:
        """The restarts of both, which share one budget."""
        return self._first.restarts

    @property
    def notes(self) -> list[str]:
        """The notes of both; a second process that shared nothing does not count."""
        more = self._second.notes if self._shared else []
        return [*self._first.notes, *(note for note in more if note not in self._first.notes)]

    def start(self) -> None:
        """Start both processes without waiting for them.

        Raises:
            TargetError: the first one cannot be started at all.
        """
        self._first.start()
        with contextlib.suppress(TargetError):  # of one that runs only once, the first process answers everything
            self._second.start()

    def open(self) -> None:
        """Check that the first one works. One that runs only once may have lost to the second, and starts again."""
        try:
            self._first.open()
        except TargetError as error:
            if not (isinstance(error.__cause__, Ended) and isinstance(error.__cause__.why, Crashed)):
                raise
            self._second.kill()
            self._first.notes.clear()
            self._first.open()

    def share(self, suites: Collection[str]) -> None:
        """Share the suites with these names from now on, if a second process works and greets like the first."""
        self._shared = ()
        if not suites:
            self._second.kill()
            return
        with contextlib.suppress(TargetError):
            self._second.open()
            if self._second.greeting == self._first.greeting:
                self._shared = suites

    def close(self) -> None:
        """End the second process."""
        self._second.close()

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        """The answers in order. Batches of shared suites are dealt in turn, all others to the first process, 0."""
        questions = iter(asked)
        dealt: tuple[deque[tuple[Batch, str]], ...] = (deque(), deque())
        order: deque[tuple[int, int]] = deque()  # which process answers next, and how many vectors
        last: Batch | None = None
        turn = 0

        def following(whose: int) -> tuple[Batch, str] | None:
            """The next question to a process; None if there is none now."""
            nonlocal last, turn
            mine, others = dealt[whose], dealt[1 - whose]
            while not mine and len(others) < _AHEAD and (question := next(questions, None)) is not None:
                batch = question[0]
                if batch is not last:  # one process gets all operations of a batch, and cuts it once
                    last, turn = batch, 1 - turn if batch.suite in self._shared else 0
                dealt[turn].append(question)
                order.append((turn, len(batch)))
            return mine.popleft() if mine else None

        both, at_work = (self._first, self._second), [self._first]
        self._first.begin(partial(following, 0))
        while self._first.ask_more() or order:
            while order:
                whose, vectors = order.popleft()
                while vectors:
                    if self._shared and len(at_work) == 1 and (whose or self._first.takes >= _PROVEN):
                        self._second.begin(partial(following, 1), self._first.takes)
                        at_work.append(self._second)
                    for each in at_work:  # the other has something to do, too, before the harness waits for one
                        each.ask_more()
                    if (answered := self._next_answer(both[whose])) is not None:
                        vectors -= len(answered.batch)
                        yield answered

    def _next_answer(self, whose: FramedTarget) -> Answered | None:
        whose.restarts = self._first.restarts
        try:
            return whose.next_answer()
        finally:
            self._first.restarts = whose.restarts
