"""``overlong report`` and ``overlong diff``: show results again, or what became better and worse, without a decoder."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import CONFORMS, DIVERGES, INCOMPLETE, errors_on_one_line
from overlong.conformance.cli.output import exit_code, output_options, put_out, report_of
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from overlong.conformance.results.difference import FailOn

EXAMPLES = """\b
Examples:
  overlong report overlong-results/cpython
  overlong report overlong-results/cpython --format html -o cpython.html
  overlong report results.jsonl --format html,junit,sarif,badge -o report/
  overlong report a/results.jsonl b/results.jsonl --format markdown
  overlong report new/ --baseline old/ --format html -o new.html
  overlong report campaign/ --format json --exit-zero | jq .subjects
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@output_options
@click.option(
    "--baseline",
    type=click.Path(exists=True, path_type=Path),
    metavar="OLDER",
    help="Earlier results, a file or a folder: the HTML page shows what changed since then.",
)
@click.option(
    "--exit-zero",
    is_flag=True,
    help="Exit with 0 once the report is written, whatever the results.",
)
def command(
    files: tuple[Path, ...],
    names: tuple[str, ...],
    output: Path | None,
    baseline: Path | None,
    exit_zero: bool,  # noqa: FBT001
) -> None:
    """Show results again, in any format, without running a decoder.

    FILE is a result file or its folder: results.jsonl or certificate.json of 'certify', matrix.json
    of 'matrix', sweep.json of 'sweep', campaign.json of 'fuzz', diff.json of 'diff', or a report in
    JSON. Several files of single decoders become one table. If a killed writer left a truncated file,
    the report shows the part that is there, and says INCOMPLETE.

    \b
    Formats, and the names of their files in a folder:
      text      report.txt      what a terminal shows
      json      report.json     all data, for programs (schema overlong/report-1)
      markdown  report.md       for an issue, or the summary of a CI step
      issue     issues.md       a text for each cause, to send to maintainers
      html      report.html     one page with pictures; needs no network
      junit     junit.xml       a test case for each claim and bucket
      sarif     overlong.sarif  SARIF 2.1.0, for code scanning
      badge     badge.json      the JSON of a badge (shields.io endpoint)

    One format goes to stdout, or to the file that -o names. If -o is a folder, or ends with '/', the
    report goes into it under the name above. Equal results give files of equal octets.

    \b
    Exit status: that of the results, for CI (with --exit-zero: 0):
      0  everything measured holds, or diverges as expected
      1  a decoder diverges, or an expectation is stale; of a diff, something
         regressed
      2  the command line is wrong, or a file cannot be read
      3  a decoder was not measured, or there was nothing to judge
      4  incomplete: the run was interrupted, or the file is truncated
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.results.difference import since

    if len(names) > 1 and output is None:
        raise click.UsageError("several formats need a folder; name it with -o")
    if baseline is not None and "html" not in names:
        raise click.UsageError("--baseline is for the HTML page: add --format html, or use 'overlong diff'")
    with errors_on_one_line():
        report = report_of(*files)
        shown = report if baseline is None else since(report_of(baseline), report)
        put_out(shown, names, output)
    sys.exit(CONFORMS if exit_zero else exit_code(report))


DIFF_EXAMPLES = """\b
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


@click.command("diff", epilog=DIFF_EXAMPLES)
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
def diff_command(
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
