"""``overlong report``: show any file of results in any format, without running a decoder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from overlong.conformance.cli.formats import (
    exit_code,
    output_options,
    put_out,
    report_of,
)
from overlong.conformance.cli.options import CONFORMS, errors_on_one_line

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
