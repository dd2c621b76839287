"""What asks one target all inputs of a campaign, whole: the best survey that it allows; and where they diverge."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import compress
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.protocol import DECODE, VALIDATE
from overlong.conformance.sweep.expectation import expectation
from overlong.conformance.sweep.shard import (
    AGREES,
    LEFT_OUT,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    TIMED_OUT,
    Shard,
    ShardResult,
)
from overlong.conformance.target import TargetError
from overlong.fuzz.engines.engine import BLOCK
from overlong.fuzz.probe import Probe
from overlong.fuzz.survey.columnar import PATIENCE, ColumnarSurvey
from overlong.fuzz.survey.places import Places
from overlong.fuzz.survey.probed import ProbedSurvey
from overlong.fuzz.survey.sampled import SAMPLE

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from overlong.fuzz.engines.engine import Job
    from overlong.fuzz.generation.generated import Generated
    from overlong.fuzz.survey.in_process import InProcessSurvey

_RIGHT = frozenset({AGREES, OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE, LEFT_OUT})
"""Kinds of inputs of which the verdict and the output are right, or unknown."""
RESTARTS = 16
"""Of a function's process, after which it is asked on from there by a new one."""
_ENOUGH = 64
"""Divergent inputs from which on NumPy groups them faster."""
PLAN = "generated"
"""Of the shards that are asked: its numbers are those of inputs."""


class Survey(Protocol):
    """Asks inputs by number."""

    def run(self, shard: Shard) -> ShardResult:
        """Ask all inputs of a shard.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        ...

    def close(self) -> None:
        """End the target's processes."""
        ...


@dataclass
class Place:
    """Inputs of a block that diverge alike."""

    kind: int
    key: int
    """See :class:`~.places.Places`."""
    count: int
    least: int
    """The number of the shortest of them; of those the first."""
    length: int
    """Of that, in octets."""


@dataclass
class Seen:
    """What came of inputs."""

    executions: int
    octets: int
    places: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    """By the number of the block."""
    wrong: frozenset[int] = frozenset()
    """Inputs of a sample that another verdict or output was given of, or none."""
    left_out: int = 0


class Whole:
    """One target, and all that asks it."""

    def __init__(self, job: Job, target: str | tuple[str, ...], generated: Generated) -> None:
        """Start the target.

        Raises:
            TargetError: it does not start, or offers nothing that decodes.
        """
        self.probe = Probe(target, job.limits, job.profile)
        self._generated = generated
        self._places = Places(job.profile.dialect.automaton)
        self.in_process = _in_process(job, target, self.probe)
        judges_all = False
        if self.in_process is not None:
            self.survey: Survey = self.in_process
            self.operation = next(each for each in DECODE + VALIDATE if each in self.probe.operations)
            judges_all = self.operation == VALIDATE or bool(expectation(job.profile, self.probe.greeting).units)
        else:
            columnar = _columnar(job, self.probe, generated)
            if columnar is None:
                probed = ProbedSurvey(self.probe, generated)
                self.survey, self.operation, judges_all = probed, probed.operation, True
            else:
                self.survey, self.operation, judges_all = columnar, columnar.operation, columnar.judges_all
        self.others = "".join(each for each in self.probe.operations if each != self.operation or not judges_all)
        """Operations that a sample is asked by."""

    @property
    def id(self) -> str:
        """As the campaign names it."""
        return self.probe.id

    def run(self, first: int, count: int) -> Seen:
        """What comes of inputs by number, and where they diverge.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        kinds, octets = bytearray(count), 0
        start, end, is_whole = first, first + count, True
        while start < end:
            result = self.survey.run(Shard(PLAN, 0, start, end - start))
            octets += result.octets if start == first else 0
            if not result.kinds:
                break
            kinds[start - first :] = found = zlib.decompress(result.kinds)
            start = self._after(found, start)
            is_whole = is_whole and start == end
        seen = Seen(count, octets)
        if any(kinds):
            _have_patience(kinds, first)
            self._look(seen, first, kinds, is_whole=is_whole)
        return seen

    def close(self) -> None:
        """End all its processes. Never raises."""
        self.survey.close()
        self.probe.close()

    def _after(self, kinds: bytes, first: int) -> int:
        """Where to go on, if a function's process was not started anew any more."""
        end, asked = first + len(kinds), kinds.find(LEFT_OUT)
        if self.in_process is None or asked < 0:
            return end
        number = first + asked
        block = number // BLOCK * BLOCK
        waited = kinds[max(block - first, 0) : asked].count(TIMED_OUT)
        if waited >= PATIENCE:
            number = block + BLOCK
        elif not asked:
            raise TargetError(f"{self.id}: it fails again and again, and is not asked any more")
        return min(number, end)

    def _look(self, seen: Seen, first: int, kinds: bytearray, *, is_whole: bool) -> None:
        """Fill in what came of inputs that do not all agree."""
        seen.left_out = kinds.count(LEFT_OUT)
        seen.executions -= seen.left_out
        counts_octets = bool(seen.left_out) or not is_whole
        if counts_octets:
            seen.octets = 0
        wrong = list[int]()
        for start in range(first // BLOCK * BLOCK, first + len(kinds), BLOCK):
            low, high = max(start, first), min(start + BLOCK, first + len(kinds))
            some = bytes(kinds[low - first : high - first])
            if not (any(some) or counts_octets):
                continue
            lengths, octets = self._generated.columns(low, len(some))
            if counts_octets:
                seen.octets += sum(compress(lengths, [kind != LEFT_OUT for kind in some]))
            keys = self._places.keys(lengths, octets, some)
            seen.places[start // BLOCK] = _grouped(low, some, keys, lengths)
            wrong += [low + place for place, kind in enumerate(some[:SAMPLE]) if kind not in _RIGHT]
        seen.wrong = frozenset(wrong)

    def words(self, key: int) -> str:
        """What the key of a place means."""
        return self._places.words(key)


def _grouped(first: int, kinds: bytes, keys: Sequence[int], lengths: array[int]) -> list[Place]:
    """The inputs of a block by kind and key, ascending."""
    divergent = [place for place, kind in enumerate(kinds) if kind not in (AGREES, LEFT_OUT)]
    if len(divergent) >= _ENOUGH and find_spec("numpy") is not None:
        return _sorted(first, kinds, keys, lengths)
    found: dict[tuple[int, int], Place] = {}
    for place in divergent:
        length = lengths[place]
        known = found.setdefault((kinds[place], keys[place]), Place(kinds[place], keys[place], 0, -1, length))
        known.count += 1
        if known.least < 0 or length < known.length:
            known.least, known.length = first + place, length
    return [found[both] for both in sorted(found)]


def _sorted(first: int, kinds: bytes, keys: Sequence[int], lengths: array[int]) -> list[Place]:
    """The same by NumPy."""
    import numpy as np

    of = np.frombuffer(kinds, np.uint8)
    places = np.flatnonzero((of != AGREES) & (of != LEFT_OUT))
    sizes = np.array(lengths, np.int64)[places]
    both = of[places].astype(np.int64) << 32 | np.array(keys, np.int64)[places]
    order = np.lexsort((sizes, both))  # stable: of the shortest the first
    both, sizes, places = both[order], sizes[order], places[order]
    starts = np.flatnonzero(np.diff(both, prepend=-1))
    counts = np.diff(starts, append=len(both))
    columns = both[starts] >> 32, both[starts] & 0xFFFFFFFF, counts, places[starts] + first, sizes[starts]
    return [Place(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


def _have_patience(kinds: bytearray, first: int) -> None:
    """Of each block with inputs that take too long the rest is left out: how many were asked depends on how."""
    for start in range(first // BLOCK * BLOCK, first + len(kinds), BLOCK):
        low, high = max(start - first, 0), min(start + BLOCK - first, len(kinds))
        place = low - 1
        for _ in range(PATIENCE):
            place = kinds.find(TIMED_OUT, place + 1, high)
            if place < 0:
                break
        else:
            kinds[place + 1 : high] = bytes([LEFT_OUT]) * (high - place - 1)


def _columnar(job: Job, probe: Probe, generated: Generated) -> ColumnarSurvey | None:
    """A survey in columns; None if nothing that the target offers can be judged in them."""
    probe.opened()
    try:
        return ColumnarSurvey(probe, generated, job.profile)
    except TargetError:
        return None


def _in_process(job: Job, target: str | tuple[str, ...], probe: Probe) -> InProcessSurvey | None:
    """A survey in the process of a shared library's function; None if it is none, or cannot be asked so."""
    from overlong.fuzz.survey.in_process import InProcessSurvey, reason_against_surveying

    if reason_against_surveying(probe.opened()) or not set(probe.operations) & set(DECODE + VALIDATE):
        return None
    return InProcessSurvey(replace(job, limits=replace(job.limits, restarts=RESTARTS)), target)
