"""``overlong vectors score``: measure how good a list of test strings is."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    USAGE,
    errors_on_one_line,
    leave,
    text_or_json,
    width,
)
from overlong.conformance.support.interruption import no_more_interruptions
from overlong.conformance.support.printable import printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = ("auto", "hex", "numbered", "json", "jsonl", "tsv", "frames", "directory", "raw", "lines", "source")
"""The formats of ``overlong.conformance.models.score.files``, repeated here so that ``--help`` need not import it."""

EXAMPLES = """\b
Examples:
  overlong vectors score tests.txt
  overlong vectors score fuzz/corpus/
  overlong vectors score --input lines strings.bin
  overlong vectors score tests.txt --add missing.tsv
  overlong vectors score tests.json --fail-under 100
"""


@click.command("score", epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--input",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="Format of the files; raw: each file is one string; lines: each line is one string.",
)
@text_or_json()
@click.option(
    "--add",
    "missing",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the vectors that the list lacks for 100 %, one on each line.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the list catches fewer single-transition faults.",
)
def score_command(
    files: tuple[str, ...],
    form: str,
    output_format: str,
    missing: str | None,
    fail_under: float | None,
) -> None:
    """Which wrong decoders does a list of test strings catch?

    FILE is a list in a format of overlong or in another (a line of hexadecimal octets for each string,
    number:octets, JSON arrays), a folder whose files are strings, or - for standard input. Several
    files count as one list.

    \b
    Exit status:
      0  measured
      1  an expectation in the list is wrong, or the score is below --fail-under
      2  a file cannot be read, or holds no string
      4  interrupted
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.models.score import ReadError, score
    from overlong.conformance.report.score import summary

    if missing is not None and any(_same(missing, file) for file in files):
        raise click.UsageError(f"--add {printable(missing)} would overwrite a list; name another file")
    with errors_on_one_line(), _Counter() as counter:
        try:
            result = score(*files, form=form, progress=counter.update)
        except ReadError as error:
            leave(str(error), USAGE)
        no_more_interruptions()
        counter.close()
        if missing is not None:
            _write(missing, result.to_add.lines())
        if output_format == "json":
            click.echo(json.dumps(result.to_json(), indent=2))
        else:
            for line in summary(result, width=width(), added=missing or ""):
                click.echo(line)
    below = fail_under is not None and 100 * result.transitions.caught < fail_under * result.transitions.total
    if below:
        click.echo(f"overlong: {result.transitions.percent} % is below --fail-under {fail_under:g}", err=True)
    sys.exit(DIVERGES if below or result.wrong_count else CONFORMS)


def _same(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def _write(file: str, lines: Iterable[str]) -> None:
    """Write the whole file or nothing."""
    from overlong.conformance.support.whole_file import written_to

    path = Path(file)
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        with written_to(path) as out:
            out.writelines(lines)
    except OSError as error:
        leave(f"{printable(file)}: {error.strerror}; choose another file with --add", USAGE)


class _Counter:
    """Progress of a long read on stderr: in a terminal a line that is overwritten, elsewhere an occasional line."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._every = 0.1 if self._live else 10.0  # seconds
        self._said = time.monotonic()
        self._written = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, what: str, strings: int) -> None:
        """Show that this number of strings is done."""
        if time.monotonic() - self._said > self._every:
            self._said = time.monotonic()
            text = f"{what} {thousands(strings)} strings"
            click.echo(f"\r\x1b[K{text}" if self._live else text, nl=not self._live, err=True)
            self._written = True

    def close(self) -> None:
        """Remove the line."""
        if self._live and self._written:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._written = False
