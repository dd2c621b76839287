"""``overlong diff``: what became better, and what worse."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.commands.formats import names_in, report_of, show
from overlong.conformance.commands.options import (
    CONFORMS,
    DIVERGES,
    INCOMPLETE,
    USAGE,
    errors_on_one_line,
    leave,
    width,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.report.model import Report

EXAMPLES = """\b
Examples:
  overlong diff old/certificate.json new/certificate.json
  overlong diff old.jsonl new.jsonl --fail-on regression
  overlong diff overlong-results/node-buffer overlong-results/rust-std
  overlong diff may/ june/ --fail-on new --format markdown > changes.md
"""


def _names(_context: click.Context, _option: click.Parameter, text: str) -> tuple[str, ...]:
    return names_in(text)


@click.command("diff", epilog=EXAMPLES)
@click.argument("older", type=click.Path(exists=True, path_type=Path))
@click.argument("newer", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "new", "any", "none"]),
    default="none",
    show_default=True,
    help="Exit with 1 if there is a regression; that or something new; anything that is not the same.",
)
@click.option(
    "--format",
    "names",
    default="text",
    show_default=True,
    metavar="LIST",
    callback=_names,
    help="text, json, markdown, html, junit, sarif or badge; several with commas between them.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="PATH",
    help="The file to write, or the folder; several formats need a folder.  [default: stdout]",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No text: the exit status says it.")
def command(
    older: Path,
    newer: Path,
    fail_on: str,
    names: Sequence[str],
    output: Path | None,
    quiet: bool,  # noqa: FBT001
) -> None:
    """Compare two results: what is fixed, what regressed, what is new, what cannot be compared.

    OLDER and NEWER are files or folders that certify, matrix, sweep or fuzz wrote. Targets are
    paired by name; if each side has one, those two. A cause is only called fixed or regressed if
    both sides were asked the same inputs.

    \b
    Exit status:
      0  compared, and nothing that --fail-on names
      1  there is something that --fail-on names
      2  the command line or a file is wrong
      4  incomplete: a side was not measured to its end, so part of it could not
         be compared
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.difference import FailOn, difference, fails, is_incomplete
    from overlong.conformance.report.difference import told
    from overlong.conformance.report.formats import FORMATS, write

    if len(names) > 1 and output is None:
        raise click.UsageError("several formats need a folder; name it with -o")
    with errors_on_one_line():
        older_report, newer_report = (replace(report_of(path), source=str(path)) for path in (older, newer))
        diff = difference(older_report, newer_report)
        first = names[0]
        if output is None and first == "text":
            if not quiet:
                click.echo("\n".join(told(diff, width=width(), encoding=sys.stdout.encoding or "ascii")))
        elif output is None:
            show(FORMATS[first].render(diff))
        elif len(names) > 1 or output.is_dir() or str(output).endswith("/"):
            _write(diff, names, output)
        else:
            write(FORMATS[first].render(diff), output)
    if fails(diff, FailOn(fail_on)):
        sys.exit(DIVERGES)
    sys.exit(INCOMPLETE if is_incomplete(diff) else CONFORMS)


def _write(diff: Report, names: Sequence[str], folder: Path) -> None:
    """Write the diff into a folder, as JSON under a name that says what it is."""
    from overlong.conformance.printable import printable
    from overlong.conformance.report.formats import FORMATS, write

    if folder.exists() and not folder.is_dir():
        leave(f"{printable(str(folder))}: not a folder, and several formats need one; name another", USAGE)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / ("diff.json" if name == "json" else FORMATS[name].file)
        write(FORMATS[name].render(diff), path)
        click.echo(f"report: {printable(str(path), 1000)}")
