"""The smallest set of our vectors that shows what a list leaves: set cover, with a bound from below.

Finding the smallest set is hard (NP), so this finds a small one and proves how far from the smallest it may be.
First the vectors that alone show some fault: every set has them. Then greed: always the vector that shows most
of what is left. Then those that the others made superfluous are taken out again. The bound: faults of which no
vector shows two. A set needs a vector for each.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from overlong.conformance.models.score.mutation import Specimen
from overlong.conformance.vectors.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from overlong.conformance.models.score.mutation import MutationOperator
    from overlong.conformance.vectors.vector import Vector

CANDIDATES = ("core", "complete-0")
"""Suites whose vectors are proposed."""


@dataclass(frozen=True)
class Cover:
    """Vectors to add. No set of our vectors that shows the same has fewer than ``at_least``."""

    vectors: tuple[Vector, ...]
    at_least: int
    out_of_reach: int
    """Faults that none of our vectors shows."""

    def lines(self) -> Iterator[str]:
        """What ``--add`` writes: octets, verdict, id and comment, parted by tabs. ``score`` reads it back."""
        for vector in self.vectors:
            verdict = "reject" if vector.flaw else "accept"
            yield f"{vector.octets.hex()}\t{verdict}\t{vector.id}\t{vector.comment}".rstrip() + "\n"


def find_cover(operators: Sequence[MutationOperator], progress: Callable[[int], None] = lambda _: None) -> Cover:
    """Vectors of ours that show the faults that still live in ``measures``."""
    candidates: list[Vector] = []
    shows: list[frozenset[Hashable]] = []
    live = sum(operator.live for operator in operators)
    if live:
        seen = set[bytes]()
        for done, vector in enumerate(vector for name in CANDIDATES for vector in SUITES[name].vectors()):
            if done % 1000 == 0:
                progress(done)
            if vector.octets in seen:
                continue
            seen.add(vector.octets)
            specimen = Specimen(vector.octets)
            found = frozenset(
                (number, fault) for number, operator in enumerate(operators) for fault in operator.shown(specimen)
            )
            if found:
                candidates.append(vector)
                shows.append(found)
    chosen = small_cover(shows)
    return Cover(
        tuple(candidates[number] for number in sorted(chosen)),
        lower_bound(shows),
        live - len(_members(shows)),
    )


def small_cover(sets: Sequence[AbstractSet[Hashable]]) -> list[int]:
    """Numbers of few sets with the union of all."""
    members = _members(sets)
    chosen = {holders[0] for holders in members.values() if len(holders) == 1}
    left = set(members).difference(*(sets[number] for number in chosen))
    # gains only shrink, so the greatest that was computed last is the greatest if it did not shrink since
    heap = [(-len(each), number) for number, each in enumerate(sets) if number not in chosen]
    heapify(heap)
    while left:
        stale, number = heappop(heap)
        gain = len(left & sets[number])
        if -stale == gain:
            chosen.add(number)
            left -= sets[number]
        elif gain:
            heappush(heap, (-gain, number))
    return _pruned(chosen, sets)


def _pruned(chosen: AbstractSet[int], sets: Sequence[AbstractSet[Hashable]]) -> list[int]:
    """The chosen without those whose members others have; the smallest are tried first."""
    times: dict[Hashable, int] = defaultdict(int)
    for number in chosen:
        for member in sets[number]:
            times[member] += 1
    kept = set(chosen)
    for number in sorted(chosen, key=lambda number: (len(sets[number]), -number)):
        if all(times[member] > 1 for member in sets[number]):
            kept.remove(number)
            for member in sets[number]:
                times[member] -= 1
    return sorted(kept)


def lower_bound(sets: Sequence[AbstractSet[Hashable]]) -> int:
    """How many sets any choice with the union of all must have, at least.

    Counts members of which no set has two, those first that exclude the fewest others.
    """
    members = _members(sets)
    excludes = {member: sum(len(sets[number]) for number in holders) for member, holders in members.items()}
    used = set[int]()
    bound = 0
    for member in sorted(members, key=lambda member: (excludes[member], members[member])):
        if used.isdisjoint(members[member]):
            used.update(members[member])
            bound += 1
    return bound


def _members(sets: Sequence[AbstractSet[Hashable]]) -> Mapping[Hashable, list[int]]:
    """For each member the sets that have it."""
    result: dict[Hashable, list[int]] = defaultdict(list)
    for number, each in enumerate(sets):
        for member in each:
            result[member].append(number)
    return result
