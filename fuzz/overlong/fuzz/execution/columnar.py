"""Inputs by number to whatever speaks the protocol: in large batches, with several under way."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import TimedOut
from overlong.conformance.results.shard import CRASHED, LEFT_OUT, TIMED_OUT, Fault, ShardResult
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.expectation import expectation
from overlong.conformance.sweep.tally import Tally
from overlong.conformance.targets.framed import describe
from overlong.fuzz.execution.by_strings import ByStrings
from overlong.fuzz.execution.engine import BLOCK
from overlong.fuzz.execution.judged import SurveyBatch
from overlong.fuzz.execution.sparing import Sparing

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.results.shard import Shard
    from overlong.conformance.sweep.expectation import Expectation
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.execution.judged import Came, Judge
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

STEP = 1 << 12
"""Inputs that are made at a time, and the most in a batch: what is made of them stays in the CPU's cache."""


class ColumnarSurvey:
    """Asks a target inputs by number, by one operation, and judges whole columns.

    Restarts are no limit: each input that the target does not survive is a fault of its own in the result. Of others
    like it only a few are asked: see ``sparing.py``.
    """

    def __init__(
        self, probe: Probe, generated: Generated, profile: Profile, operation: str = "", *, plain: bool = False
    ) -> None:
        """Start the target.

        Args:
            probe: of the target; it is not asked anything else meanwhile.
            generated: the inputs.
            profile: what it is measured by.
            operation: ``V`` or ``D``; empty for the one of them that says more.
            plain: without NumPy, even if that is there.

        Raises:
            TargetError: it does not start, or offers nothing that could be judged in columns.
        """
        self._probe = probe
        self._generated = generated
        greeting = probe.greeting
        self._expectation = expectation(profile, greeting, operation)
        self._judge = _judge(self._expectation, profile, greeting, plain=plain)

    @property
    def operation(self) -> str:
        """Its letter."""
        return self._expectation.operation

    @property
    def judges_all(self) -> bool:
        """Whether all that the operation says is judged: in some dialects, and with some traits, output is not."""
        return self.operation == "V" or bool(self._expectation.units)

    def run(self, shard: Shard) -> ShardResult:
        """Ask all inputs of a shard.

        Raises:
            TargetError: the target does not start any more, or fails again and again without answering anything.
        """
        began = time.perf_counter()
        tally = _Tally(shard)
        first, end = shard.first, shard.first + shard.count
        sparing, spared = Sparing(self._generated, first, end), set[int]()
        while first < end:
            first = self._run(tally, first, end, sparing, spared)
        return tally.result(time.perf_counter() - began)

    def close(self) -> None:
        """End the target."""
        self._probe.close()

    def _run(self, tally: _Tally, first: int, end: int, sparing: Sparing, spared: set[int]) -> int:
        """Ask inputs up to before the end, or until more of them are not to be asked; where it ended."""
        if spared:  # they are of one block
            end = min((first // BLOCK + 1) * BLOCK, end)
        numbers = [number for number in range(first, end) if number not in spared] if spared else range(first, end)
        asked = self._probe.observe(lambda place: self._asked(numbers[place:]), len(numbers))
        for place, answered in asked:
            number, batch = numbers[place], answered.batch
            assert isinstance(batch, SurveyBatch), "asked for only such"
            tally.add(number, batch.lengths, self._judge.came(batch, answered.answers, number, answered.faults))
            if answered.unstable is not None:
                tally.note_unstable(number, answered)
            for at, fault in answered.faults.items():
                more = set(sparing.failed(number + at, _kind_of(fault))) - spared
                spared.update(more)
                for each in more:
                    tally.leave_out(each, each + 1)
                if more:  # it stands alone in its batch, and nothing is under way
                    asked.close()
                    return number + len(batch)
        spared.clear()
        return end

    def _asked(self, numbers: Sequence[int]) -> Iterator[tuple[Batch, str]]:
        """Inputs of numbers, which ascend, in batches that the target takes, for now."""
        for first, count in _in_rows(numbers):
            done = 0
            while done < count:
                made = min(STEP, count - done)
                lengths, octets = self._generated.columns(first + done, made)
                batch = SurveyBatch("fuzz", lengths, octets, judge=self._judge)
                start = 0
                while start < made:
                    end = min(start + max(self._probe.takes, 1), made)
                    yield batch.part(start, end), self._expectation.operation
                    start = end
                done += made


def _in_rows(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first of each row of numbers without a gap, and how many they are."""
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


class _Tally(Tally):
    """What came of a shard until now."""

    kinds: bytearray | None = None

    def add(self, first: int, lengths: array[int], came: Came) -> None:
        """Count inputs in, the first of which has that number."""
        self.accepted += came.accepted
        self.checksum = (self.checksum + came.checksum) % (1 << 64)
        self.well_formed += came.well_formed
        self.strings += len(lengths)
        self.octets += sum(lengths)
        for fault in came.faults:
            self.tell(fault)
        if came.kinds:
            start = first - self.shard.first
            self._marked()[start : start + len(lengths)] = came.kinds
            for length, kind in zip(lengths, came.kinds, strict=True):
                if kind == LEFT_OUT:
                    self.strings -= 1
                    self.octets -= length

    def note_unstable(self, first: int, answered: Answered) -> None:
        """It failed on inputs together, and on none of them alone: the first of them stands for all."""
        fault = answered.unstable
        assert fault is not None, "asked for only then"
        kind = _kind_of(fault)
        self._marked()[first - self.shard.first] = kind
        text = printable(f"{describe(fault)}, among inputs before it; not when asked again")
        self.tell(Fault(first, kind, text.encode("ascii", "backslashreplace").decode("ascii")))

    def leave_out(self, first: int, end: int) -> None:
        """Note that some inputs are not asked."""
        if end > first:
            self._marked()[first - self.shard.first : end - self.shard.first] = bytes([LEFT_OUT]) * (end - first)

    def _marked(self) -> bytearray:
        if self.kinds is None:
            self.kinds = bytearray(self.shard.count)
        return self.kinds


def _judge(expected: Expectation, profile: Profile, greeting: Greeting, *, plain: bool) -> Judge:
    """What judges the answers: by columns, if NumPy is there."""
    if plain or find_spec("numpy") is None:
        return ByStrings(expected, profile, greeting.units.size)
    from overlong.fuzz.execution.by_columns import ByColumns

    return ByColumns(expected, profile, greeting.units.size)
