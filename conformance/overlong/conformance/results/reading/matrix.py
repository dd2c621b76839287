"""``matrix.json``: many targets, each with the folder of its results, or with what is known of it if it has none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.model import Report, ReportKind, State, Subject
from overlong.conformance.results.reading.documents import checked
from overlong.conformance.results.reading.recorded import agreeing, cause_of, state_recorded
from overlong.conformance.results.reading.results import report_of_results
from overlong.conformance.results.writer import RESULTS
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def report_of_matrix(data: dict[str, Any], path: Path) -> Report:
    """The report that ``matrix.json`` and the folders beside it give.

    Raises:
        ReportError: it is not as the schema has it, or the results of a target are not.
        ValueError: it contradicts itself.
        OSError: they cannot be read.
    """
    checked(data, "matrix-1", path)
    folders = [folder for row in data["targets"] if (folder := row.get("folder", ""))]
    if len(set(folders)) < len(folders):
        raise ValueError("targets: two have one folder")
    subjects = tuple(_subject(row, path) for row in data["targets"])
    return Report(
        kind=ReportKind.MATRIX,
        title="1 decoder" if len(subjects) == 1 else f"{len(subjects)} decoders",
        generator=data["generator"],
        subjects=subjects,
        environment=data.get("environment", {}),
        time=data.get("time", ""),
        notes=tuple(data.get("notes", ())),
        incomplete=data.get("incomplete", ""),
        source=path.name,
    )


def _subject(row: Mapping[str, Any], path: Path) -> Subject:
    """A target as its results have it; where there are none, or they are of another run, as its row has it."""
    state, folder = State(row["state"]), row.get("folder", "")
    if folder:
        results = path.parent / folder / RESULTS
        if results.is_file():
            subject = report_of_results(results).subjects[0]
            incomplete = State.INCOMPLETE in (state, subject.state)
            same = subject.claims == row["claims"] and not incomplete
            if same or subject.state is state:  # the results are of the same run
                return replace(subject, seconds=row.get("seconds", 0.0), why=subject.why or row["why"])
    causes = tuple(cause_of(bucket, folder=path.parent / folder) for bucket in row["buckets"])
    if state not in (State.INCOMPLETE, State.NOT_MEASURED):
        agreeing(f"the state of {printable(row['target'])}", state, state_recorded(row["claims"], causes))
    return Subject(
        id=row["target"],
        state=state,
        why=row["why"],
        version=row["version"],
        language=row["language"],
        claims=row["claims"],
        set_aside=row.get("set_aside", ""),
        causes=causes,
        restarts=row["restarts"],
        seconds=row.get("seconds", 0.0),
    )
