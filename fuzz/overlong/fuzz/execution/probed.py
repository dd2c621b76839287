"""Inputs by number to a target that cannot be judged in columns: one that only streams or replaces, say."""

from __future__ import annotations

import time
import zlib
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import (
    FAULTS,
    LEFT_OUT,
    ODD,
    OF_FAULTS,
    Fault,
    code_of,
    kind_of,
)
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.results.shard import ShardResult
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from overlong.conformance.results.shard import Shard
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

STEP = 1 << 9
"""Inputs that are asked at a time."""


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
                checksum += code_of(observed) * (index * ODD | 1)
                if kind in OF_FAULTS and finding is not None:
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
