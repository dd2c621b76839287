"""A small set of overlong's vectors that catches the faults a list misses: set cover, with a lower bound.

Finding the smallest set is NP-hard, so this finds a small one, and proves how far from the smallest it may be.
It takes first the vectors that alone show some fault, since every set has them. Then it is greedy: it always adds the
vector that shows the most remaining faults. Last it removes vectors that the others made superfluous. The bound is a
number of faults of which no vector shows two: a set needs a vector for each.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from overlong.conformance.models.score.faults import Specimen
from overlong.conformance.vectors.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from overlong.conformance.models.score.faults import Faults
    from overlong.conformance.vectors.vector import Vector

CANDIDATES = ("core", "complete-0")
"""The suites of the proposed vectors."""


@dataclass(frozen=True)
class Cover:
    """Vectors to add. No set of overlong's vectors that shows the same faults has fewer than ``at_least``."""

    vectors: tuple[Vector, ...]
    at_least: int
    out_of_reach: int
    """Faults that none of these vectors shows."""

    def lines(self) -> Iterator[str]:
        """The text of ``--add``: octets, verdict, id and comment, separated by tabs. ``score`` reads it back."""
        for vector in self.vectors:
            verdict = "reject" if vector.flaw else "accept"
            yield f"{vector.octets.hex()}\t{verdict}\t{vector.id}\t{vector.comment}".rstrip() + "\n"


def find_cover(kinds: Sequence[Faults], progress: Callable[[int], None] = lambda _: None) -> Cover:
    """Vectors that show the faults of these kinds that are still live."""
    candidates: list[Vector] = []
    shows: list[frozenset[Hashable]] = []
    live = sum(len(faults.live) for faults in kinds)
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
                (number, fault) for number, faults in enumerate(kinds) for fault in faults.shown(specimen)
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
    """The indices of few sets that have the union of all."""
    members = _members(sets)
    chosen = {holders[0] for holders in members.values() if len(holders) == 1}
    left = set(members).difference(*(sets[number] for number in chosen))
    # gains only shrink, so the head of the heap has the greatest gain if its own did not shrink since it was computed
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
    """The chosen sets, without those whose members all occur in others; the smallest are tried first."""
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
    """A lower bound for the number of sets that have the union of all.

    It counts members of which no set has two, and takes first those that exclude the fewest others.
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
    """For each member the sets that contain it."""
    result: dict[Hashable, list[int]] = defaultdict(list)
    for number, each in enumerate(sets):
        for member in each:
            result[member].append(number)
    return result
