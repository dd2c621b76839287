"""The score of a list: which faults of each kind its strings show."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.models.score.cover import Cover, find_cover
from overlong.conformance.models.score.expectations import NOTHING_SAID, ReadError, WrongExpectation, wrong_expectations
from overlong.conformance.models.score.faults import Faults, Specimen
from overlong.conformance.models.score.files import AUTO, entries
from overlong.conformance.models.score.historical import STREAMS, WHOLE, faults_of
from overlong.conformance.models.score.outputs import scalar_faults, shape_faults, step_faults
from overlong.conformance.models.score.transitions import (
    state_names,
    transition_faults,
    untouched_alternatives,
    untouched_boundaries,
)
from overlong.conformance.support.printable import printable
from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SCHEMA = "overlong/report-1"

KEPT = 1000
"""The number of wrong expectations that are kept; the rest are only counted."""

_SHORT = 32  # the most octets of a string that is remembered as such, not by its digest


class EmptyList(ReadError):
    """The named files hold no string, so there is nothing to measure."""


@dataclass(frozen=True)
class Kills:
    """Faults of one kind: their number, the number that strings show, and the names of the others."""

    caught: int
    total: int
    missed: tuple[str, ...] = ()

    @property
    def percent(self) -> float:
        """The percentage of caught faults, rounded down, so that 100 means all."""
        return 1000 * self.caught // self.total / 10


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
    transitions: Kills
    historical: Kills
    """Classes that whole strings can show."""
    streams: Kills | None
    """Classes that only chunks can show; None if the list has no chunks."""
    scalars: Kills
    shapes: Kills
    steps: Kills
    alternatives: Kills
    boundaries: Kills
    wrong: tuple[WrongExpectation, ...]
    """The first of the wrong expectations."""
    wrong_count: int
    skipped: tuple[str, ...]
    """A line about each unread file, with the reason."""
    to_add: Cover
    """Vectors of overlong that would show the rest."""

    @property
    def outputs(self) -> Kills:
        """All output faults together."""
        parts = (self.scalars, self.shapes, self.steps)
        return Kills(sum(part.caught for part in parts), sum(part.total for part in parts))

    def to_json(self) -> dict[str, Any]:
        """The score as plain data: ``docs/score.md`` describes it."""

        def kills(part: Kills) -> dict[str, Any]:
            return {**asdict(part), "percent": part.percent}

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
                "vectors": [vector.id for vector in self.to_add.vectors],
                "at_least": self.to_add.at_least,
                "out_of_reach": self.to_add.out_of_reach,
            },
        }  # fmt: skip


def score(*paths: str, form: str = AUTO, progress: Callable[[str, int], None] = lambda _, __: None) -> Score:
    """Measure the strings of all ``paths`` together.

    Args:
        paths: files, folders, or ``-`` for standard input.
        form: their form, one of :data:`~overlong.conformance.models.score.files.FORMATS`.
        progress: called now and then with the current work and its number of strings.

    Raises:
        ReadError: a file cannot be read; the message is one line with file and place.
        EmptyList: the files hold no string.
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
        octets, expects = entry.octets, entry.expected != NOTHING_SAID
        read += 1
        key = octets if len(octets) <= _SHORT else hashlib.sha256(octets).digest() + b"#"
        new = key not in seen
        if new or expects:
            specimen = Specimen(octets)
            if expects:
                with_verdict += entry.expected.accept is not None
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
        raise EmptyList(f"{', '.join(map(printable, paths))}: no string to measure{why}")
    return Score(
        names=paths,
        strings=len(seen),
        read=read,
        with_verdict=with_verdict,
        transitions=_kills(transitions, tuple(_missed_transitions(transitions))),
        historical=_kills(historical),
        streams=_kills(streams) if in_chunks else None,
        scalars=_kills(scalars),
        shapes=_kills(shapes),
        steps=_kills(steps),
        alternatives=_kills(alternatives),
        boundaries=_kills(boundaries),
        wrong=tuple(wrong),
        wrong_count=wrong_count,
        skipped=tuple(skipped),
        to_add=find_cover(to_cover, lambda done: progress("covered", done)),
    )


def _kills(faults: Faults, missed: tuple[str, ...] | None = None) -> Kills:
    return Kills(faults.total - len(faults.live), faults.total, faults.missed if missed is None else missed)


def _missed_transitions(faults: Faults) -> Iterator[str]:
    """``[E0] A0 to start dead``: each transition with live faults, and each state in which no string ends."""
    names = state_names(dialect().automaton)
    live = cast("Iterable[tuple[int, ...]]", faults.live)
    for (state, *octet), mutants in groupby(live, key=lambda fault: fault[:2]):
        if octet:
            yield f"{names[state]} {octet[0]:02X} to {' '.join(names[to] for *_, to in mutants)}"
        else:
            yield f"{names[state]} at the end"
