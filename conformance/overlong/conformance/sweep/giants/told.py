"""What is wrong with a function's answers to giant strings: one set, one sentence, one finding.

The strings of the plan are the experiments: each power of two is there with an error behind it, and with an error that
only a length of fewer bits hides. Nothing is asked again, and no string is made.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.oracle.compare import compare_batch, expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    CRASHED,
    DEMANDED,
    NO_DIVERGENCE,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
)
from overlong.conformance.protocol.observation import POSITION, Accepted, Code, Crashed, Failed, Refused, TimedOut
from overlong.conformance.results.sweeps import DivergentSet, SweepBucket, Where
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.grid import LETTER
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import SWEPT, Vector
from overlong.reference import Rejected
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.results.sweeps import ShardResult
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.profile import Profile

_TELLING = (ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED, CRASHED, TIMED_OUT, BROKEN, OTHER_OFFSET)
"""The kinds, the worst first."""


class _Wrong(NamedTuple):
    """A string with a wrong answer."""

    kind: int
    power: int
    """Of two: about its octets."""
    octets: bytes
    """Without the letters between."""
    where: Where
    text: str
    """Of the fault."""

    @property
    def order(self) -> tuple[int, int, tuple[int, bytes]]:
        return _TELLING.index(self.kind), self.power, shortlex(self.octets)


def bucket_of(plan: Plan, operation: str, profile: Profile, results: Iterable[ShardResult]) -> SweepBucket | None:
    """The strings of a plan of giants with wrong answers, as one bucket; None if there are none.

    The vector of its finding lacks the letters between, and the answers count them.

    Args:
        plan: the plan.
        operation: that was asked.
        profile: the profile to judge by.
        results: those of the plan's shards.
    """
    wrong = sorted((each for result in results for each in _wrong(plan, result)), key=lambda each: each.order)
    if not wrong:
        return None
    first = wrong[0]
    words = _sentence(plan, wrong)
    found = DivergentSet(first.kind, len(wrong), first.octets, first.where, words=words)
    grid = plan.grids[first.where.grid]
    head, *_ = grid.pieces(first.where.index)
    vector = Vector(SWEPT, first.octets, profile=profile, comment=words)
    expected = expected_of(vector, operation)
    if isinstance(expected, Rejected) and expected.offset >= len(head):
        expected = expected._replace(offset=expected.offset + grid.between)
    beyond = f"{thousands(grid.between)} letters stand {f'after octet {len(head)}' if head else 'before it'}"
    refutes = POSITION if first.kind == OTHER_OFFSET else DEMANDED.get(first.kind, "")
    observed = _observed(first.kind, first.text)
    finding = Finding(vector, operation, Code.GIANT, expected, observed, plan.name, ("", beyond), refutes)
    return SweepBucket(plan.name, found, finding)


def is_wrong_without_letters(bucket: SweepBucket, target: FramedTarget) -> bool:
    """True if the answer is wrong without the letters, too: then their number is not the cause.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked.
    """
    finding = bucket.finding
    for answered in target.observe([(Batch.of([finding.vector]), finding.operation)]):
        return next(compare_batch(answered, target.greeting), None) is not None
    return False


def power_of(grid: Grid) -> int:
    """The power of two of its letters, about."""
    return (grid.between + (1 << 10)).bit_length() - 1


def _wrong(plan: Plan, result: ShardResult) -> list[_Wrong]:
    shard = result.shard
    grid = plan.grids[shard.grid]
    texts = {fault.index: fault.text for fault in result.faults}
    kinds = enumerate(zlib.decompress(result.kinds), shard.first) if result.kinds else ()
    return [
        _Wrong(kind, power_of(grid), grid.string(index), Where(shard.grid, index), texts.get(index, ""))
        for index, kind in kinds
        if kind not in NO_DIVERGENCE
    ]


def _sentence(plan: Plan, wrong: Sequence[_Wrong]) -> str:
    """What explains the wrong answers; otherwise from which power of two on there are some of each kind."""
    verdicts = {each.where: each.kind for each in wrong}
    for words, read in _MODELS.items():
        if verdicts == _predicted(plan, read):
            return words
    since: dict[int, list[str]] = {}
    for kind in _TELLING:
        powers = [each.power for each in wrong if each.kind == kind]
        if powers:
            since.setdefault(min(powers), []).append(_WORDS[kind])
    return "; ".join(f"{' and '.join(since[power])} from 2^{power} octets of text on" for power in sorted(since))


_WORDS = {
    ACCEPTED_ILL_FORMED: "accepts errors",
    REFUSED_WELL_FORMED: "refuses well-formed text",
    CRASHED: "crashes",
    TIMED_OUT: "does not answer in time",
    BROKEN: "reports places that the string does not have",
    OTHER_OFFSET: "reports another offset",
}


def _unsigned(length: int) -> int:
    return length % (1 << 32)


def _signed(length: int) -> int:
    read = _unsigned(length)
    return read if read < 1 << 31 else 0


_MODELS = {
    "reads only the length modulo 2^32": _unsigned,
    "reads the length as a number of 32 bits with a sign": _signed,
}
"""Sentences, and how many octets such a validator reads."""


def _predicted(plan: Plan, read: Callable[[int], int]) -> dict[Where, int]:
    """The wrong answers of a validator that is right about the octets that it reads."""
    automaton = plan.profile.dialect.automaton
    found: dict[Where, int] = {}
    for number, grid in enumerate(plan.grids):
        for index in range(grid.size):
            octets, (head, *_) = grid.string(index), grid.pieces(index)
            length = len(octets) + grid.between
            many = read(length)
            seen = octets if many == length else head.ljust(many, LETTER)[:many]
            right = automaton.accepts(octets)
            if automaton.accepts(seen) != right:
                found[Where(number, index)] = REFUSED_WELL_FORMED if right else ACCEPTED_ILL_FORMED
    return found


def _observed(kind: int, text: str) -> Observation:
    if kind in (REFUSED_WELL_FORMED, OTHER_OFFSET):
        return Refused(int(text) if text.isdecimal() else None)
    if kind == BROKEN:
        return Failed(text)
    if kind == CRASHED:
        return Crashed(text)
    return TimedOut(0) if kind == TIMED_OUT else Accepted(None)
