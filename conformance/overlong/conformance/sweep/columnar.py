# pyright: basic
"""Sweeps any target that speaks the protocol: strings in columns, in batches as large as the target takes them.

Columns are the length of each string, and all octets in a row.
"""

from __future__ import annotations

import time
import zlib
from array import array
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.columnar import ColumnarOracle, shown
from overlong.conformance.oracle.target import (
    AGREES,
    CRASHED,
    FAULTS,
    LEFT_OUT,
    TIMED_OUT,
    BudgetSpent,
    Fault,
    expectation,
)
from overlong.conformance.protocol.observation import TimedOut, describe
from overlong.conformance.results.sweeps import ShardResult
from overlong.conformance.sweep.grid import Grid
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import SWEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from overlong.conformance.oracle.columnar import Expected, Judged
    from overlong.conformance.oracle.target import Answered, ExpectedAnswers
    from overlong.conformance.protocol.wire import Units
    from overlong.conformance.results.sweeps import Shard
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.vector import Profile

OCTETS = 1 << 20
"""About the octets of a batch's strings: several batches are always under way, and memory stays flat."""
STRINGS = 1 << 16
"""The most strings of a batch."""
_TAILS = 1 << 16
"""The most strings in a block, unless the last axis alone has more."""
_TAILS_OCTETS = 1 << 24
"""The most octets of a block's tails, likewise: they stay in memory."""


class Columns:
    """The strings of one grid.

    A grid is cut into blocks of strings that share their leading pieces. What comes after those, the block's *tails*,
    is the same in every block, and made once. So a block's octets are its leading pieces before each tail: NumPy lays
    them out if all tails are equally long, otherwise ``bytes.join``, at a tenth of the speed.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        first = len(grid.axes) - 1
        while first > grid.earlier and _fits(Grid(grid.axes[first - 1 :])):
            first -= 1
        self._leading = Grid(grid.axes[:first], grid.earlier)
        self._tails = list(map(b"".join, product(*grid.axes[first:])))
        self._sizes = np.fromiter(map(len, self._tails), np.uint32, len(self._tails))
        self._matrix: NDArray[np.uint8] | None = None
        self._block: NDArray[np.uint8] | None = None
        if (self._sizes == self._sizes[0]).all():
            self._matrix = np.frombuffer(b"".join(self._tails), np.uint8).reshape(len(self._tails), int(self._sizes[0]))

    def items(self, first: int, count: int) -> tuple[array[int], bytes]:
        """What is asked for ``count`` strings from ``first`` on; each follows its earlier string, if it has one."""
        return self._laid_out(first, count, with_earlier=self.grid.earlier > 0)

    def judged(self, first: int, count: int) -> tuple[array[int], bytes]:
        """The same strings alone."""
        return self._laid_out(first, count, with_earlier=False)

    def _laid_out(self, first: int, count: int, *, with_earlier: bool) -> tuple[array[int], bytes]:
        lengths, octets, end = array("I"), list[bytes](), first + count
        while first < end:
            block, start = divmod(first, len(self._tails))
            stop = min(start + end - first, len(self._tails))
            earlier, before = self._leading.asked_before(block) or b"", self._leading.string(block)
            sizes = self._sizes[start:stop] + np.uint32(len(before))
            if with_earlier:
                sizes = np.stack((np.full_like(sizes, len(earlier)), sizes), axis=1)
                before = earlier + before
            lengths.frombytes(sizes.tobytes())
            if self._matrix is None:
                octets.append(before + before.join(self._tails[start:stop]))
            else:
                octets.append(self._rows(before, self._matrix, start, stop).tobytes())
            first += stop - start
        return lengths, b"".join(octets)

    def _rows(self, before: bytes, tails: NDArray[np.uint8], start: int, stop: int) -> NDArray[np.uint8]:
        """Some strings of a block as rows. Blocks share memory: only what is before the tails is written anew."""
        size, width = len(before), len(before) + tails.shape[1]
        if self.grid.earlier:  # with their earlier strings and alone, strings have other lengths
            return np.hstack((np.tile(np.frombuffer(before, np.uint8), (stop - start, 1)), tails[start:stop]))
        if self._block is None or self._block.shape[1] != width:
            self._block = np.empty((len(tails), width), np.uint8)
            self._block[:, size:] = tails
        rows = self._block[start:stop]
        rows[:, :size] = np.frombuffer(before, np.uint8)
        return rows


def _fits(tails: Grid) -> bool:
    """True if the strings of some axes fit into a block."""
    return tails.size <= _TAILS and tails.octets <= _TAILS_OCTETS


@dataclass(frozen=True)
class ColumnBatch(Batch):
    """A batch of strings that were made in columns, not one by one."""

    make: Callable[[], Expected] | None = None
    """Computes the right answers. It runs after the target was asked, so that both work at the same time."""

    def part(self, start: int, end: int) -> Batch:
        if (start, end) == (0, len(self)):
            return self
        bounds = np.cumsum(np.frombuffer(self.lengths, np.uint32), dtype=np.int64)
        first = int(bounds[start - 1]) if start else 0
        return ColumnBatch(self.category, self.lengths[start:end], self.octets[first : int(bounds[end - 1])])

    @cached_property
    def right(self) -> Expected | None:
        """The right answers; None in a part of a batch."""
        return self.make() if self.make is not None else None

    def right_columns(self, operation: str, units: Units) -> bytes | bytearray | None:  # noqa: ARG002 (it has one)
        return self.right.wire if self.right is not None else None


class ShardTally:
    """A shard's result so far: sums, the kinds of divergent strings, and the first faults of each kind."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.octets = self.well_formed = self.accepted = self.checksum = self.strings = 0
        self.kinds: NDArray[np.uint8] | None = None  # made when first needed
        self.faults: list[Fault] = []
        self._told: dict[int, int] = {}

    def add(self, first: int, judged: Judged, expected: Expected, lengths: NDArray[np.uint32]) -> None:
        """Count the strings of a batch; the first has that number."""
        self.accepted += judged.accepted
        self.checksum = (self.checksum + judged.checksum) % (1 << 64)
        for fault in judged.faults:
            self.tell(fault)
        asked = slice(None)
        if judged.kinds is not None:
            self.mark(first, judged.kinds)
            asked = judged.kinds != LEFT_OUT
        self.strings += len(lengths[asked])
        self.octets += int(lengths[asked].sum(dtype=np.int64))
        self.well_formed += int(np.count_nonzero(expected.accepted[asked]))

    def mark(self, first: int, kinds: NDArray[np.uint8] | int, end: int | None = None) -> None:
        """Note the kind of each string from that number on, or one kind for all strings before ``end``."""
        if self.kinds is None:
            self.kinds = np.zeros(self.shard.count, np.uint8)
        start = first - self.shard.first
        stop = start + len(kinds) if not isinstance(kinds, int) else None if end is None else end - self.shard.first
        self.kinds[start:stop] = kinds

    def note_unstable(self, first: int, answered: Answered) -> None:
        """Note a failure on a batch whose strings all get answers singly: the first represents all if it is right."""
        fault = answered.unstable
        assert fault is not None, "asked for only then"
        if self.kinds is not None and self.kinds[first - self.shard.first] != AGREES:
            return
        kind = TIMED_OUT if isinstance(fault, TimedOut) else CRASHED
        self.mark(first, kind, first + 1)
        text = f"{describe(fault)}, among strings before it; not when tested again"
        self.tell(Fault(first, kind, shown(text)))

    def tell(self, fault: Fault) -> None:
        """Keep a fault if it is among the first of its kind."""
        told = self._told[fault.kind] = self._told.get(fault.kind, 0) + 1
        if told <= FAULTS:
            self.faults.append(fault)

    def result(self, seconds: float) -> ShardResult:
        """The complete result, after the last string."""
        return ShardResult(
            self.shard,
            self.strings,
            self.octets,
            self.well_formed,
            self.accepted,
            self.checksum,
            b"" if self.kinds is None else zlib.compress(self.kinds.tobytes(), 1),
            tuple(sorted(self.faults, key=attrgetter("index", "kind"))),
            seconds,
        )


class Columnar:
    """Asks a target through the protocol.

    When the target has failed more often than its limit, the rest of the shard is skipped, as its last fault says;
    further shards raise ``BudgetSpent``.
    """

    def __init__(self, target: FramedTarget, profile: Profile, operation: str = "") -> None:
        """Start nothing yet.

        Args:
            target: it is started when there is a shard.
            profile: the profile to judge by.
            operation: ``V`` or ``D``; empty for the more informative one that the target has.
        """
        self.target = target
        self._profile, self._operation = profile, operation
        self._expectation: ExpectedAnswers | None = None
        self._oracle: ColumnarOracle | None = None
        self._columns: Columns | None = None
        self._spent: BudgetSpent | None = None

    @property
    def expectation(self) -> ExpectedAnswers:
        """The expectation for the target, which is opened if necessary.

        Raises:
            TargetError: it does not start, or offers no operation that a sweep can ask.
        """
        if self._expectation is None:
            self.target.open()
            self._expectation = expectation(self._profile, self.target.greeting, self._operation)
        return self._expectation

    def run(self, shard: Shard) -> ShardResult:
        """Ask all strings of a shard.

        Raises:
            BudgetSpent: it had already failed more often than its limit.
            TargetError: it cannot be asked (any more).
        """
        if self._spent is not None:
            raise self._spent
        columns = self._for(plan_named(shard.plan, self._profile).grids[shard.grid])
        began = time.perf_counter()
        tally = ShardTally(shard)
        step = 2 if columns.grid.earlier else 1
        done, ahead = 0, None
        try:
            for answered in self.target.observe(self._asked(shard, columns)):
                skipped = 1 if step == 2 and done % 2 == 0 else 0
                first, count = shard.first + done // step, (len(answered.batch) - skipped + step - 1) // step
                faults = dict(answered.faults)
                if ahead is not None:
                    faults[-1] = ahead
                right = answered.batch.right if isinstance(answered.batch, ColumnBatch) else None
                expected = right or self._expected(*columns.judged(first, count))
                judged = self._judge.judge(
                    answered.answers, expected, first, step=step, from_earlier=skipped == 1, faults=faults
                )
                ahead = judged.ahead
                lengths = np.frombuffer(answered.batch.lengths, np.uint32)[skipped::step]
                tally.add(first, judged, expected, lengths)
                if answered.unstable is not None and count:
                    tally.note_unstable(first, answered)
                done += len(answered.batch)
        except BudgetSpent as spent:
            self._spent = spent
            left = shard.first + done // step
            tally.mark(left, LEFT_OUT)
            tally.tell(Fault(left, LEFT_OUT, shown(str(spent))))
        return tally.result(time.perf_counter() - began)

    def close(self) -> None:
        """End the target."""
        self.target.close()

    def _for(self, grid: Grid) -> Columns:
        """The tables of a grid, kept until the next grid."""
        if self._columns is None or self._columns.grid is not grid:
            self._columns = Columns(grid)
        return self._columns

    @property
    def _judge(self) -> ColumnarOracle:
        if self._oracle is None:
            expected, size = self.expectation, self.target.greeting.units.size
            self._oracle = ColumnarOracle(expected, self._profile.dialect.layout, size)
        return self._oracle

    def _expected(self, lengths: array[int], octets: bytes) -> Expected:
        return self._judge.expected(lengths, octets)

    def _asked(self, shard: Shard, columns: Columns) -> Iterator[tuple[Batch, str]]:
        """The shard's strings in batches."""
        step = 2 if columns.grid.earlier else 1
        operation, first, end = self.expectation.operation, shard.first, shard.first + shard.count
        most = max(1, min(STRINGS, OCTETS // max(columns.grid.longest, 1)))
        while first < end:
            count = max(1, min(most, self.target.takes // step, end - first))
            items = columns.items(first, count)
            make = partial(self._expected, *items) if step == 1 else None
            yield ColumnBatch(SWEPT, *items, make=make), operation
            first += count
