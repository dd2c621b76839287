# pyright: basic
"""What asks one target all inputs of a campaign, whole: the best survey that it allows; and where they diverge."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.oracle.expectation import expectation
from overlong.conformance.oracle.kinds import (
    AGREES,
    CRASHED,
    LEFT_OUT,
    MISBEHAVED,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    TIMED_OUT,
)
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import DECODE, VALIDATE
from overlong.conformance.results.shard import Shard
from overlong.fuzz.execution.columnar import ColumnarSurvey
from overlong.fuzz.execution.engine import BLOCK
from overlong.fuzz.execution.made import PLAN
from overlong.fuzz.execution.places import InputPlaces
from overlong.fuzz.execution.probe import SAMPLE
from overlong.fuzz.execution.probed import ProbedSurvey

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

    from overlong.fuzz.execution.engine import CampaignJob
    from overlong.fuzz.execution.in_process import InProcessSurvey
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

_RIGHT = frozenset({AGREES, OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE, LEFT_OUT})
"""Kinds of inputs whose verdict and output are right, or unknown."""
_FAILED = frozenset({CRASHED, TIMED_OUT, MISBEHAVED, LEFT_OUT})
"""Kinds of inputs whose like is asked no more than is needed."""


@dataclass
class InputPlace:
    """Inputs of a block that diverge alike."""

    kind: int
    key: int
    """See :class:`~.places.InputPlaces`."""
    count: int
    least: int
    """The number of the shortest of them; of those the first."""
    length: int
    """Length of that input, in octets."""


@dataclass
class SeenInputs:
    """What came of inputs."""

    executions: int
    octets: int
    places: dict[int, list[InputPlace]] = field(default_factory=dict[int, "list[InputPlace]"])
    """Places by the number of the block."""
    wrong: frozenset[int] = frozenset()
    """Inputs of a sample that another verdict or output was given of, or none."""
    failed: frozenset[int] = frozenset()
    """Inputs of a sample that nothing was said to; or that were left out, because of others like them."""
    left_out: int = 0


class Whole:
    """One target, and all that asks it."""

    def __init__(self, job: CampaignJob, probe: Probe, generated: Generated) -> None:
        """Start the target of a probe, if it is not.

        Raises:
            TargetError: it does not start, or offers nothing that decodes.
        """
        self.probe = probe
        self._generated = generated
        self._places = InputPlaces(job.profile.dialect.automaton)
        self.in_process = _in_process(job, probe.target, self.probe)
        judges_all = False
        if self.in_process is not None:
            self.survey: InProcessSurvey | ColumnarSurvey | ProbedSurvey = self.in_process
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
        """The id, as the campaign names it."""
        return self.probe.id

    def run(self, first: int, count: int) -> SeenInputs:
        """What comes of inputs by number, and where they diverge.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        result = self.survey.run(Shard(PLAN, 0, first, count))
        seen = SeenInputs(count, result.octets)
        if result.kinds:
            self._look(seen, first, zlib.decompress(result.kinds))
        return seen

    def close(self) -> None:
        """End all its processes. Never raises."""
        self.survey.close()
        self.probe.close()

    def _look(self, seen: SeenInputs, first: int, kinds: bytes) -> None:
        """Fill in what came of inputs that do not all agree."""
        seen.left_out = kinds.count(LEFT_OUT)
        seen.executions -= seen.left_out
        wrong, failed = list[int](), list[int]()
        for start in range(first // BLOCK * BLOCK, first + len(kinds), BLOCK):
            low, high = max(start, first), min(start + BLOCK, first + len(kinds))
            some = kinds[low - first : high - first]
            if not any(some):
                continue
            lengths, octets = self._generated.columns(low, len(some))
            keys = self._places.keys(lengths, octets)
            seen.places[start // BLOCK] = _grouped(low, some, keys, lengths)
            wrong += [low + place for place, kind in enumerate(some[:SAMPLE]) if kind not in _RIGHT]
            failed += [low + place for place, kind in enumerate(some[:SAMPLE]) if kind in _FAILED]
        seen.wrong, seen.failed = frozenset(wrong), frozenset(failed)

    def words(self, key: int) -> str:
        """What the key of a place means."""
        return self._places.words(key)


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


def _columnar(job: CampaignJob, probe: Probe, generated: Generated) -> ColumnarSurvey | None:
    """A survey in columns; None if nothing that the target offers can be judged in them."""
    probe.opened()
    try:
        return ColumnarSurvey(probe, generated, job.profile)
    except TargetError:
        return None


def _in_process(job: CampaignJob, target: str | tuple[str, ...], probe: Probe) -> InProcessSurvey | None:
    """A survey in the process of a shared library's function; None if the target is none, or cannot be asked there."""
    from overlong.fuzz.execution.in_process import InProcessSurvey, reason_against_surveying

    if reason_against_surveying(probe.opened()) or not set(probe.operations) & set(DECODE + VALIDATE):
        return None
    return InProcessSurvey(job, target)
