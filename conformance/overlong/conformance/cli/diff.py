"""``overlong diff``: show what became better and what became worse."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.formats import output_options, put_out, report_of
from overlong.conformance.cli.options import CONFORMS, DIVERGES, INCOMPLETE, errors_on_one_line
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from overlong.conformance.results.difference import FailOn

EXAMPLES = """\b
Examples:
  overlong diff old/certificate.json new/certificate.json
  overlong diff old.jsonl new.jsonl --fail-on regression
  overlong diff overlong-results/node-buffer overlong-results/rust-std
  overlong diff may/ june/ --fail-on new --format markdown > changes.md
"""


def _there(_context: click.Context, argument: click.Parameter, path: Path) -> Path:
    if not path.exists():
        named = printable(str(path))
        hint = (
            f"; if it is a target, keep its results first: 'overlong certify {named} -o older/', "
            f"or show several side by side: 'overlong matrix {named} ...'"
        )
        is_file = "/" in named or path.suffix in (".json", ".jsonl")
        raise click.BadParameter(f"path {named!r} does not exist{'' if is_file else hint}", param=argument)
    return path


@click.command("diff", epilog=EXAMPLES)
@click.argument("older", type=click.Path(path_type=Path), callback=_there)
@click.argument("newer", type=click.Path(path_type=Path), callback=_there)
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "new", "any", "none"]),
    default="none",
    show_default=True,
    help="When to exit with 1: on a regression; on a regression or anything new; on any difference; never.",
)
@output_options
def command(
    older: Path,
    newer: Path,
    fail_on: FailOn,
    names: tuple[str, ...],
    output: Path | None,
) -> None:
    """Show what is fixed, regressed or new between two results.

    It also shows what cannot be compared. OLDER and NEWER are files or folders that certify, matrix, sweep or fuzz
    wrote. The command pairs targets by name; if each side has only one target, it pairs those two. A cause counts
    as fixed or regressed only if both sides were asked the same inputs.

    \b
    Exit status:
      0  compared, and found nothing that --fail-on names
      1  found something that --fail-on names
      2  the command line or a file is wrong
      4  incomplete: a side was not measured to its end, so part of it could not
         be compared
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.results.difference import difference, fails, is_incomplete

    if len(names) > 1 and output is None:
        raise click.UsageError("several formats need a folder; name it with -o")
    with errors_on_one_line():
        older_report, newer_report = (replace(report_of(path), source=str(path)) for path in (older, newer))
        diff = difference(older_report, newer_report)
        put_out(diff, names, output)
    if fails(diff, fail_on):
        sys.exit(DIVERGES)
    sys.exit(INCOMPLETE if is_incomplete(diff) else CONFORMS)
