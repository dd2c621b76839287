"""The learner's oracle: a target's answers to strings, each asked once, many at a time."""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import marks_in
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.protocol.observation import Accepted, Refused, describe
from overlong.conformance.protocol.wire import STREAMING, VALIDATE, read_numbers
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.protocol.observation import Observation

_AT_ONCE = 8192


class Unlearnable(Exception):
    """The target has no machine that can be learned; the message says why."""


class MembershipOracle:
    """One operation of a target. Streams are sent octet by octet, and then ended."""

    def __init__(self, target: Target, operation: str, budget: int) -> None:
        """``budget``: the most strings to ask."""
        self._target, self.operation, self._budget = target, operation, budget
        self._answers: dict[bytes, Observation] = {}
        self._marks: dict[bytes, tuple[int, ...]] = {}

    @property
    def asked(self) -> int:
        """The number of strings asked so far."""
        return len(self._answers)

    def ask(self, strings: Iterable[bytes]) -> None:
        """Fetch the answers to ``strings``, and to all their prefixes.

        Raises:
            Unlearnable: the budget is spent, or an answer is no verdict.
            BudgetSpent: the target fails too often.
        """
        known, wanted = self._answers, dict[bytes, None]()
        for string in strings:
            end = len(string)
            while end >= 0 and (prefix := string[:end]) not in known and prefix not in wanted:
                wanted[prefix] = None
                end -= 1
        if self.asked + len(wanted) > self._budget:
            raise Unlearnable(
                f"not settled after {thousands(self.asked)} questions; allow more with --limit questions=N, "
                "or its answers depend on more than a machine of this size remembers"
            )
        asked = sorted(wanted)
        batches = [(self._batch(asked[at : at + _AT_ONCE]), self.operation) for at in range(0, len(asked), _AT_ONCE)]
        problems = [why for answered in self._target.observe(batches) if (why := self._keep(answered))]
        if problems:  # raised only after all answers have come, so that none is under way
            raise Unlearnable(problems[0])

    def knows(self, string: bytes) -> bool:
        """True if the answers to ``string``, and to it without its last octet, are known."""
        return string in self._answers and string[:-1] in self._answers

    def __getitem__(self, string: bytes) -> Observation:
        return self._answers[string]

    def marks(self, string: bytes) -> tuple[int, ...]:
        """The marks of the stream: one for each octet and the end; the chunk of the refusal; or none."""
        return self._marks[string]

    def items(self) -> Iterator[tuple[bytes, Observation]]:
        """All strings so far, with their answers."""
        return iter(self._answers.items())

    def _batch(self, strings: Sequence[bytes]) -> Batch:
        chunks = None
        if self.operation in STREAMING:
            chunks = tuple((1,) * len(string) + (0,) for string in strings)
        return Batch("input", array("I", map(len, strings)), b"".join(strings), chunks)

    def _keep(self, answered: Answered) -> str:
        """Keep answers; return the reason if that is impossible, otherwise nothing."""
        batch = answered.batch
        if answered.faults or answered.unstable is not None:
            place, fault = next(iter(answered.faults.items()), (0, answered.unstable))
            assert fault is not None
            return f"it fails on {_shown(batch[place].octets)}: {describe(fault)}"
        units = self._target.greeting.units_of(self.operation)
        observations = answered.answers.observations(units, verdict_only=self.operation == VALIDATE)
        strings = [
            batch.octets[end - size : end] for end, size in zip(accumulate(batch.lengths), batch.lengths, strict=True)
        ]
        for string, observed in zip(strings, observations, strict=True):
            if not isinstance(observed, Accepted | Refused):
                return f"it gives no verdict on {_shown(string)}: {observed_in_words(observed)}"
            self._answers[string] = observed
        if answered.answers.marks:
            self._keep_marks(strings, answered)
        return ""

    def _keep_marks(self, strings: Sequence[bytes], answered: Answered) -> None:
        answers, counts = answered.answers, [len(string) + 1 for string in strings]
        marked = self._target.greeting.marks_refusals
        for string, marks in zip(
            strings, marks_in(answers.statuses, answers.marks, counts, marked=marked), strict=True
        ):
            self._marks[string] = tuple(read_numbers(marks))


def _shown(octets: bytes) -> str:
    return octets.hex(" ").upper() or "nothing"
