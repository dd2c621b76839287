"""``--format``: a comma-separated list of what a report is written in, for every verb that leaves results behind."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from overlong.conformance.commands.options import USAGE, leave

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from overlong.conformance.report.model import Report

TO_STDOUT = ("text", "json", "markdown")
"""Formats that go to stdout if nothing else is wanted."""


@dataclass(frozen=True)
class Wanted:
    """What a verb that measures shall write."""

    names: tuple[str, ...]

    @property
    def stdout(self) -> str:
        """What stdout gets."""
        return self.names[0] if len(self.names) == 1 and self.names[0] in TO_STDOUT else "text"

    @property
    def files(self) -> tuple[str, ...]:
        """What the folder gets, besides the results themselves."""
        return () if self.names[0] in TO_STDOUT and len(self.names) == 1 else self.names


def names_in(text: str) -> tuple[str, ...]:
    """The formats in a list.

    Raises:
        click.BadParameter: it is empty, or there is no such format.
    """
    from overlong.conformance.report.formats import FORMATS

    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in FORMATS:
            import difflib

            close = difflib.get_close_matches(name, FORMATS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there is {', '.join(FORMATS)}"
            raise click.BadParameter(f"no format {name!r}; {hint}", param_hint="--format")
    if not names:
        raise click.BadParameter(f"no format named; there is {', '.join(FORMATS)}", param_hint="--format")
    return names


def _wanted(_context: click.Context, _option: click.Parameter, text: str) -> Wanted:
    return Wanted(names_in(text))


def formats_option(json: str) -> Callable[[Any], Any]:
    """``--format LIST`` of a verb that measures; the command gets a :class:`Wanted` as ``wanted``.

    Args:
        json: what stdout gets with ``--format json``, in a few words.
    """
    return click.option(
        "--format",
        "wanted",
        default="text",
        show_default=True,
        metavar="LIST",
        callback=_wanted,
        help=f"text, json ({json}) or markdown on stdout; html, junit, sarif, badge, or several with commas between "
        "them, in files beside the results (see 'overlong report').",
    )


def report_of(*paths: Path) -> Report:
    """The report that files give; if they cannot be read the program ends with one line that says why."""
    from overlong.conformance.report.reading import ReportError, read

    try:
        return read(paths)
    except ReportError as error:
        leave(str(error), USAGE)


def tell_written(wanted: Wanted, folder: Path, *, quiet: bool = False) -> None:
    """Write what is wanted beside the results in ``folder``, read back from there, and name each file on a line.

    Raises:
        OSError: one cannot be written.
    """
    from overlong.conformance.printable import printable
    from overlong.conformance.report.formats import write_reports

    if wanted.files:
        for path in write_reports(report_of(folder), wanted.files, folder):
            if not quiet:
                click.echo(f"report: {printable(str(path), 1000)}")


def show(text: str, *, plain: bool = False) -> None:
    """Write a report to stdout: as UTF-8, as in a file; if it is ``plain`` text, as the terminal has it."""
    if plain:
        encoding = sys.stdout.encoding or "ascii"
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
    else:
        click.echo(text.encode("utf-8"), nl=False)


def rendered(report: Report, name: str, *, width: int) -> str:
    """The report in a format; text as wide as it is to be shown."""
    from overlong.conformance.report.formats import FORMATS

    if name == "text":
        from overlong.conformance.report.text import text

        return text(report, width, encoding=sys.stdout.encoding or "ascii")
    return FORMATS[name].render(report)


def exit_code(report: Report) -> int:
    """What a program exits with whose results these are; the worst target decides, of a diff a regression."""
    from overlong.conformance.commands.options import CONFORMS, DIVERGES, INCOMPLETE, NOT_MEASURED
    from overlong.conformance.report.model import Kind, State

    if report.kind is Kind.DIFF:
        from overlong.conformance.difference import FailOn, fails, is_incomplete

        worse = fails(report, FailOn.REGRESSION)
        return DIVERGES if worse else INCOMPLETE if is_incomplete(report) else CONFORMS
    order = (
        (State.INCOMPLETE, INCOMPLETE),
        (State.NOT_MEASURED, NOT_MEASURED),
        (State.DIVERGES, DIVERGES),
        (State.EXPECTED, CONFORMS),
        (State.CONFORMS, CONFORMS),
    )
    states = {subject.state for subject in report.subjects}
    code = next((code for state, code in order if state in states), NOT_MEASURED)  # nothing to judge, of all of them
    if report.incomplete:
        return INCOMPLETE
    return DIVERGES if code == CONFORMS and any(subject.stale for subject in report.subjects) else code
