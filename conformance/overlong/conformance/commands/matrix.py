"""``overlong matrix``: many decoders, one table."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from overlong.conformance.commands.options import (
    CONFORMS,
    DIVERGES,
    INCOMPLETE,
    NOT_MEASURED,
    errors_on_one_line,
    profile_option,
    width,
)

EXAMPLES = """\b
Examples:
  overlong matrix --all
  overlong matrix cpython node-textdecoder rust-std
  overlong matrix --all --format markdown > matrix.md
"""


@click.command("matrix", epilog=EXAMPLES)
@click.argument("targets", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every decoder that ships with an adapter and can be used here.")
@click.option("--quick", is_flag=True, help="Leave out the scalar values.")
@profile_option("What the decoders should speak: rfc3629, cesu-8, mutf-8, wtf-8, ... (see docs/dialects.md).")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    default=lambda: os.cpu_count() or 1,
    show_default="cores",
    metavar="N",
    help="Certify so many at a time.",
)
@click.option("--timeout", type=click.FloatRange(0.01, 3600), default=10.0, show_default=True, metavar="SECONDS",
              help="How long a target may take to answer one request.")  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("overlong-results"),
    show_default=True,
    metavar="FOLDER",
    help="Each target's results go to a folder of its own in it.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="What stdout gets.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    targets: tuple[str, ...],
    every: bool,  # noqa: FBT001
    quick: bool,  # noqa: FBT001
    profile: str,
    jobs: int,
    timeout: float,
    output: Path,
    output_format: str,
    quiet: bool,  # noqa: FBT001
) -> None:
    """Certify many decoders and show them in one table: a row for each, a column for each claim.

    TARGETS are named as in 'overlong certify'. Each is certified in a process of its own.

    \b
    Exit status:
      0  everything measured holds, of every target
      1  a target diverges
      2  the command line is wrong
      3  a target was not measured
      4  incomplete: interrupted, or a target was restarted too often
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.conformance import matrix
    from overlong.conformance.certification import make_folder
    from overlong.conformance.commands.certify import slug
    from overlong.conformance.printable import printable
    from overlong.conformance.report.matrix import markdown, table
    from overlong.conformance.targets.builtins import BUILTINS

    if every == bool(targets):
        raise click.UsageError("name targets, or all that can be used here with --all")
    chosen = [name for name, builtin in BUILTINS.items() if not builtin.missing()] if every else list(targets)
    if len(set(chosen)) < len(chosen):
        raise click.UsageError("a target is named twice")
    words = ["--timeout", f"{timeout:g}", "--profile", profile, "--quick" if quick else "--no-sweeps"]
    told = 0

    def done(row: matrix.Row) -> None:
        nonlocal told
        told += 1
        if not quiet:
            click.echo(f"[{told}/{len(chosen)}] {printable(row.target)}: {row.state} ({row.seconds:.1f} s)", err=True)

    with errors_on_one_line():
        make_folder(output)
        rows = matrix.Matrix(words, lambda target: output / slug(target)).rows(chosen, jobs, done)
        if output_format == "json":
            click.echo(json.dumps([row.as_json() for row in rows], indent=2))
        else:
            encoding = sys.stdout.encoding or "ascii"
            lines = markdown(rows) if output_format == "markdown" else table(rows, width=width(), encoding=encoding)
            for line in lines:
                click.echo(line)
    states = {row.state for row in rows}
    codes = {
        matrix.INCOMPLETE: INCOMPLETE,
        matrix.NOT_MEASURED: NOT_MEASURED,
        matrix.DIVERGES: DIVERGES,
        matrix.CONFORMS: CONFORMS,
        matrix.NOTHING: NOT_MEASURED,  # of all of them
    }
    sys.exit(next(code for state, code in codes.items() if state in states))
