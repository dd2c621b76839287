"""Inputs from the strategies that others import, a block at a time.

Theory of operation. A campaign begins with the tokens of the grammar, each alone, and its seeds: chance would need
thousands of inputs for some of them. Then each block of inputs is one run of Hypothesis, seeded by the campaign's seed
and the number of its first input, without a database and without deadlines. Its test only collects the drawn inputs, so
the targets get batches and nothing stops at the first divergence. Hypothesis does not shrink here: it runs each
candidate for milliseconds, and took a minute where an examination takes a second, and tells the condition, too.
Tests that use the strategies get its shrinking.

It makes hundreds of inputs a second, where the grammar engine makes millions. Its purpose is inputs that only a
strategy can describe.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from overlong.conformance.protocol.wire import AGAIN, GUARDED, REPLACE, STREAMING
from overlong.conformance.vectors.vector import Vector, cut
from overlong.fuzz.choice import tokens_of
from overlong.fuzz.engines.job import UnitResult
from overlong.fuzz.engines.probe import Probe
from overlong.fuzz.generated import BLOCK
from overlong.fuzz.strategies import chunkings, defect, defects, ill_formed, near_misses, well_formed

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from overlong.fuzz.engines.job import CampaignJob

_Drawn = TypeVar("_Drawn")
FIRST = 64
"""The inputs of a block for operations on other than whole inputs."""
_AT_A_TIME = 256
"""The inputs of a batch."""


@cache
def strings() -> SearchStrategy[bytes]:
    """Inputs of all kinds: each defect, near misses, well-formed text."""
    return st.one_of(*map(defect, defects()), near_misses(), ill_formed(), well_formed(max_characters=16))


@st.composite
def streams(draw: DrawFn) -> Vector:
    """Inputs in chunks, after a stream that ended in any way."""
    octets = draw(strings())
    before = draw(near_misses(max_pieces=3))
    earlier = tuple(cut(before, draw(chunkings(before, max_cuts=2))))
    return Vector("fuzz", octets, chunks=draw(chunkings(octets)), earlier=earlier)


class HypothesisEngine:
    """Draws from the strategies and asks every target of the job."""

    def __init__(self, job: CampaignJob) -> None:
        """Start nothing yet."""
        self._job = job
        self._probes = [Probe(target, job.limits, job.profile) for target in job.targets]
        self._opening = tuple(dict.fromkeys((*tokens_of(job.profile.dialect).opening, *job.seeds)))

    def run(self, unit: range) -> UnitResult:
        """Ask the inputs of a unit.

        Hypothesis draws nothing twice, so a block is smaller if it runs out of inputs.

        Raises:
            TargetError: a target cannot be asked (any more).
        """
        result = UnitResult(unit)
        end = unit.stop
        for block in range(unit.start // BLOCK, -(-end // BLOCK)):
            first = max(unit.start, block * BLOCK)
            count = min(end, (block + 1) * BLOCK) - first
            self._run_block(result, range(first, first + count), block)
        for probe in self._probes:
            result.note(*probe.notes)
        return result

    def close(self) -> None:
        """End the targets' processes."""
        for probe in self._probes:
            probe.close()

    def _run_block(self, result: UnitResult, unit: range, block: int) -> None:
        inputs = list(self._opening[unit.start : unit.stop])
        if len(inputs) < len(unit):
            inputs += drawn(strings(), self._seed_of(unit.start, "whole"), len(unit) - len(inputs))
        whole = [Vector("fuzz", octets) for octets in inputs]
        in_chunks: list[Vector] = []
        for done in range(0, len(whole), _AT_A_TIME):
            batch, some = whole[done : done + _AT_A_TIME], inputs[done : done + _AT_A_TIME]
            result.octets += sum(map(len, some))
            result.reach(list(map(len, some)), b"".join(some), self._job.profile.dialect)
            for probe in self._probes:
                if probe.whole:
                    self._ask(result, probe, probe.whole, batch, unit.start + done, block)
        for probe in self._probes:
            for operation in _later_of(probe):
                if operation in STREAMING + AGAIN:
                    seed_of_streams = self._seed_of(unit.start, "streams")
                    in_chunks = in_chunks or drawn(streams(), seed_of_streams, min(FIRST, len(unit)))
                    self._ask(result, probe, operation, in_chunks, unit.start, block)
                else:
                    self._ask(result, probe, operation, whole[:FIRST], unit.start, block)

    def _seed_of(self, first: int, what: str) -> int:
        text = f"{self._job.seed} {first} {what}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def _ask(
        self, result: UnitResult, probe: Probe, operation: str, vectors: Sequence[Vector], first: int, block: int
    ) -> None:
        result.asked[probe.id, operation] += len(vectors)
        for place, (_, finding) in enumerate(probe.ask(vectors, operation)):
            if finding is not None:
                result.add(finding, probe.id, first + place, block)


def _later_of(probe: Probe) -> str:
    """The operations for the first inputs of a block, in the order that tells causes apart."""
    return "".join(
        operation
        for operation in probe.operations
        if operation in REPLACE + STREAMING + AGAIN + GUARDED and operation != probe.whole
    )


def drawn(strategy: SearchStrategy[_Drawn], number: int, count: int) -> list[_Drawn]:
    """The values that Hypothesis draws, seeded with a number: as many as asked, or fewer if there are no more."""
    values: list[_Drawn] = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=cast("list[HealthCheck]", list(HealthCheck)),
    )
    @given(strategy)
    def collect(value: _Drawn) -> None:
        values.append(value)

    with _no_local_constants():
        seed(number)(collect)()
    return values


@contextlib.contextmanager
def _no_local_constants() -> Generator[None]:
    """Stop Hypothesis from drawing numbers and strings from the source of imported modules.

    It does so with each twentieth choice, from modules that are not installed but under development. The values would
    depend on the imported modules, and a seed would not fix them. There is no setting for that.
    """
    inner: Any = providers
    kept = inner._get_local_constants  # noqa: SLF001
    nothing = inner.Constants()
    inner.CONSTANTS_CACHE.cache.clear()
    inner._get_local_constants = lambda: nothing  # noqa: SLF001
    try:
        yield
    finally:
        inner._get_local_constants = kept  # noqa: SLF001
        inner.CONSTANTS_CACHE.cache.clear()
