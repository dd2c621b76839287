"""Campaigns and findings as text: findings of any run by id, from the files that it wrote; the report of a campaign,
and what its run shows on stderr. Nothing here asks a target.

The blocks and the verdict are those of ``conformance/report``. The campaign itself supplies facts that no file holds.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from overlong.conformance.cli.options import width
from overlong.conformance.cli.output import coloured
from overlong.conformance.oracle.finding import explain_code, explain_octets
from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.protocol.wire import ASK, ASKING, ENCODING, QUESTION
from overlong.conformance.report.text import SHOWN, block, core, inputs, is_difference, lines_of_cause
from overlong.conformance.report.wording import (
    Glyphs,
    command_lines,
    given,
    state_of_campaign,
    verdict_of_campaign,
    words_of_campaign,
)
from overlong.conformance.results.invocation import replay_found, spelled
from overlong.conformance.results.model import (
    INPUTS,
    PEER,
    SENTENCE,
    STABLE,
    Cause,
    Report,
    ReportKind,
    Standing,
    State,
    Subject,
    failing_claims,
    state_of,
)
from overlong.conformance.results.reading import cause_of_stored, plain, read
from overlong.conformance.results.records import ReportError
from overlong.conformance.support.printable import counted, lasting, printable, spaced_hex, thousands
from overlong.conformance.support.provenance import generator
from overlong.conformance.vectors.expected import words_of
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.state import REPETITIONS, STATEMENT
from overlong.reference import DEFECTS, DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.fuzz.campaign.state import Status, StoredFinding

_NAMED = 4
"""The most findings that an error names."""
_OPEN = (
    "A difference is no fault: RFC 3629 allows both answers. But two programs that read the same octets with these "
    "targets get different results; if the programs must agree, their specification has to choose."
)
_UNSTABLE = (
    "The finding did not recur in every fresh process: some state outlives a call, or the target reads beyond its "
    "input. Run the input many times; under a sanitizer if the target is native code."
)


@dataclass(frozen=True, kw_only=True)
class Found(Cause):
    """A finding of a report; all text comes from the file, and may be hostile."""

    target: str
    measured_by: str = "rfc3629@1"
    """The name of the target's profile."""
    language: str = ""
    """The target's language by its greeting, if known."""

    @property
    def where(self) -> str:
        """When it shows if that is known, else its place; may be empty."""
        return dict(self.more).get(SENTENCE) or self.place

    @property
    def profile(self) -> Profile:
        """What its target was measured by.

        Raises:
            CampaignError: the report is of another version.
        """
        speaks = self.measured_by.partition("@")[0]
        if speaks not in DIALECTS:
            raise CampaignError(
                f"{printable(self.id)}: measured by {printable(speaks, 40)}, a dialect that is not known here; "
                "update overlong"
            )
        return Profile(speaks)


def findings_in(folder: Path | str) -> list[Found]:
    """The findings of a run, in the order of its report.

    Args:
        folder: the folder of a run of certify, matrix, sweep or fuzz; or a file of its results.

    Raises:
        CampaignError: there is no such run, or it cannot be read.
    """
    folder = Path(folder)
    shown = printable(str(folder))
    try:
        if not folder.exists():
            raise CampaignError(f"{shown}: no such folder; name that of a run of certify, matrix, sweep or fuzz")
        report = read([folder])
    except ReportError as error:
        raise CampaignError(str(error)) from None
    except OSError as error:
        raise CampaignError(f"{shown}: {error.strerror}; name the folder of another run") from error
    if report.kind is ReportKind.DIFF:
        raise CampaignError(f"{shown}: a diff; name the folder of one of its sides")
    found: dict[tuple[str, str], Found] = {}
    for subject in report.subjects:
        for cause in subject.causes:  # several plans may show the same string
            of = Found(**vars(cause), target=subject.id, measured_by=subject.profile, language=subject.language)
            found.setdefault((subject.id, cause.id), of)
    return list(found.values())


def finding_named(folder: Path | str, name: str) -> Found:
    """The finding of an id, of a unique beginning of one (``D-7f3a``), or of a vector's id (``overlong/c0ae``).

    Raises:
        CampaignError: there is no finding, none of that name, or more than one.
    """
    found = findings_in(folder)
    shown, where = printable(name, 40), printable(str(folder))
    wanted = name if name[:2].upper() == "D-" else f"D-{name}"
    wanted = f"D-{wanted[2:].lower()}"
    fitting = [each for each in found if each.id.startswith(wanted)] if name else []
    fitting = fitting or [each for each in found if each.vector == name]
    if len(fitting) == 1:
        return fitting[0]
    ids = list(dict.fromkeys(printable(each.id, 40) for each in fitting))
    if len(ids) > 1:
        raise CampaignError(f"{where}: {shown} stands for {', '.join(ids[:_NAMED])}; write one of them")
    if ids:
        targets = ", ".join(printable(each.target, 60) for each in fitting[:_NAMED])
        raise CampaignError(f"{where}: {shown} was found in {targets}; name the folder of one of these")
    there = [printable(each.id, 40) for each in found[:_NAMED]]
    listed = f"those there are {', '.join(there)}{', …' if len(found) > _NAMED else ''}"
    raise CampaignError(f"{where}: there is no finding {shown}; {listed if found else 'nothing was found'}")


def as_json(found: Found) -> dict[str, Any]:
    """A finding as plain data, octets as hexadecimal digits."""
    said = {"schema": "overlong/report-1", "profile": found.measured_by, **plain(found)}
    return {name: value for name, value in said.items() if name not in {"measured_by", "language"}}


def in_full(found: Found) -> str:
    """The argument of ``overlong replay`` for its vector, with every octet."""
    if STABLE in dict(found.more):  # of a campaign
        return spelled(found)
    category = found.vector.rpartition("/")[0] or "input"
    return Vector(category, found.octets, chunks=found.chunks, earlier=found.earlier).in_full


def line_of(found: Found) -> str:
    """A finding in a line of a list."""
    more = dict(found.more)
    word = "" if found.standing is Standing.UNEXPECTED else f"{found.standing.value}: "
    name = f"  ({printable(found.vector)})" if "/" in found.vector and STABLE not in more else ""
    what = more.get(SENTENCE) or found.title
    kind = printable(what if is_difference(found) else f"{found.code} {what}")
    target = printable(found.target) + (f" and {printable(more[PEER])}" if PEER in more else "")
    return f"{printable(found.id, 40)}  {word}{kind}  {target}  {given(found)}{name}"


def lines_of(found: Found, folder: str, width: int, *, explain: bool = True) -> Iterator[str]:
    """The lines on one finding; ``explain``: the last is the command that explains it."""
    more, further = dict(found.more), list[tuple[str, str]]()
    if PEER in more:
        further.append(("compare", replay_found(found, found.id, more[PEER], found.profile, folder)))
    if explain:
        further.append(("explain", shlex.join(["overlong", "explain", folder, found.id])))
    if STABLE in more:  # of a campaign
        yield from block(found, found.target, width, further)
        return
    first, *rest = lines_of_cause(found, width)
    yield first
    target = f"target {printable(found.target, 400)}"
    yield from textwrap.wrap(target, width, initial_indent="     ", subsequent_indent="       ")
    yield from rest
    for title, command in further:
        yield from command_lines(command, f"     {title}: ")


def explain_finding(stored: Found, folder: str, width: int, offered: Iterable[str]) -> Iterator[str]:
    """All about a finding: its facts, next steps, the path of its octets, and the meaning of its code.

    Args:
        stored: the finding.
        folder: of its run.
        width: of the lines, none of which is styled; commands may be wider.
        offered: the words after ``overlong finding`` that apply to it.
    """
    yield from lines_of(stored, folder, width, explain=False)
    for word in offered:
        yield f"     {word}: {printable(shlex.join(['overlong', 'finding', word, folder, stored.id]), 1000)}"
    if stored.operation not in ENCODING:  # the input of an encoder is no UTF-8
        yield ""
        yield from _walk(stored, width)
    differs = is_difference(stored)
    if not differs and (stored.code in DEFECTS or stored.code in KINDS):
        yield ""
        yield from explain_code(stored.code, width)
    unstable = dict(stored.more).get(STABLE, always := f"{REPETITIONS} of {REPETITIONS}") != always
    for paragraph in (_OPEN * differs, _UNSTABLE * unstable):
        if paragraph:
            yield ""
            yield from textwrap.wrap(paragraph, width)


def _walk(stored: Found, width: int) -> Iterator[str]:
    """The path of the finding's octets, without filler, through the automaton."""
    octets = stored.octets[QUESTION.size :] if stored.operation == ASK else stored.octets
    start, end = core(Vector("fuzz", octets, profile=stored.profile))
    if (start, end) != (0, len(octets)):
        before, after = octets[:start], octets[end:]
        aside = [f"{spaced_hex(before)} before them"] * bool(before) + [f"{spaced_hex(after)} after them"] * bool(after)
        line = f"Its octets from offset {start} on ({', '.join(aside)}):"
        yield from textwrap.wrap(line, width)
    yield from explain_octets(octets[start:end], width, stored.profile)


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


_EVERY = 10.0  # seconds between lines off a terminal
_CLEAR = "\r\x1b[K"


class Screen:
    """Shows each status, and finally removes the line, so that only findings and the report stay."""

    def __init__(self, seconds: float | None, runs: int | None, *, enabled: bool, live: bool) -> None:
        """Show nothing yet.

        Args:
            seconds: after which the run ends.
            runs: inputs after which the campaign ends; without both limits it runs until Ctrl-C.
            enabled: show anything at all.
            live: show one line in place if stderr is a terminal.
        """
        self._limits = seconds, runs
        self._enabled = enabled
        self._live = live and sys.stderr.isatty()
        self._said = time.monotonic()
        self._known: set[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live and self._enabled:
            click.echo(_CLEAR, err=True, nl=False)
        self._enabled = False

    def update(self, status: Status) -> None:
        """Show this status of the campaign."""
        if not self._enabled:
            return
        if self._known is None:  # findings of an earlier run are not new
            self._known = set() if not status.resumed else {stored.id for stored in status.findings}
        for stored in status.findings:
            if stored.id not in self._known:
                self._known.add(stored.id)
                click.echo(f"{_CLEAR * self._live}{news_of(stored)}", err=True)
        line = progress_line(status, *self._limits)
        if self._live:
            click.echo(f"{_CLEAR}{line[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)
        elif (now := time.monotonic()) - self._said >= _EVERY:
            click.echo(line, err=True)
            self._said = now


def news_of(stored: StoredFinding) -> str:
    """A new finding in a line."""
    target = printable(stored.target, 200) + (f" and {printable(stored.peer, 200)}" if stored.is_difference else "")
    begins = "DIFFERENCE" if stored.is_difference else "FAIL"
    octets = words_of(stored.octets) if stored.operation in ASKING else spaced_hex(stored.octets, 12)
    return f"{begins} {stored.id} {kind_of(stored)}  {target}  {octets}"


def progress_line(status: Status, seconds: float | None, runs: int | None) -> str:
    """The progress of the campaign towards its limits in a line, what changes most at first."""
    left = [lasting(seconds - status.seconds)] if seconds is not None else []
    left += [inputs(max(0, runs - status.inputs))] if runs is not None else []
    reached, everything = status.edges
    differences = sum(each.is_difference for each in status.findings)
    found = counted(len(status.findings) - differences, "finding")
    parts = [
        inputs(status.inputs),
        found + (f" and {counted(differences, 'difference')}" if differences else ""),
        f"left: {' or '.join(left) or 'until Ctrl-C'}",
        f"{thousands(round(status.rate))} executions per second",
        f"last new {f'{lasting(status.last_new)} ago' if status.findings or status.corpus else 'none yet'}",
        f"edges {reached}/{everything}",
        *([f"target edges {thousands(status.coverage)}"] if status.coverage else []),
        f"corpus {thousands(status.corpus)}",
    ]
    return f"fuzz: {', '.join(parts)}"


def kept_words(status: Status, folder: str) -> str:
    """What is saved, and how to continue."""
    what = f"{inputs(status.inputs)} and {counted(len(status.findings), 'finding')} are kept"
    return f"{what}; {resumed_by(folder)}"


def resumed_by(folder: str) -> str:
    """How to continue."""
    return f"overlong fuzz --resume {printable(shlex.quote(folder), 1000)} continues"


def closing_lines(
    report: Report, status: Status, folder: str, *, quiet: bool, verbose: bool, stopped: str
) -> Iterator[str]:
    """The lines of the report; only the last one if nothing was found and --quiet is given."""
    if quiet and not status.findings:
        if not stopped:
            yield verdict_of_campaign(report)
        return
    yield from summary(report, status, folder, width=width(), encoding=sys.stdout.encoding or "ascii")
    if verbose:
        yield f"{thousands(round(status.rate))} executions per second, {thousands(status.octets)} octets"
        yield f"kept in {printable(folder, 1000)}"


def print_lines(lines: Iterable[str], report: Report) -> None:
    """Print lines of a report, coloured on a terminal."""
    words, state = words_of_campaign(report), state_of_campaign(report)
    for line in lines:
        click.echo(coloured(line, words, state))


def not_asked(folder: Path) -> str:
    """A target that got no input; empty if there is none."""
    done = json.loads((folder / STATEMENT).read_text("utf-8"))
    counts = {each["id"]: sum(each["executions"].values()) for each in done["targets"]}
    return next((printable(name) for name, count in counts.items() if not count), "")
