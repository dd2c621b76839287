"""Asks some strings of each plan of a batched target singly as well: see ``oracle/apart.py``."""

from __future__ import annotations

import random
import zlib
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import can_differ, limits_of, otherwise
from overlong.conformance.oracle.target import AGREES, OTHERWISE, BudgetSpent, TargetError
from overlong.conformance.results.sweeps import DivergentSet, SweepBucket, Where
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.batch import Member
from overlong.conformance.vectors.vector import SWEPT, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.results.sweeps import SweepRun
    from overlong.conformance.sweep.ledger import Ledger
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.framed import FramedTarget

    Again = dict[str, tuple[int, list[tuple[Where, Finding]]]]
    """For each plan, the number of its strings that were asked singly, and those that were wrong."""

_ONE_IN = 1 << 12
_FEWEST, _MOST = 64, 256
"""The least and the most strings of a plan; between these, one in 4096."""
_OCTETS = 1 << 18
"""The most octets of a plan that are tested again: the reference decoder judges each string, at a microsecond an
octet."""


def ask_again(target: FramedTarget, run: SweepRun, plans: Sequence[Plan]) -> Again:
    """Ask some strings of each plan singly, before the sweep asks all of them in batches.

    Args:
        target: open.
        run: the coming sweep.
        plans: its plans.
    """
    if run.in_process or not can_differ(target.greeting):
        return {}
    profile = run.profile.as_said(target.greeting)
    limits = limits_of(target.greeting)
    sampled = [
        (plan.name, where, Member.of(Vector(SWEPT, octets, profile=profile)))
        for plan in plans
        for where, octets in _sample(plan)
        if not any(limit.touches(octets) for limit in limits)
    ]
    asked = Counter(name for name, _, _ in sampled)
    again: Again = {plan.name: (asked[plan.name], []) for plan in plans}
    try:
        for place, finding in otherwise([(member, run.operation) for _, _, member in sampled], target):
            name, where, _ = sampled[place]
            again[name][1].append((where, finding))
    except (BudgetSpent, TargetError):  # the sweep itself reports such failures
        pass
    return again


def add_again(run: SweepRun, again: Again, ledger: Ledger) -> None:
    """Add to the results of a sweep the strings that were right in it and wrong singly."""
    parts = {part.plan: part for part in run.plans}
    for plan, (asked, found) in again.items():
        if plan not in parts or not found:
            continue
        wrong = set(_diverging(ledger, plan, {where for where, _ in found}))
        alike: dict[tuple[str, str], list[tuple[Where, Finding]]] = {}
        for where, finding in found:
            if where not in wrong:
                alike.setdefault(finding.bucket, []).append((where, finding))
        for some in alike.values():
            where, least = min(some, key=lambda each: each[1].order)
            words = f"right among others: some of {thousands(asked)} that were tested again"
            octets, flaw = least.vector.octets, least.vector.flaw
            defect = "" if flaw is None else flaw.defect.code
            parts[plan].kinds[OTHERWISE] += len(some)
            described = DivergentSet(OTHERWISE, len(some), octets, where, defect, words=words)
            run.buckets.append(SweepBucket(plan, described, least))


def _sample(plan: Plan) -> Iterator[tuple[Where, bytes]]:
    """Some strings of a plan, always the same; none that is judged only after an earlier string."""
    grids = [(number, grid) for number, grid in enumerate(plan.grids) if not grid.earlier]
    ends = list(accumulate(grid.size for _, grid in grids))
    if not ends:
        return
    count = min(max(_FEWEST, ends[-1] // _ONE_IN), _MOST, ends[-1])
    chance, octets = random.Random(zlib.crc32(plan.name.encode())), 0  # noqa: S311 (no secret)
    for place in chance.sample(range(ends[-1]), count):
        at = bisect_right(ends, place)
        number, grid = grids[at]
        index = place - (ends[at] - grid.size)
        string = grid.string(index)
        if octets + len(string) <= _OCTETS:
            octets += len(string)
            yield Where(number, index), string


def _diverging(ledger: Ledger, plan: str, places: set[Where]) -> Iterator[Where]:
    """The places, among some, whose strings also diverge in the sweep, or were skipped by it."""
    for entry in ledger.entries(plan):
        shard = entry.result.shard
        if entry.result.kinds:
            kinds = zlib.decompress(entry.result.kinds)
            for where in places:
                inside = where.index - shard.first
                if where.grid == shard.grid and 0 <= inside < shard.count and kinds[inside] != AGREES:
                    yield where
