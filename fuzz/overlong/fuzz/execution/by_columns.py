# pyright: basic
"""Answers judged in columns: with NumPy, and Numba where that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.protocol.wire import ACCEPTED, DECODE, REFUSED
from overlong.conformance.results.shard import LEFT_OUT
from overlong.conformance.sweep.columns_expected import SAYS_ALL, Expected, Verdicts
from overlong.conformance.sweep.columns_read import Reader
from overlong.conformance.sweep.columns_written import LayoutRead, written
from overlong.conformance.sweep.judging import Judge
from overlong.fuzz.execution.judged import Came

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.protocol.wire import Answers
    from overlong.conformance.sweep.expectation import Expectation
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.execution.judged import SurveyBatch

_LARGEST_LENGTH = 0xFF


class ByColumns:
    """Judges whole columns first; what differs by masks."""

    def __init__(
        self, expectation: Expectation, profile: Profile, unit_size: int, *, compiled: bool | None = None
    ) -> None:
        """Prepare for one target.

        Args:
            expectation: of it.
            profile: what it is measured by.
            unit_size: octets in a unit of its output, judged or not.
            compiled: whether strings are read by Numba; None for what is faster.
        """
        self._expectation = expectation
        self._unit_size = unit_size
        self._reader = Reader(expectation.automaton, compiled=compiled)
        self._layout = LayoutRead(profile.dialect.layout)
        self._units = expectation.units if expectation.operation == DECODE else ""
        self._habits = SAYS_ALL
        self._last: tuple[bytes, Expected] | None = None

    def right(self, lengths: array[int], octets: bytes) -> bytes:
        expected = self._expected(lengths, octets)
        self._last = octets, expected
        return expected.wire

    def came(
        self,
        batch: SurveyBatch,
        answers: Answers,
        first: int,
        faults: Mapping[int, Observed],
    ) -> Came:
        if self._last is not None and self._last[0] is batch.octets:
            expected = self._last[1]
        else:
            expected = self._expected(batch.lengths, batch.octets)
        judge = Judge(lambda *_: (batch.lengths, batch.octets), self._expectation, unit_size=self._unit_size)
        judged = judge.judge(answers, expected, first, faults=faults)
        self._habits = judged.habits or self._habits
        if judged.kinds is None:
            return Came(expected.verdicts.well_formed, judged.accepted, judged.checksum, faults=tuple(judged.faults))
        asked = judged.kinds != LEFT_OUT
        well_formed = int(np.count_nonzero(expected.verdicts.accepted[asked]))
        return Came(well_formed, judged.accepted, judged.checksum, judged.kinds.tobytes(), tuple(judged.faults))

    def _expected(self, lengths: array[int], octets: bytes) -> Expected:
        counts = np.frombuffer(lengths, np.uint32)
        read = self._reader.read(octets, counts)
        accepted = read.accepted
        flaws = np.minimum(np.maximum(read.live - read.last, 1), _LARGEST_LENGTH)
        if self._units:
            units, numbers = self._written(octets, counts, accepted)
        else:
            units, numbers = b"", np.zeros(len(counts), np.uint32)
        verdicts = Verdicts(
            np.where(accepted, np.uint8(ACCEPTED[0]), np.uint8(REFUSED[0])),
            np.where(accepted, numbers, read.last),
            np.where(accepted, np.uint32(0), flaws).astype(np.uint8),
            (~accepted & (read.state != self._reader.automaton.dead)).astype(np.uint8),
        )
        return Expected(verdicts, units, self._habits)

    def _written(
        self, octets: bytes, counts: NDArray[np.uint32], accepted: NDArray[np.bool_]
    ) -> tuple[bytes, NDArray[np.uint32]]:
        """The output of those accepted, in a row; and how many units each of them, and the others, have."""
        chosen = np.frombuffer(octets, np.uint8)[np.repeat(accepted, counts)]
        scalars, places = self._layout.scalars_of(chosen)
        units, each = written(scalars, self._units)
        before = np.zeros(len(chosen) + 1, np.int64)
        before[places + 1] = each
        ends = np.cumsum(np.where(accepted, counts, 0), dtype=np.int64)
        total = np.cumsum(before)[ends]
        return units, np.diff(total, prepend=0).astype(np.uint32)
