"""The progress of a running campaign on stderr: new findings, and a line that a terminal shows in place."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import click

from overlong.conformance.protocol.wire import ASKING
from overlong.conformance.report.found import inputs
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands
from overlong.conformance.support.quantities import lasting
from overlong.conformance.vectors.questions import words_of
from overlong.fuzz.report.campaign import kind_of

if TYPE_CHECKING:
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
