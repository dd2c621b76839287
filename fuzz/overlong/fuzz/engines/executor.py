# pyright: basic
"""What asks one target all inputs of a campaign, whole: the best executor that it allows; and where they diverge.

A function of a shared library is asked by the core in C, in the library's own process. Any other target that decodes or
validates is asked in columns, by the protocol. One that only streams or replaces is asked vector by vector.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.columnar import ColumnarOracle
from overlong.conformance.oracle.target import (
    AGREES,
    CRASHED,
    LEFT_OUT,
    MISBEHAVED,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    TIMED_OUT,
    TargetError,
    expectation,
    kind_of,
)
from overlong.conformance.protocol.observation import TimedOut
from overlong.conformance.protocol.wire import VALIDATE
from overlong.conformance.results.sweeps import Shard
from overlong.conformance.support.files import TemporaryFolder
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.columnar import ColumnBatch, ShardTally
from overlong.conformance.sweep.in_process import InProcess, reason_against
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.job import InputReader
from overlong.fuzz.generated import BLOCK, Sparing

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from overlong.conformance.vectors.batch import Batch
    from overlong.fuzz.engines.job import CampaignJob
    from overlong.fuzz.engines.probe import Probe
    from overlong.fuzz.generated import Generated

_ADAPTER = Path(__file__).with_name("adapter.py")
_STEP = 1 << 12
"""Inputs made at a time for columns, and the most in a batch, so that their data stay in the CPU's cache."""
_VECTORS = 1 << 9
"""Inputs that are asked at a time vector by vector."""
RIGHT = frozenset({AGREES, OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE, LEFT_OUT})
"""Kinds of inputs whose verdict and output are right, or unknown."""
FAILED = frozenset({CRASHED, TIMED_OUT, MISBEHAVED, LEFT_OUT})
"""Kinds of inputs whose like is asked no more than is needed."""


@dataclass
class InputPlace:
    """Inputs of a block that diverge alike."""

    kind: int
    key: int
    """See :class:`~.job.InputReader`."""
    count: int
    least: int
    """The number of the shortest of them; of those the first."""
    length: int
    """Length of that input, in octets."""


class Executor:
    """One target, and what asks it all inputs."""

    def __init__(self, job: CampaignJob, probe: Probe, generated: Generated) -> None:
        """Start the target of a probe, if it is not; nothing else may use it meanwhile.

        Raises:
            TargetError: it does not start, or offers nothing that decodes.
            OSError: the seeds cannot be kept on disk.
        """
        self.probe = probe
        self._generated = generated
        self._reader = InputReader(job.profile.dialect)
        self.in_process: InProcess | None = None
        """What asks inputs in the process of a shared library, in a child of it: the machinery of sweeps."""
        self.folder: TemporaryFolder | None = None
        """Of the file that tells the adapter in that process what the inputs are made of."""
        self.kinds: Callable[[int, int], tuple[int, bytes]]
        """Asks a number of inputs from one on. Returns the octets of those that were asked, and the kind of each; no
        kinds if all agree. It raises TargetError if the target cannot be asked any more."""
        judges_all = True
        greeting = probe.opened().greeting
        try:
            expected = expectation(job.profile, greeting)
        except TargetError as error:  # it offers nothing that can be judged in columns
            if not probe.whole:
                offers = printable(greeting.operations)
                raise TargetError(
                    f"{printable(probe.id)}: it offers {offers}, and nothing that decodes; nothing to fuzz"
                ) from error
            self.kinds, self.operation = partial(kinds_by_vectors, probe, generated, probe.whole), probe.whole
        else:
            self.operation = expected.operation
            # in some dialects, and with some traits, the output is not judged
            judges_all = self.operation == VALIDATE or bool(expected.units)
            if not reason_against(probe.opened()):
                self.kinds = self._in_process(job)
            else:
                self._oracle = ColumnarOracle(expected, job.profile.dialect.layout, greeting.units.size)
                self.kinds = self._in_columns
        self.others = "".join(each for each in probe.operations if each != self.operation or not judges_all)
        """Operations that a sample is asked by."""

    @property
    def id(self) -> str:
        """The id, as the campaign names it."""
        return self.probe.id

    def close(self) -> None:
        """End all its processes. Never raises."""
        for each in (self.in_process, self.folder, self.probe):
            if each is not None:
                each.close()

    def places(self, first: int, kinds: bytes) -> Iterator[tuple[int, list[InputPlace]]]:
        """Where inputs from a number on diverge, by the number of the block, given the kind of each."""
        for start in range(first // BLOCK * BLOCK, first + len(kinds), BLOCK):
            low, high = max(start, first), min(start + BLOCK, first + len(kinds))
            if any(some := kinds[low - first : high - first]):
                lengths, octets = self._generated.columns(low, len(some))
                yield start // BLOCK, _grouped(low, some, self._reader.keys(lengths, octets), lengths)

    def words(self, key: int) -> str:
        """What the key of a place means."""
        return self._reader.words(key)

    def _in_process(self, job: CampaignJob) -> Callable[[int, int], tuple[int, bytes]]:
        """What gives the octets and the kinds of inputs, as :meth:`_in_columns`, in the process of a shared library."""
        found = resolve(self.probe.target, job.limits)
        assert isinstance(found, FramedTarget), "there is a reason against any other"
        self.folder = TemporaryFolder("seeds")
        path = self.folder.path / "seeds.json"
        path.write_text(json.dumps([job.seed, [each.hex() for each in job.seeds]]), "ascii")
        self.in_process = engine = InProcess(found, job.profile, adapter=_ADAPTER, more=str(path))

        def kinds(first: int, count: int) -> tuple[int, bytes]:
            result = engine.run(inputs_from(first, count))
            return result.octets, zlib.decompress(result.kinds) if result.kinds else b""

        return kinds

    def _in_columns(self, first: int, count: int) -> tuple[int, bytes]:
        """The octets of the inputs that were asked, and the kind of each; no kinds if all agree.

        There is no limit on restarts: each input that crashes the target is a fault of its own. Of similar inputs only
        a few are asked: see :class:`~overlong.fuzz.generated.Sparing`.

        Raises:
            TargetError: the target no longer starts, or fails repeatedly without an answer.
        """
        tally, end = ShardTally(inputs_from(first, count)), first + count
        sparing, spared = Sparing(self._generated, first, end), set[int]()
        while first < end:
            first = self._run(tally, first, end, sparing, spared)
        return tally.octets, b"" if tally.kinds is None else tally.kinds.tobytes()

    def _run(self, tally: ShardTally, first: int, end: int, sparing: Sparing, spared: set[int]) -> int:
        """Ask inputs before ``end``, or until further ones are left out. Returns the place of the end."""
        if spared:  # they are of one block
            end = min((first // BLOCK + 1) * BLOCK, end)
        numbers = [number for number in range(first, end) if number not in spared] if spared else range(first, end)
        asked = self.probe.observe(lambda place: self._asked(numbers[place:]), len(numbers))
        for place, answered in asked:
            number, batch = numbers[place], answered.batch
            assert isinstance(batch, ColumnBatch), "asked for only such"
            expected = batch.right or self._oracle.expected(batch.lengths, batch.octets)
            judged = self._oracle.judge(answered.answers, expected, number, faults=answered.faults)
            tally.add(number, judged, expected, np.frombuffer(batch.lengths, np.uint32))
            if answered.unstable is not None:
                tally.note_unstable(number, answered)
            for at, fault in answered.faults.items():
                kind = TIMED_OUT if isinstance(fault, TimedOut) else CRASHED
                more = set(sparing.failed(number + at, kind)) - spared
                spared.update(more)
                for each in more:
                    tally.mark(each, LEFT_OUT, each + 1)
                if more:  # the input is alone in its batch, and nothing else is under way
                    asked.close()
                    return number + len(batch)
        spared.clear()
        return end

    def _asked(self, numbers: Sequence[int]) -> Iterator[tuple[Batch, str]]:
        """Inputs of ascending numbers, in batches of the size that the target takes at present."""
        for first, count in _in_rows(numbers):
            done = 0
            while done < count:
                made = min(_STEP, count - done)
                lengths, octets = self._generated.columns(first + done, made)
                start = at = 0
                while start < made:
                    end = min(start + max(self.probe.takes, 1), made)
                    some = lengths[start:end]
                    part = octets[at : at + sum(some)]
                    make = partial(self._oracle.expected, some, part)
                    yield ColumnBatch("fuzz", some, part, make=make), self.operation
                    start, at = end, at + len(part)
                done += made


def _grouped(first: int, kinds: bytes, keys: NDArray[np.uint32], lengths: array[int]) -> list[InputPlace]:
    """The inputs of a block by kind and key, ascending."""
    of = np.frombuffer(kinds, np.uint8)
    places = np.flatnonzero((of != AGREES) & (of != LEFT_OUT))
    sizes = np.array(lengths, np.int64)[places]
    both = of[places].astype(np.int64) << 32 | keys[places]
    order = np.lexsort((sizes, both))  # stable: of the shortest the first
    both, sizes, places = both[order], sizes[order], places[order]
    starts = np.flatnonzero(np.diff(both, prepend=-1))
    counts = np.diff(starts, append=len(both))
    columns = both[starts] >> 32, both[starts] & 0xFFFFFFFF, counts, places[starts] + first, sizes[starts]
    return [InputPlace(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


def inputs_from(first: int, count: int) -> Shard:
    """Inputs by number, as the sweep's machinery asks for strings."""
    return Shard("generated", 0, first, count)


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


def kinds_by_vectors(probe: Probe, generated: Generated, operation: str, first: int, count: int) -> tuple[int, bytes]:
    """The octets of the inputs that were asked, each a vector of its own, and the kind of each; no kinds if all agree.

    Raises:
        TargetError: the target does not start any more, or fails again and again without answering anything.
    """
    octets, kinds = 0, bytearray()
    for start in range(first, first + count, _VECTORS):
        lengths, joined = generated.columns(start, min(_VECTORS, first + count - start))
        vectors = [Vector("fuzz", joined[begin:end]) for begin, end in pairwise(accumulate(lengths, initial=0))]
        for vector, (observed, finding) in zip(vectors, probe.ask(vectors, operation), strict=True):
            kinds.append(kind := kind_of(observed, finding))
            octets += len(vector.octets) if kind != LEFT_OUT else 0
    return octets, bytes(kinds) if any(kinds) else b""
