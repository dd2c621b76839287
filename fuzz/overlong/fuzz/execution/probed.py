"""Inputs by number to a target that cannot be judged in columns: one that only streams or replaces, say."""

from __future__ import annotations

import time
import zlib
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    FAULTS,
    LEFT_OUT,
    MISBEHAVED,
    ODD,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    Fault,
    answer_code,
)
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import (
    Accepted,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
)
from overlong.conformance.protocol.wire import NOT_SAID
from overlong.conformance.results.shard import ShardResult
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.vector import Vector
from overlong.reference import Decoded

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.results.shard import Shard
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

STEP = 1 << 9
"""Inputs that are asked at a time."""
_FAULTS: dict[type, int] = {Failed: BROKEN, Crashed: CRASHED, TimedOut: TIMED_OUT, Misbehaved: MISBEHAVED}
_PLACES: dict[str, int] = {
    Code.OFFSET: OTHER_OFFSET,
    Code.STREAM_OFFSET: OTHER_OFFSET,
    Code.LENGTH: OTHER_LENGTH,
    Code.INCOMPLETE: OTHER_INCOMPLETE,
}


class ProbedSurvey:
    """Asks a target inputs by number, each a vector of its own."""

    judges_all = True

    def __init__(self, probe: Probe, generated: Generated) -> None:
        """Start the target.

        Raises:
            TargetError: it does not start, or offers nothing that decodes.
        """
        self._probe = probe
        self._generated = generated
        self.operation = probe.whole
        if not self.operation:
            offers = printable(probe.greeting.operations)
            raise TargetError(f"{printable(probe.id)}: it offers {offers}, and nothing that decodes; nothing to fuzz")

    def run(self, shard: Shard) -> ShardResult:
        """Ask all inputs of a shard.

        Raises:
            TargetError: the target does not start any more, or fails again and again without answering anything.
        """
        began = time.perf_counter()
        kinds, faults = bytearray(), list[Fault]()
        octets = well_formed = accepted = checksum = 0
        for first in range(shard.first, shard.first + shard.count, STEP):
            lengths, joined = self._generated.columns(first, min(STEP, shard.first + shard.count - first))
            vectors = [Vector("fuzz", joined[start:end]) for start, end in pairwise(accumulate(lengths, initial=0))]
            said = self._probe.ask(vectors, self.operation)
            for index, (vector, (observed, finding)) in enumerate(zip(vectors, said, strict=True), first):
                kind = kind_of(observed, finding)
                kinds.append(kind)
                if kind == LEFT_OUT:
                    continue
                octets += len(vector.octets)
                well_formed += vector.flaw is None
                accepted += isinstance(observed, Accepted)
                checksum += _code(observed) * (index * ODD | 1)
                if kind in _FAULTS.values() and finding is not None:
                    faults.append(Fault(index, kind, finding.observed_words))
        left_out = kinds.count(LEFT_OUT)
        return ShardResult(
            shard,
            shard.count - left_out,
            octets,
            well_formed,
            accepted,
            checksum % (1 << 64),
            zlib.compress(kinds, 1) if any(kinds) else b"",
            tuple(faults[:FAULTS]),
            time.perf_counter() - began,
        )

    def close(self) -> None:
        """End the target."""
        self._probe.close()


def kind_of(observed: Observation, finding: Finding | None) -> int:
    """What became of an input, as a sweep has it."""
    if isinstance(observed, Unsupported):
        return LEFT_OUT
    if finding is None:
        return AGREES
    if type(observed) in _FAULTS:
        return _FAULTS[type(observed)]
    if finding.code in _PLACES:
        return _PLACES[finding.code]
    if isinstance(observed, Refused):
        return REFUSED_WELL_FORMED
    return OTHER_OUTPUT if isinstance(finding.expected, Decoded) else ACCEPTED_ILL_FORMED


def _code(observed: Observation) -> int:
    """What an answer adds to the checksum."""
    match observed:
        case Accepted(values):
            return answer_code("A", len(values or ())) + 1
        case Refused(offset):
            return answer_code("R", NOT_SAID if offset is None else offset) + 1
        case Failed():
            return answer_code("X", 0) + 1
        case _:
            return 0
