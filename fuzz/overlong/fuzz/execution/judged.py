"""What came of some inputs, whoever looked at the columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.vectors.batch import Batch

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.protocol.wire import Answers
    from overlong.conformance.results.shard import Fault


@dataclass(frozen=True)
class Came:
    """What came of some inputs."""

    well_formed: int
    """Of those that were asked."""
    accepted: int
    """By the target."""
    checksum: int
    """See ``sweep.shard.answer_code``."""
    kinds: bytes = b""
    """One octet for each input, as sweeps have them; empty if all agree."""
    faults: tuple[Fault, ...] = ()


class Judge(Protocol):
    """Knows what a right target answers, and what is wrong with an answer."""

    def right(self, lengths: array[int], octets: bytes) -> bytes:
        """A right target's whole response to a batch, as far as the target is known to say it."""
        ...

    def came(
        self,
        batch: SurveyBatch,
        answers: Answers,
        first: int,
        faults: Mapping[int, Observed],
    ) -> Came:
        """What came of a batch, the first input of which has that number."""
        ...


@dataclass(frozen=True)
class SurveyBatch(Batch):
    """Inputs that nobody looks at one by one, unless they diverge."""

    judge: Judge | None = None

    def part(self, start: int, end: int) -> Batch:
        if (start, end) == (0, len(self)):
            return self
        first = sum(self.lengths[:start])
        last = first + sum(self.lengths[start:end])
        return SurveyBatch(self.category, self.lengths[start:end], self.octets[first:last], judge=self.judge)

    @cached_property
    def _right(self) -> bytes | None:
        return self.judge.right(self.lengths, self.octets) if self.judge is not None else None

    def right_columns(self) -> bytes | None:
        """It is made when the target has been asked, so that the two work side by side."""
        return self._right
