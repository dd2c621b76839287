# pyright: basic
"""Gives inputs by number to a target of the protocol: in large batches, with several under way."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.columnar import SAYS_ALL, ColumnarOracle
from overlong.conformance.oracle.expectation import expectation
from overlong.conformance.oracle.judging import Judge
from overlong.conformance.oracle.kinds import CRASHED, LEFT_OUT, TIMED_OUT
from overlong.conformance.protocol.observation import TimedOut
from overlong.conformance.sweep.columnar import ColumnBatch, ShardTally
from overlong.fuzz.execution.engine import BLOCK
from overlong.fuzz.execution.sparing import Sparing

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.columnar import Expected
    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.results.shard import Shard, ShardResult
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

STEP = 1 << 12
"""Inputs made at a time, and the most in a batch, so that their data stay in the CPU's cache."""


class ColumnarSurvey:
    """Gives a target inputs by number, for one operation, and judges whole columns.

    There is no limit on restarts: each input that crashes the target is a separate fault in the result. Of similar
    inputs only a few are asked: see ``sparing.py``.
    """

    def __init__(self, probe: Probe, generated: Generated, profile: Profile, operation: str = "") -> None:
        """Start the target.

        Args:
            probe: of the target; nothing else may use it meanwhile.
            generated: the inputs.
            profile: what it is measured by.
            operation: ``V`` or ``D``; empty for the more informative one that the target offers.

        Raises:
            TargetError: the target does not start, or offers no operation that can be judged in columns.
        """
        self._probe = probe
        self._generated = generated
        greeting = probe.greeting
        self._expectation = expectation(profile, greeting, operation)
        self._oracle = ColumnarOracle(self._expectation, profile.dialect.layout)
        self._unit_size = greeting.units.size
        self._habits = SAYS_ALL

    @property
    def operation(self) -> str:
        """Its letter."""
        return self._expectation.operation

    @property
    def judges_all(self) -> bool:
        """True if all parts of an answer are judged: in some dialects, and with some traits, the output is not."""
        return self.operation == "V" or bool(self._expectation.units)

    def run(self, shard: Shard) -> ShardResult:
        """Ask all inputs of a shard.

        Raises:
            TargetError: the target no longer starts, or fails repeatedly without an answer.
        """
        began = time.perf_counter()
        tally = ShardTally(shard)
        first, end = shard.first, shard.first + shard.count
        sparing, spared = Sparing(self._generated, first, end), set[int]()
        while first < end:
            first = self._run(tally, first, end, sparing, spared)
        return tally.result(time.perf_counter() - began)

    def close(self) -> None:
        """End the target."""
        self._probe.close()

    def _run(self, tally: ShardTally, first: int, end: int, sparing: Sparing, spared: set[int]) -> int:
        """Ask inputs before ``end``, or until further ones are left out. Returns the place of the end."""
        if spared:  # they are of one block
            end = min((first // BLOCK + 1) * BLOCK, end)
        numbers = [number for number in range(first, end) if number not in spared] if spared else range(first, end)
        asked = self._probe.observe(lambda place: self._asked(numbers[place:]), len(numbers))
        for place, answered in asked:
            number, batch = numbers[place], answered.batch
            assert isinstance(batch, ColumnBatch), "asked for only such"
            expected = batch.right or self._expected(batch.lengths, batch.octets)
            judge = Judge(partial(_items, batch), self._expectation, unit_size=self._unit_size)
            judged = judge.judge(answered.answers, expected, number, faults=answered.faults)
            self._habits = judged.habits or self._habits
            tally.add(number, judged, expected, np.frombuffer(batch.lengths, np.uint32))
            if answered.unstable is not None:
                tally.note_unstable(number, answered)
            for at, fault in answered.faults.items():
                more = set(sparing.failed(number + at, _kind_of(fault))) - spared
                spared.update(more)
                for each in more:
                    tally.mark(each, LEFT_OUT, each + 1)
                if more:  # the input is alone in its batch, and nothing else is under way
                    asked.close()
                    return number + len(batch)
        spared.clear()
        return end

    def _expected(self, lengths: array[int], octets: bytes) -> Expected:
        return self._oracle.expected(lengths, octets, self._habits)

    def _asked(self, numbers: Sequence[int]) -> Iterator[tuple[Batch, str]]:
        """Inputs of ascending numbers, in batches of the size that the target takes at present."""
        for first, count in _in_rows(numbers):
            done = 0
            while done < count:
                made = min(STEP, count - done)
                lengths, octets = self._generated.columns(first + done, made)
                start = at = 0
                while start < made:
                    end = min(start + max(self._probe.takes, 1), made)
                    some = lengths[start:end]
                    part = octets[at : at + sum(some)]
                    yield ColumnBatch("fuzz", some, part, make=partial(self._expected, some, part)), self.operation
                    start, at = end, at + len(part)
                done += made


def _in_rows(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first number and the length of each run of consecutive numbers."""
    if isinstance(numbers, range):
        yield numbers.start, len(numbers)
        return
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], place - start
            start = place


def _kind_of(fault: Observed) -> int:
    return TIMED_OUT if isinstance(fault, TimedOut) else CRASHED


def _items(batch: Batch, _first: int, _count: int) -> tuple[array[int], bytes]:
    """Makes the inputs of a batch again, for :class:`Judge`."""
    return batch.lengths, batch.octets
