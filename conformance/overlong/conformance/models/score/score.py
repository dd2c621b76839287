"""The score of a list: applies every mutation operator to every string, once."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from overlong.conformance.models.score.cover import Cover, find_cover
from overlong.conformance.models.score.coverage import Coverage
from overlong.conformance.models.score.expectations import NOTHING_SAID, ReadError, WrongExpectation, wrong_expectations
from overlong.conformance.models.score.files import AUTO, entries
from overlong.conformance.models.score.historical import HistoricalFaults, StreamFaults
from overlong.conformance.models.score.models import STREAMS
from overlong.conformance.models.score.mutation import Specimen
from overlong.conformance.models.score.outputs import ScalarFaults, ShapeFaults, StepFaults
from overlong.conformance.models.score.transitions import TransitionFaults, state_names
from overlong.conformance.support.printable import printable
from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.models.score.expectations import ScoreEntry
    from overlong.conformance.models.score.mutation import MutationOperator

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
    run = _Run()
    for path in paths:
        for entry in entries(path, form, run.skipped.append):
            run.add(entry)
            if run.read % 1000 == 0:
                progress("read", run.read)
    if not run.read:
        why = "".join(f" ({each})" for each in run.skipped[:1])
        raise EmptyList(f"{', '.join(map(printable, paths))}: no string to measure{why}")
    return run.result(paths, progress)


class _Run:
    """The state of a pass over the strings."""

    def __init__(self) -> None:
        self.transitions = TransitionFaults(dialect().automaton)
        self.historical = HistoricalFaults()
        self.scalars, self.shapes, self.steps = ScalarFaults(), ShapeFaults(), StepFaults()
        self.operators: tuple[MutationOperator, ...] = (
            self.transitions, self.historical, self.scalars, self.shapes, self.steps,
        )  # fmt: skip
        self.streams = StreamFaults()
        self.coverage = Coverage()
        self.skipped: list[str] = []
        self.wrong: list[WrongExpectation] = []
        self.wrong_count = self.read = self.with_verdict = 0
        self.seen = set[bytes]()

    def add(self, entry: ScoreEntry) -> None:
        """Measure an entry; for a repeated string, judge only its expectations."""
        octets = entry.octets
        self.read += 1
        key = octets if len(octets) <= _SHORT else hashlib.sha256(octets).digest() + b"#"
        new = key not in self.seen
        specimen = Specimen(octets) if new or entry.expected != NOTHING_SAID else None
        if specimen is not None and entry.expected != NOTHING_SAID:
            self.with_verdict += entry.expected.accept is not None
            for wrong in wrong_expectations(entry, specimen):
                self.wrong_count += 1
                if len(self.wrong) < KEPT:
                    self.wrong.append(wrong)
        if entry.chunks is not None:
            self.streams.add(octets, entry.chunks)
        if new and specimen is not None:
            self.seen.add(key)
            for operator in self.operators:
                if shown := operator.shown(specimen):
                    operator.kill(shown)
            self.coverage.add(specimen)

    def result(self, paths: tuple[str, ...], progress: Callable[[str, int], None]) -> Score:
        def kills(operator: MutationOperator, missed: tuple[str, ...]) -> Kills:
            return Kills(operator.total - operator.live, operator.total, missed)

        coverage, streams = self.coverage, self.streams
        alternatives = tuple(map(str, coverage.untouched_alternatives))
        boundaries = tuple(map(str, coverage.untouched_boundaries))
        return Score(
            names=paths,
            strings=len(self.seen),
            read=self.read,
            with_verdict=self.with_verdict,
            transitions=kills(self.transitions, tuple(self._missed_transitions())),
            historical=kills(self.historical, self.historical.missed),
            streams=Kills(len(STREAMS) - len(streams.missed), len(STREAMS), tuple(streams.missed))
            if streams.measured
            else None,
            scalars=kills(self.scalars, self.scalars.missed),
            shapes=kills(self.shapes, self.shapes.missed),
            steps=kills(self.steps, self.steps.missed),
            alternatives=Kills(
                len(coverage.alternatives) - len(alternatives), len(coverage.alternatives), alternatives
            ),
            boundaries=Kills(coverage.boundaries - len(boundaries), coverage.boundaries, boundaries),
            wrong=tuple(self.wrong),
            wrong_count=self.wrong_count,
            skipped=tuple(self.skipped),
            to_add=find_cover(self.operators, lambda done: progress("covered", done)),
        )

    def _missed_transitions(self) -> list[str]:
        """``[E0] A0 to start dead``: each transition with live faults, and each state in which no string ends."""
        names = state_names(dialect().automaton)
        lines = [
            f"{names[state]} {octet:02X} to {' '.join(names[to] for to in targets)}"
            for state, octet, targets in self.transitions.missed
        ]
        return lines + [f"{names[state]} at the end" for state in self.transitions.missed_flips]
