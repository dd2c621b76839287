"""The report of a campaign in a terminal: a verdict, a block for each finding, and what ran.

The blocks and the verdict are those of ``conformance/report``. The campaign itself supplies facts that no file holds.
"""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.report.found import block, inputs
from overlong.conformance.report.text import SHOWN
from overlong.conformance.report.wording import Glyphs, verdict_of_campaign
from overlong.conformance.results.headline import State, state_of
from overlong.conformance.results.invocation import Given, replay_found
from overlong.conformance.results.model import INPUTS, Report, ReportKind, Standing, Subject, failing_claims
from overlong.conformance.results.reading.campaign import cause_of_stored
from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.support.provenance import generator
from overlong.conformance.support.quantities import lasting
from overlong.fuzz.campaign.written import finding_as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.campaign.status import Status
    from overlong.fuzz.campaign.stored import StoredFinding

_NAME = 400
"""The most characters of a target's name to show."""


class Found(Given, Protocol):
    """One cause, with an input that shows it: the source of regression tests and vectors."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def observed(self) -> str: ...
    @property
    def is_difference(self) -> bool: ...


def report_of_status(status: Status, folder: str) -> Report:
    """The report of a campaign so far; ``folder``: its name in commands."""
    causes = [(each.target, cause_of_stored(finding_as_json(each), status.profile.name, folder))
              for each in status.findings]  # fmt: skip
    waits = status.faults_wait and not any(cause.standing is Standing.UNEXPECTED for _, cause in causes)
    subjects: list[Subject] = []
    for target in status.targets:
        mine = tuple(cause for of, cause in causes if of == target)
        state = state_of(failing_claims({}, mine), held=True, incomplete=waits)
        subjects.append(
            Subject(
                id=target,
                state=state if status.inputs else State.NOT_MEASURED,
                profile=status.profile.name,
                causes=mine,
                recorded={INPUTS: thousands(status.inputs)},
            )
        )
    return Report(kind=ReportKind.FUZZ, title="", generator=generator(), subjects=tuple(subjects))


def summary(report: Report, status: Status, folder: str, *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the report without styles; only commands are wider than ``width``."""
    dot = f" {Glyphs(encoding).dot} "
    yield from textwrap.wrap(verdict_of_campaign(report), width, subsequent_indent="  ")
    yield dot.join((status.profile.name, f"engine {printable(status.engine)}", f"seed {status.seed}"))
    for target in status.targets:
        yield from textwrap.wrap(printable(target, _NAME), width, initial_indent="  ", subsequent_indent="    ")
    yield ""
    faults, differences = apart(status.findings)
    for stored in (*faults, *differences)[:SHOWN]:
        yield from lines_of_stored(stored, status.profile, folder, width)
        yield ""
    if (more := len(status.findings) - SHOWN) > 0:
        yield f"and {more} more: overlong finding list {printable(folder, 1000)}"
        yield ""
    yield from _what_ran(status, dot, width)
    for note in status.notes:
        yield from textwrap.wrap(f"note: {printable(note)}", width, subsequent_indent="  ")


def apart(findings: Iterable[StoredFinding]) -> tuple[list[StoredFinding], list[StoredFinding]]:
    """Faults, and differences between targets that are no faults."""
    found = list(findings)
    return [each for each in found if not each.is_difference], [each for each in found if each.is_difference]


def lines_of_stored(stored: StoredFinding, profile: Profile, folder: str, width: int) -> Iterator[str]:
    """The lines on one finding; the last is the command that explains it."""
    further = [("explain", explain_command(stored, folder))]
    if stored.is_difference:
        further.insert(0, ("compare", replay_found(stored, stored.id, stored.peer, profile, folder)))
    cause = cause_of_stored(finding_as_json(stored), profile.name, folder)
    return block(cause, stored.target, width, further)


def explain_command(stored: Found, folder: str) -> str:
    """The command that explains a finding."""
    return shlex.join(["overlong", "explain", folder, stored.id])


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
