"""The display of a running campaign on stderr: a screen in a terminal (extra ``fuzz``), plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import click

from overlong.conformance.report.found import abbreviated, inputs
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.support.quantities import lasting
from overlong.fuzz.report.campaign import apart, kind_of
from overlong.reference.extra import install

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from overlong.fuzz.campaign.status import Status
    from overlong.fuzz.campaign.stored import StoredFinding

_EVERY = 10.0  # seconds between plain lines
_REFRESH = 0.25  # seconds between pictures
_FIXED = 9  # lines of a screen beside those of targets and findings
_TARGETS = 6  # lines of targets
_NARROW = 60  # columns under which the right half of each line is left out


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
    """Shows each status, and finally removes the picture, so that only the report stays."""

    def __init__(self, goal: Goal, *, enabled: bool, live: bool) -> None:
        """``enabled``: show anything at all; ``live``: show a picture if stderr is a terminal and Rich is installed."""
        self._goal = goal
        self._enabled = enabled
        self._console: Console | None = _console() if enabled and live and sys.stderr.isatty() else None
        self._live: Any = None
        self._said = time.monotonic()
        self._drawn = 0.0
        self._known: set[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the picture, and restore the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._enabled = False

    def update(self, status: Status) -> None:
        """Show this status of the campaign."""
        if not self._enabled:
            return
        now = time.monotonic()
        if self._console is not None:
            if now - self._drawn >= _REFRESH:
                self._draw(self._console, status)
                self._drawn = now
            return
        if self._known is None:  # findings of an earlier run are not new
            self._known = set() if not status.resumed else {stored.id for stored in status.findings}
        for stored in status.findings:
            if stored.id not in self._known:
                self._known.add(stored.id)
                click.echo(line_of(stored), err=True)
        if now - self._said >= _EVERY:
            click.echo(progress_line(status, self._goal), err=True)
            self._said = now

    def _draw(self, console: Console, status: Status) -> None:
        from rich.live import Live

        width, height = console.size
        picture = render(status, width, height - 1, self._goal)
        if self._live is None:
            self._live = Live(
                picture, console=console, auto_refresh=False, transient=True, redirect_stdout=False,
                redirect_stderr=False, vertical_overflow="crop",
            )  # fmt: skip
            self._live.start(refresh=True)
        else:
            self._live.update(picture, refresh=True)


def _console() -> Console | None:
    """The terminal; None if nothing can be drawn on it."""
    try:
        from rich.console import Console
    except ImportError:
        click.echo(f"overlong: note: plain lines, since the screen needs Rich; {install('fuzz')}", err=True)
        return None
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    return console if console.is_terminal and not console.is_dumb_terminal else None


def line_of(stored: StoredFinding) -> str:
    """A new finding in a line."""
    target = printable(stored.target, 200) + (f" and {printable(stored.peer, 200)}" if stored.is_difference else "")
    begins = "DIFFERENCE" if stored.is_difference else "FAIL"
    return f"{begins} {stored.id} {kind_of(stored)}  {target}  {abbreviated(stored.octets, 12)}"


def progress_line(status: Status, goal: Goal) -> str:
    """The progress of the campaign in a line."""
    reached, everything = status.edges
    faults, differences = apart(status.findings)
    parts = [
        inputs(status.inputs),
        f"{thousands(round(status.rate))} executions per second",
        f"edges {reached}/{everything}",
        *([f"target edges {thousands(status.coverage)}"] if status.coverage else []),
        f"corpus {thousands(status.corpus)}",
        counted(len(faults), "finding") + (f" and {counted(len(differences), 'difference')}" if differences else ""),
        f"last new {_last_new(status)}",
        f"left: {goal.left(status)}",
    ]
    return f"fuzz: {', '.join(parts)}"


def render(status: Status, width: int, height: int, goal: Goal) -> RenderableType:
    """The screen. It fits into the given columns and lines, whatever the names of the targets."""
    from rich.console import Group
    from rich.text import Text

    faults, differences = apart(status.findings)
    targets = min(len(status.targets), _TARGETS, max(1, height - _FIXED - 3))
    shown = max(0, height - _FIXED - targets)
    lines = [
        *_figures(status, goal, width),
        Text(""),
        *_targets(status, targets),
        Text(""),
        *_findings([*faults, *differences], shown, width),
    ]
    folder = printable(goal.folder, 200)
    others = f"others at work on it: {status.others}; " if status.others else ""
    lines.append(Text(f"{others}Ctrl-C ends it; overlong fuzz --resume {folder} continues", style="dim"))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
        line.truncate(width)
    return Group(*lines[:height])


def _figures(status: Status, goal: Goal, width: int) -> list[Any]:
    """The head, and the figures in two columns."""
    from rich.text import Text

    reached, everything = status.edges
    first = f"overlong fuzz  {status.profile.name}  {printable(status.engine, 20)}  seed {status.seed}"
    rows = [
        ("executions", thousands(status.executions), "per second", thousands(round(status.rate))),
        ("inputs", thousands(status.inputs), "time", lasting(status.seconds)),
        ("corpus", thousands(status.corpus), "left", goal.left(status)),
        ("edges", f"{reached} of {everything} of the reference", "last new", _last_new(status)),
    ]
    lines = [Text(first, style="bold")]
    half = width // 2
    for name, value, other, its in rows:
        line = Text(f"{name:<11}", style="dim") + Text(value, style="default")
        if width >= _NARROW:
            line.truncate(half - 2, pad=True)
            line = line + Text("  ") + Text(f"{other:<11}", style="dim") + Text(its)
        lines.append(line)
    if status.coverage:
        lines[-1] = lines[-1] + Text(f"  code {thousands(status.coverage)}")
    return lines


def _last_new(status: Status) -> str:
    return f"{lasting(status.last_new)} ago" if status.findings or status.corpus else "none yet"


def _targets(status: Status, most: int) -> list[Any]:
    """A line for each target with the number of its findings."""
    from rich.text import Text

    lines: list[Any] = []
    for target in status.targets[:most]:
        count = sum(stored.target == target and not stored.is_difference for stored in status.findings)
        line = Text(f"{count:>4} ", style="bold red" if count else "green")
        lines.append(line + Text(printable(target, 400), style="default"))
    if len(status.targets) > most:
        lines[-1] = Text(f"     and {len(status.targets) - most + 1} more targets", style="dim")
    return lines


def _findings(findings: list[StoredFinding], most: int, width: int) -> list[Any]:
    """The head of a table, and the last findings, as many as there is room for."""
    from rich.text import Text

    if not findings:
        return [Text("no finding yet", style="dim")]
    name, target, octets, count = 10, 18, 6, 11
    what = max(8, width - name - target - octets - count - 8)
    lines = [Text(f"{'':<{name}}  {'target':<{target}}  {'what':<{what}}  {'octets':>{octets}}  {'inputs':>{count}}")]
    lines[0].stylize("dim")
    room = most if len(findings) <= most else most - 1
    for stored in findings[-room:] if room > 0 else ():
        line = Text(stored.id, style="yellow" if stored.is_difference else "bold red")
        for text, wide in ((printable(stored.target, 200), target), (kind_of(stored), what)):
            cell = Text(text, style="default")
            cell.truncate(wide, overflow="ellipsis", pad=True)
            line = line + Text("  ") + cell
        mark = "" if stored.is_stable else " unstable"
        lines.append(line + Text(f"  {len(stored.octets):>{octets}}  {thousands(stored.count):>{count}}{mark}"))
    if room < len(findings):
        lines.append(Text(f"and {len(findings) - max(room, 0)} found before them", style="dim"))
    return lines
