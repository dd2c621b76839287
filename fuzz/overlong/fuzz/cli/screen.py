"""What a campaign shows: new findings and its progress on stderr while it runs, and a report when it ends."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import click

from overlong.conformance.cli.options import width
from overlong.conformance.cli.output import coloured
from overlong.conformance.protocol.wire import ASKING
from overlong.conformance.report.text import inputs
from overlong.conformance.report.wording import state_of_campaign, verdict_of_campaign, words_of_campaign
from overlong.conformance.support.printable import counted, lasting, printable, spaced_hex, thousands
from overlong.conformance.vectors.expected import words_of
from overlong.fuzz.campaign.file import STATEMENT
from overlong.fuzz.report.campaign import kind_of, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from overlong.conformance.results.model import Report
    from overlong.fuzz.campaign.state import Status, StoredFinding

_EVERY = 10.0  # seconds between lines off a terminal
_CLEAR = "\r\x1b[K"


@dataclass(frozen=True)
class Goal:
    """The limits after which a campaign ends; without limits it runs until Ctrl-C."""

    seconds: float | None = None
    runs: int | None = None
    folder: str = ""
    """The campaign's folder, as the user named it."""

    def left(self, status: Status) -> str:
        """``8 min 37 s``, ``120 000 inputs``; until Ctrl-C."""
        parts: list[str] = []
        if self.seconds is not None:
            parts.append(lasting(self.seconds - status.seconds))
        if self.runs is not None:
            parts.append(inputs(max(0, self.runs - status.inputs)))
        return " or ".join(parts) or "until Ctrl-C"


class Screen:
    """Shows each status, and finally removes the line, so that only findings and the report stay."""

    def __init__(self, goal: Goal, *, enabled: bool, live: bool) -> None:
        """``enabled``: show anything at all; ``live``: show one line in place if stderr is a terminal."""
        self._goal = goal
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
                click.echo(f"{_CLEAR * self._live}{line_of(stored)}", err=True)
        line = progress_line(status, self._goal)
        if self._live:
            click.echo(f"{_CLEAR}{line[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)
        elif (now := time.monotonic()) - self._said >= _EVERY:
            click.echo(line, err=True)
            self._said = now


def line_of(stored: StoredFinding) -> str:
    """A new finding in a line."""
    target = printable(stored.target, 200) + (f" and {printable(stored.peer, 200)}" if stored.is_difference else "")
    begins = "DIFFERENCE" if stored.is_difference else "FAIL"
    octets = words_of(stored.octets) if stored.operation in ASKING else spaced_hex(stored.octets, 12)
    return f"{begins} {stored.id} {kind_of(stored)}  {target}  {octets}"


def progress_line(status: Status, goal: Goal) -> str:
    """The progress of the campaign in a line, what changes most at first."""
    reached, everything = status.edges
    differences = sum(each.is_difference for each in status.findings)
    found = counted(len(status.findings) - differences, "finding")
    parts = [
        inputs(status.inputs),
        found + (f" and {counted(differences, 'difference')}" if differences else ""),
        f"left: {goal.left(status)}",
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


def lines_of(report: Report, status: Status, folder: str, *, quiet: bool, verbose: bool, stopped: str) -> Iterator[str]:
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
