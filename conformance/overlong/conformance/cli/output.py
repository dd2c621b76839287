"""What commands show: reports in the formats of ``--format``, the colours of their lines, and progress on stderr."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Self

import click

from overlong.conformance.cli.options import USAGE, leave, width
from overlong.conformance.results.model import State
from overlong.conformance.support.printable import did_you_mean, listed, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.results.model import Report


TO_STDOUT = ("text", "json", "markdown")
"""Formats that go to stdout by default."""
_OF_STATES = {
    State.CONFORMS: "green",
    State.EXPECTED: "yellow",
    State.EXCEPT: "yellow",
    State.DIVERGES: "red",
    State.INCOMPLETE: "yellow",
}
_OF_WORDS = {"LOOK": "red", "FAIL": "red", "STALE": "red", "DIFFERENCE": "yellow"}
"""The colour of a line that is no headline, by its first word."""


@dataclass(frozen=True)
class WantedFormats:
    """The formats that a measuring command writes."""

    names: tuple[str, ...]
    file: Path | None = None
    """The file that the user named for a single format; None if the user named none."""

    @property
    def stdout(self) -> str:
        """The format that goes to stdout: a single format if people read it or stdout is a file."""
        if len(self.names) == 1 and self.file is None and (self.names[0] in TO_STDOUT or _stdout_is_a_file()):
            return self.names[0]
        return "text"

    @property
    def files(self) -> tuple[str, ...]:
        """The formats written to the folder, besides the results themselves."""
        only = len(self.names) == 1 and (self.names[0] in TO_STDOUT or self.file is not None)
        return () if only else self.names


def _stdout_is_a_file() -> bool:
    """True if stdout is redirected to a file; false for a terminal or a pipe."""
    try:
        return S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # a replacement of sys.stdout, as in tests, has no descriptor
        return False


def folder_and_file(output: Path | None, usual: Path, wanted: WantedFormats) -> tuple[Path, WantedFormats]:
    """The results folder and the formats. ``-o report.html`` names a report file, not a folder.

    Raises:
        click.BadParameter: the path is a file that no report can go to, or its ending does not fit the format.
    """
    from overlong.conformance.report.formats import FORMATS

    if output is None or output.is_dir():
        return output or usual, wanted
    path = printable(str(output))
    fitting = [name for name, each in FORMATS.items() if Path(each.file).suffix == output.suffix.lower()]
    if not output.suffix or not fitting:
        if output.exists():
            raise click.BadParameter(
                f"{path} is a file; name a folder, or a report such as report.html", param_hint="-o"
            )
        return output, wanted
    if len(wanted.names) > 1:
        raise click.BadParameter(f"{path} is a file, and several formats need a folder; name one", param_hint="-o")
    [name] = list(wanted.names)
    if name == "text":  # no format was named, so the file's ending decides
        name = fitting[0]
    if name not in fitting:
        ending = Path(FORMATS[name].file).suffix
        raise click.BadParameter(f"{path} cannot be the name of {name}; end it with {ending}", param_hint="-o")
    if not output.parent.is_dir():
        raise click.BadParameter(f"{printable(str(output.parent))} is no folder; make it first", param_hint="-o")
    return usual, WantedFormats((name,), output)


def names_in(text: str) -> tuple[str, ...]:
    """The formats in a comma-separated list.

    Raises:
        click.BadParameter: the list is empty, or a format does not exist.
    """
    from overlong.conformance.report.formats import FORMATS

    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in FORMATS:
            raise click.BadParameter(f"no format {name!r}; {did_you_mean(name, FORMATS)}", param_hint="--format")
    if not names:
        raise click.BadParameter(f"no format named; there is{listed(FORMATS)}", param_hint="--format")
    return names


def _wanted(_context: click.Context, _option: click.Parameter, text: str) -> WantedFormats:
    return WantedFormats(names_in(text))


def formats_option(json: str) -> Callable[[Any], Any]:
    """``--format LIST`` of a verb that measures; the command gets a :class:`WantedFormats` as ``wanted``.

    Args:
        json: a few words for the help text: what ``--format json`` prints to stdout.
    """
    return click.option(
        "--format",
        "wanted",
        default="text",
        show_default=True,
        metavar="LIST",
        callback=_wanted,
        help=f"text, json ({json}) or markdown: printed. html, junit, sarif, badge, or a list with commas: files "
        "beside the results; a single one goes to the file of -o or of a redirection (see 'overlong report').",
    )


def _named(_context: click.Context, _option: click.Parameter, text: str) -> tuple[str, ...]:
    return names_in(text)


def output_options(command: Any) -> Any:
    """``--format LIST`` and ``-o PATH`` of a verb that shows results; the command gets ``names`` and ``output``."""
    for option in (
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="File to write, or folder; several formats need a folder.  [default: stdout]",
        ),
        click.option(
            "--format",
            "names",
            default="text",
            show_default=True,
            metavar="LIST",
            callback=_named,
            help="text, json, markdown, html, junit, sarif or badge, or a list with commas.",
        ),
    ):
        command = option(command)
    return command


def put_out(report: Report, names: Sequence[str], output: Path | None) -> None:
    """Print or write a report as the options of :func:`output_options` say.

    Raises:
        OSError: it cannot be written.
    """
    from overlong.conformance.report.formats import FORMATS, write_reports, write_to

    first, *others = names
    if output is None:
        show(rendered(report, first, width=width()), plain=first == "text")
        return
    if others or output.is_dir() or str(output).endswith("/"):
        if output.exists() and not output.is_dir():
            leave(f"{printable(str(output))}: not a folder, and several formats need one; name another", USAGE)
        output.mkdir(parents=True, exist_ok=True)
        written = write_reports(report, names, output)
    else:
        write_to(FORMATS[first].render(report), output)
        written = [output]
    for path in written:
        click.echo(f"report: {printable(str(path), 1000)}")


def report_of(*paths: Path) -> Report:
    """The report read from the files. If a file cannot be read, the program ends with one line that says why."""
    from overlong.conformance.results.reading import read
    from overlong.conformance.results.records import ReportError

    try:
        return read(paths)
    except ReportError as error:
        leave(str(error), USAGE)
    except OSError as error:
        named = printable(str(error.filename or paths[0]))
        leave(f"{named}: {error.strerror or printable(str(error))}; name a file of results that can be read", USAGE)


def tell_written(wanted: WantedFormats, folder: Path, *, quiet: bool = False) -> None:
    """Read the results back from ``folder``, write the wanted reports beside them, and print each file's name.

    Raises:
        OSError: a file cannot be written.
    """
    from overlong.conformance.report.formats import FORMATS, write_reports, write_to

    written: list[Path] = []
    if wanted.file is not None:
        write_to(FORMATS[wanted.names[0]].render(report_of(folder)), wanted.file)
        written = [wanted.file]
    elif wanted.files:
        written = write_reports(report_of(folder), wanted.files, folder)
    for path in () if quiet else written:
        click.echo(f"report: {printable(str(path), 1000)}", err=wanted.stdout != "text")


def show(text: str, *, plain: bool = False) -> None:
    """Write a report to stdout: ``plain`` text in the terminal's encoding, any other format as UTF-8."""
    if plain:
        encoding = sys.stdout.encoding or "ascii"
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
    else:
        click.echo(text.encode("utf-8"), nl=False)


def rendered(report: Report, name: str, *, width: int) -> str:
    """The report in a format; text gets the given width."""
    from overlong.conformance.report.formats import FORMATS

    if name == "text":
        from overlong.conformance.report.text import text

        return text(report, width, encoding=sys.stdout.encoding or "ascii")
    return FORMATS[name].render(report)


def exit_code(report: Report) -> int:
    """The exit code for these results: the worst target decides, and in a diff a regression."""
    from overlong.conformance.cli.options import CONFORMS, DIVERGES, INCOMPLETE
    from overlong.conformance.results.model import WORST_FIRST, ReportKind, State, exit_code_of

    if report.kind is ReportKind.DIFF:
        from overlong.conformance.results.difference import fails, is_incomplete

        worse = fails(report, "regression")
        return DIVERGES if worse else INCOMPLETE if is_incomplete(report) else CONFORMS
    if report.incomplete:
        return INCOMPLETE
    states = {subject.state for subject in report.subjects} - {State.NOTHING}
    # "nothing measured" decides only if every target has this state
    worst = min(states, key=WORST_FIRST.index, default=State.NOTHING)
    return exit_code_of(worst, sum(len(subject.stale) for subject in report.subjects))


def coloured(line: str, headline: str, state: State, stale: int = 0) -> str:
    """A line of a report with colours: a verdict gets the colour of the state, another line that of its first word.

    Args:
        line: of the report.
        headline: the words of the verdict. Its line begins with them, or is the first of the lines that they fill.
        state: the outcome of the run.
        stale: how many expected deviations no longer occur.
    """
    if line == headline or line.startswith(f"{headline}  ") or (line and headline.startswith(f"{line} ")):
        word, colour = headline[: len(line)], "red" if stale else _OF_STATES.get(state)
    else:
        word = line.partition(" ")[0]
        colour = _OF_WORDS.get(word)
    return click.style(word, fg=colour, bold=True) + line[len(word) :] if colour else line


_EVERY = 10.0  # seconds between plain lines
_PATIENCE = 0.5  # seconds before a bar is worth drawing
_STEPS = 200


class Bar:
    """One bar for the whole run; closing it removes it from the screen."""

    def __init__(self, *, enabled: bool, unit: str = "vectors") -> None:
        """``unit``: the plural noun for what is counted."""
        self._enabled = enabled
        self._unit = unit
        self._total = 0
        self._first, self._began = 0, 0.0  # the count at the last update, and its time
        self._live = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._done = 0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar, so that only the report stays on the screen."""
        if self._bar is not None:
            self._take_away()
            self._live = False

    def _take_away(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            sys.stderr.write("\x1b[1A\x1b[2K")
            sys.stderr.flush()
            self._bar = None

    def update(self, suite: str, done: int, total: int) -> None:
        """Show that the run has done ``done`` of ``total`` vectors, and is in ``suite``."""
        if not self._enabled:
            return
        now = time.monotonic()
        if total != self._total:  # another job: suites are done, and a sweep begins
            self._take_away()
            if self._total:
                self._unit = "strings"
            self._total, self._done = total, 0
            self._first, self._began = done, now
        if self._live and now - self._started > _PATIENCE:
            if self._bar is None:
                steps = max(total // _STEPS, 1)
                self._bar = click.progressbar(length=total, file=sys.stderr, width=30, update_min_steps=steps)
                self._bar.__enter__()
            self._bar.label = f"{suite:<22}{self._rate(done, now)}"
            self._bar.update(done - self._done)
            self._done = done
        elif not self._live and now - self._said > _EVERY:
            many = f"{thousands(done)} of {thousands(total)} {self._unit}"
            click.echo(f"{suite}: {many}{self._rate(done, now)}", err=True)
            self._said = now

    def _rate(self, done: int, now: float) -> str:
        """The number of strings per second. There is no rate for vectors: their costs vary too much."""
        new, seconds = done - self._first, now - self._began
        return f", {thousands(round(new / seconds))} per second" if self._unit == "strings" and new and seconds else ""
