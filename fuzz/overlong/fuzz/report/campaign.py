"""The report of a campaign in a terminal: a verdict, a block for each finding, and what ran.

The blocks and the verdict are those of ``conformance/report``. The campaign itself supplies facts that no file holds.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.report.text import SHOWN, inputs, is_difference
from overlong.conformance.report.wording import Glyphs, verdict_of_campaign
from overlong.conformance.results.model import (
    INPUTS,
    Report,
    ReportKind,
    Standing,
    State,
    Subject,
    failing_claims,
    state_of,
)
from overlong.conformance.results.reading import cause_of_stored
from overlong.conformance.support.printable import lasting, printable, thousands
from overlong.conformance.support.provenance import generator
from overlong.fuzz.report.findings import Found, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.fuzz.campaign.state import Status, StoredFinding

_NAME = 400
"""The most characters of a target's name to show."""


def found_of(stored: StoredFinding, profile: str, folder: str) -> Found:
    """A finding as a report has it; ``folder``: the campaign's name in commands."""
    cause = cause_of_stored(stored.as_json(), profile, folder)
    return Found(**vars(cause), target=stored.target, measured_by=profile)


def report_of_status(status: Status, folder: str) -> Report:
    """The report of a campaign so far; ``folder``: its name in commands."""
    causes = [found_of(each, status.job.profile.name, folder) for each in status.findings]
    waits = status.faults_wait and not any(cause.standing is Standing.UNEXPECTED for cause in causes)
    subjects: list[Subject] = []
    for target in status.job.names:
        mine = tuple(cause for cause in causes if cause.target == target)
        state = state_of(failing_claims({}, mine), held=True, incomplete=waits)
        subjects.append(
            Subject(
                id=target,
                state=state if status.inputs else State.NOT_MEASURED,
                profile=status.job.profile.name,
                causes=mine,
                recorded={INPUTS: thousands(status.inputs)},
            )
        )
    return Report(kind=ReportKind.FUZZ, title="", generator=generator(), subjects=tuple(subjects))


def summary(report: Report, status: Status, folder: str, *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the report without styles; only commands are wider than ``width``."""
    dot = f" {Glyphs(encoding).dot} "
    yield from textwrap.wrap(verdict_of_campaign(report), width, subsequent_indent="  ")
    yield dot.join((status.job.profile.name, f"engine {printable(status.job.engine)}", f"seed {status.job.seed}"))
    for target in status.job.names:
        yield from textwrap.wrap(printable(target, _NAME), width, initial_indent="  ", subsequent_indent="    ")
    yield ""
    causes = [found_of(each, status.job.profile.name, folder) for each in status.findings]
    for cause in sorted(causes, key=is_difference)[:SHOWN]:
        yield from lines_of(cause, folder, width)
        yield ""
    if (more := len(causes) - SHOWN) > 0:
        yield f"and {more} more: overlong finding list {printable(folder, 1000)}"
        yield ""
    yield from _what_ran(status, dot, width)
    for note in status.notes:
        yield from textwrap.wrap(f"note: {printable(note)}", width, subsequent_indent="  ")


def kind_of(stored: StoredFinding) -> str:
    """``OV201 accepts C0 AF at offset 17 or more``; the title if it was not examined. A difference has no code."""
    what = stored.why.sentence if stored.why is not None else stored.title
    return printable(what if stored.is_difference else f"{stored.code} {what}")


def _what_ran(status: Status, dot: str, width: int) -> Iterator[str]:
    """Figures side by side, each on one line."""
    seconds = status.earlier + status.seconds
    reached, everything = status.edges
    row = inputs(status.inputs)
    for part in (
        f"{thousands(status.executions)} executions",
        f"corpus {thousands(status.corpus)}",
        f"reference edges {thousands(reached)} of {thousands(everything)}",
        *([f"target edges {thousands(status.coverage)}"] if status.coverage else []),
        f"{seconds:.1f} s" if seconds < 60 else lasting(seconds),
    ):
        if len(row) + len(dot) + len(part) > width:
            yield row
            row = f"  {part}"
        else:
            row += dot + part
    yield row
