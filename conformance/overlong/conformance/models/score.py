"""The score of a list of test strings: the share of wrong decoders that it catches, and the vectors that it lacks.

>>> from overlong.conformance.models.score import score
>>> score("mine.txt").transitions.caught
3836

The missing vectors are a set cover. Finding the smallest set is NP-hard, so this finds a small one, and proves how far
from the smallest it may be. It takes first the vectors that alone show some fault, since every set has them. Then it is
greedy: it always adds the vector that shows the most remaining faults. Last it removes vectors that the others made
superfluous. The bound is a number of faults of which no vector shows two: a set needs a vector for each.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING, Any

from overlong.conformance.models.faults import (
    Faults,
    Specimen,
    scalar_faults,
    shape_faults,
    step_faults,
    transition_faults,
    untouched_alternatives,
    untouched_boundaries,
)
from overlong.conformance.models.historical import STREAMS, WHOLE, faults_of
from overlong.conformance.models.list_files import AUTO, entries
from overlong.conformance.models.list_forms import ReadError
from overlong.conformance.support.printable import code_points, printable, spaced_hex
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import dialect
from overlong.reference.decoder import fold
from overlong.reference.error_mode import REPLACEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from overlong.conformance.models.list_forms import ScoreEntry
    from overlong.conformance.vectors.vector import Vector


SCHEMA = "overlong/report-1"

KEPT = 1000
"""The number of wrong expectations that are kept; the rest are only counted."""

CANDIDATES = ("core", "complete-0")
"""The suites of the proposed vectors."""

_SHORT = 32  # the most octets of a string that is remembered as such, not by its digest


@dataclass(frozen=True)
class Score:
    """The score of a list of strings. It counts faults; a fault is caught if some string shows it."""

    names: tuple[str, ...]
    """The names of the files, as the user wrote them."""
    strings: int
    """Different strings."""
    read: int
    """The number of strings, duplicates included."""
    with_verdict: int
    """The number of strings with a verdict."""
    transitions: Faults
    historical: Faults
    """Classes that whole strings can show."""
    streams: Faults | None
    """Classes that only chunks can show; None if the list has no chunks."""
    scalars: Faults
    shapes: Faults
    steps: Faults
    alternatives: Faults
    boundaries: Faults
    wrong: tuple[WrongExpectation, ...]
    """The first of the wrong expectations."""
    wrong_count: int
    skipped: tuple[str, ...]
    """A line about each unread file, with the reason."""
    to_add: tuple[Vector, ...]
    """Vectors of overlong that would show the rest."""
    at_least: int
    """No set of overlong's vectors that shows the same faults has fewer."""
    out_of_reach: int
    """Faults that none of these vectors shows."""

    @property
    def outputs(self) -> tuple[Faults, ...]:
        """All kinds of output faults."""
        return self.scalars, self.shapes, self.steps

    def lines_to_add(self) -> Iterator[str]:
        """The text of ``--add``: octets, verdict, id and comment, separated by tabs. ``score`` reads it back."""
        for vector in self.to_add:
            verdict = "reject" if vector.flaw else "accept"
            yield f"{vector.octets.hex()}\t{verdict}\t{vector.id}\t{vector.comment}".rstrip() + "\n"

    def to_json(self) -> dict[str, Any]:
        """The score as plain data: ``docs/score.md`` describes it."""

        def kills(part: Faults) -> dict[str, Any]:
            return {"caught": part.caught, "total": part.total, "missed": list(part.missed), "percent": part.percent}

        return {
            "schema": SCHEMA,
            "files": list(self.names),
            "strings": self.strings,
            "read": self.read,
            "with_verdict": self.with_verdict,
            "single_transition_faults": kills(self.transitions),
            "historical_faults": kills(self.historical),
            "stream_faults": None if self.streams is None else kills(self.streams),
            "output_faults": {
                "scalars": kills(self.scalars), "shapes": kills(self.shapes), "steps": kills(self.steps),
            },
            "alternatives": kills(self.alternatives),
            "boundaries": kills(self.boundaries),
            "wrong_expectations": {"count": self.wrong_count, "first": [each.to_json() for each in self.wrong]},
            "skipped": list(self.skipped),
            "to_add": {
                "vectors": [vector.id for vector in self.to_add],
                "at_least": self.at_least,
                "out_of_reach": self.out_of_reach,
            },
        }  # fmt: skip


def score(*paths: str, form: str = AUTO, progress: Callable[[str, int], None] = lambda _, __: None) -> Score:
    """Measure the strings of all ``paths`` together.

    Args:
        paths: files, folders, or ``-`` for standard input.
        form: their form, one of :data:`~overlong.conformance.models.list_files.FORMATS`.
        progress: called now and then with the current work and its number of strings.

    Raises:
        ReadError: a file cannot be read; or holds no string; the message is one line with file and place.
    """
    transitions = transition_faults(dialect().automaton)
    historical = faults_of(WHOLE)
    scalars, shapes, steps = scalar_faults(), shape_faults(), step_faults()
    to_cover = (transitions, historical, scalars, shapes, steps)
    alternatives, boundaries = untouched_alternatives(), untouched_boundaries()
    streams, in_chunks = faults_of(STREAMS), False
    skipped: list[str] = []
    wrong: list[WrongExpectation] = []
    wrong_count = read = with_verdict = 0
    seen = set[bytes]()
    for entry in chain.from_iterable(entries(path, form, skipped.append) for path in paths):
        octets, expects = entry.octets, entry.expects
        read += 1
        key = octets if len(octets) <= _SHORT else hashlib.sha256(octets).digest() + b"#"
        new = key not in seen
        if new or expects:
            specimen = Specimen(octets)
            if expects:
                with_verdict += entry.accept is not None
                found = list(wrong_expectations(entry, specimen))
                wrong_count += len(found)
                wrong += found[: KEPT - len(wrong)]
            if new:
                seen.add(key)
                for faults in (*to_cover, alternatives, boundaries):
                    faults.take(specimen)
        if entry.chunks is not None:
            in_chunks = True
            streams.take(Specimen(octets, entry.chunks))
        if read % 1000 == 0:
            progress("read", read)
    if not read:
        why = "".join(f" ({each})" for each in skipped[:1])
        raise ReadError(f"{', '.join(map(printable, paths))}: no string to measure{why}")
    to_add, at_least, out_of_reach = find_cover(to_cover, lambda done: progress("covered", done))
    return Score(
        names=paths,
        strings=len(seen),
        read=read,
        with_verdict=with_verdict,
        transitions=transitions,
        historical=historical,
        streams=streams if in_chunks else None,
        scalars=scalars,
        shapes=shapes,
        steps=steps,
        alternatives=alternatives,
        boundaries=boundaries,
        wrong=tuple(wrong),
        wrong_count=wrong_count,
        skipped=tuple(skipped),
        to_add=to_add,
        at_least=at_least,
        out_of_reach=out_of_reach,
    )


def find_cover(kinds: Sequence[Faults], progress: Callable[[int], None]) -> tuple[tuple[Vector, ...], int, int]:
    """Vectors that show the faults of these kinds that are still live.

    Returns:
        the vectors; a lower bound for their number; and the number of faults that none of ours shows.
    """
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
    vectors = tuple(candidates[number] for number in sorted(chosen))
    return vectors, lower_bound(shows), live - len(_members(shows))


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


@dataclass(frozen=True)
class WrongExpectation:
    """An expectation of a list that differs from a correct decoder's answer."""

    place: str
    octets: bytes
    what: str
    said: str
    right: str

    def __str__(self) -> str:
        return f"{self.place}: {spaced_hex(self.octets)}: {self.what} {self.said}, must be {self.right}"

    def to_json(self) -> dict[str, Any]:
        """The expectation as plain data."""
        return {
            "place": self.place, "hex": self.octets.hex(), "what": self.what, "said": self.said, "right": self.right,
        }  # fmt: skip


def wrong_expectations(entry: ScoreEntry, specimen: Specimen) -> Iterator[WrongExpectation]:
    """The wrong expectations of an entry. A wrong verdict is reported alone: the rest follows from it."""

    def wrong(what: str, said: str, must: str) -> WrongExpectation:
        return WrongExpectation(entry.place, entry.octets, what, said, must)

    if entry.accept is not None and entry.accept != specimen.accepted:
        yield wrong("verdict", _verdict(entry.accept), _verdict(specimen.accepted))
        return
    if entry.scalars is not None and entry.scalars != specimen.scalars:
        must = "a refusal" if specimen.scalars is None else code_points(specimen.scalars)
        yield wrong("scalars", code_points(entry.scalars), must)
    flaw = specimen.flaw
    for what in ("offset", "length", "incomplete"):
        said, right = getattr(entry, what), None if flaw is None else getattr(flaw, what)
        if said is not None and said != right:
            yield wrong(what, str(said), "none: it is well-formed" if right is None else str(right))
    if entry.replaced is not None:
        replaced = tuple(fold(specimen.octets, REPLACEMENT))
        if entry.replaced != replaced:
            yield wrong("replacement", code_points(entry.replaced), code_points(replaced))


def _verdict(accept: bool) -> str:  # noqa: FBT001 (a verdict is a Boolean)
    return "accept" if accept else "reject"
