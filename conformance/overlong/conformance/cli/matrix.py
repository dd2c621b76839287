"""``overlong matrix``: many decoders, one table; and the table of the functions of a library that ``certify`` names."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from overlong.conformance.cli.limits import agreed_to, limits_of, with_limits
from overlong.conformance.cli.options import complete_targets, errors_on_one_line, folder_of, profile_option, width
from overlong.conformance.cli.output import Bar, WantedFormats, exit_code, formats_option, report_of, show
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import no_more_interruptions

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from overlong.conformance.certification.matrix import MatrixRow
    from overlong.conformance.certification.matrix_worker import MatrixJob
    from overlong.conformance.results.model import Report
    from overlong.conformance.targets.limits import Limits

EXAMPLES = """\b
Examples:
  overlong matrix --all
  overlong matrix cpython node-textdecoder rust-std
  overlong matrix --all --format markdown > matrix.md
  overlong matrix --all -o site/ --format html,json,junit
  overlong matrix --all -o site/ --resume     go on where it was interrupted
"""
_TIMEOUT = 10.0
"""Seconds; more than ``certify`` allows, since several targets share the machine."""
_TAKEN = frozenset(
    ("target", "profile", "quick", "expected", "output", "wanted", "quiet", "no_sweeps", "limits", "trust", "threads")
)
"""The parameters of ``certify`` that a library can have."""


@click.command("matrix", epilog=EXAMPLES)
@click.argument("targets", nargs=-1, shell_complete=complete_targets)
@click.option(
    "--all", "every", is_flag=True, help="Certify every decoder that ships with an adapter and can be used here."
)
@click.option("--quick", is_flag=True, help="Skip the scalar values.")
@profile_option("Dialect to measure by: rfc3629, cesu-8, mutf-8, wtf-8, ... (see 'overlong docs dialects').")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    default=lambda: os.cpu_count() or 1,
    show_default="cores",
    metavar="N",
    help="Number of targets to certify at a time.",
)
@with_limits(timeout=_TIMEOUT)
@click.option(
    "--expected",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of expected deviations, as in 'overlong certify'.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("overlong-results"),
    show_default=True,
    metavar="FOLDER",
    help="Folder for matrix.json and a folder of results for each target.",
)
@click.option(
    "--resume", is_flag=True, help="Keep the rows in the folder; measure only those that are missing or out of date."
)
@formats_option("what matrix.json holds")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    targets: tuple[str, ...],
    every: bool,  # noqa: FBT001
    quick: bool,  # noqa: FBT001
    profile: str,
    jobs: int,
    expected: Path | None,
    output: Path,
    resume: bool,  # noqa: FBT001
    wanted: WantedFormats,
    quiet: bool,  # noqa: FBT001
) -> None:
    """Certify many decoders, and show them in one table.

    The table has a row for each decoder and a column for each claim. TARGETS are named as in 'overlong certify'.
    Each is certified in a process of its own. With html among the formats the folder is a site: open its
    index.html.

    \b
    Exit status:
      0  every target passes everything measured, or deviates as expected
      1  a target diverges
      2  the command line is wrong, or the results cannot be saved (but are shown)
      3  a target was not measured
      4  incomplete: interrupted, or a target was restarted too often
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.matrix_worker import MatrixJob
    from overlong.conformance.results.model import State
    from overlong.conformance.support.files import NotSaved
    from overlong.conformance.targets.builtins import BUILTINS

    if every == bool(targets):
        raise click.UsageError("name targets, or certify all that are ready with --all")
    chosen = [name for name, builtin in BUILTINS.items() if not builtin.missing()] if every else list(targets)
    words, options = words_of(profile, expected, limits_of(), quick=quick)
    job = MatrixJob(profile, quick, limits_of(), expected=str(expected or ""))
    here = shlex.join(["overlong", "matrix", *words, *(["--all"] if every else chosen)])
    with errors_on_one_line():
        try:
            with measured(chosen, job, output, (here, options), jobs, resume=resume, quiet=quiet) as rows:
                no_more_interruptions()
                report = report_of(output)
                show_rows(report, rows, output, wanted)
        except NotSaved as error:
            no_more_interruptions()
            _show_unsaved(error.results, output, wanted)
            raise
    if left := sum(row.state is State.INCOMPLETE for row in rows):
        click.echo(f"overlong: {left} of {len(rows)} targets are incomplete; --resume measures them again", err=True)
    sys.exit(exit_code(report))


def words_of(profile: str, expected: Path | None, limits: Limits, *, quick: bool) -> tuple[list[str], list[str]]:
    """The words that repeat a run, without its targets; and the options that its rows depend on."""
    words = [
        *(["--profile", profile] if profile != "rfc3629" else []),
        *(["--expected", str(expected)] * bool(expected)),
    ]
    options = [*words, *limits.as_words(), "--quick" if quick else "--no-sweeps"]
    return [*words, *["--quick"] * quick], options


@contextlib.contextmanager
def measured(
    chosen: Sequence[str],
    job: MatrixJob,
    output: Path,
    said: tuple[str, Sequence[str]],
    jobs: int,
    *,
    resume: bool,
    quiet: bool,
) -> Generator[list[MatrixRow]]:
    """Measure these targets, or keep their rows; rewrite ``matrix.json`` in the folder after each row.

    In this context, no other matrix is written there.

    Args:
        chosen: the targets.
        job: the suites and sweeps of every target.
        output: the folder.
        said: the command that repeats this run, and the options that its rows depend on.
        jobs: the number of targets to measure at a time.
        resume: keep existing rows that are still valid.
        quiet: show no progress.

    Raises:
        click.UsageError: a target is named twice.
        OSError: the folder cannot be written, or another matrix is being written there.
        NotSaved: a row cannot be written; it carries the document with all rows so far.
    """
    from overlong.conformance.certification.matrix import (
        Matrix,
        conditions_here,
        not_begun,
        rows_to_keep,
        statement,
        write_statement,
    )
    from overlong.conformance.support.files import NotSaved, alone_in, make_folder
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import dialect

    here, options = said
    folders = {name: folder_of(name) for name in chosen}
    if len(set(folders.values())) < len(chosen):
        raise click.UsageError("a target is named twice")
    agreed_to(chosen)
    make_folder(output)
    expected = Path(job.expected) if job.expected else None
    conditions = conditions_here(Profile(dialect(job.speaks).name).name, options, expected)
    with alone_in(output):
        kept = rows_to_keep(output, conditions) if resume else {}
        rows = {name: kept[name][0] if name in kept else not_begun(name) for name in chosen}

        def write(incomplete: str) -> None:
            write_statement(output, statement(list(rows.values()), conditions, here, incomplete))

        def done(row: MatrixRow, same: bool) -> None:  # noqa: FBT001
            rows[row.target] = row
            write("it is under way, or its end was sudden")
            number, name = next(finished), printable(row.target)
            bar.update(name[:22], number, len(chosen))
            if not quiet and not sys.stderr.isatty():  # a line for each row, where there is no bar
                how = "kept" if same else f"{row.seconds:.1f} s"
                click.echo(f"[{number}/{len(chosen)}] {name}: {row.state} ({how})", err=True)

        finished = count(1)
        with Bar(enabled=not quiet and sys.stderr.isatty(), unit="targets") as bar:
            bar.update("", 0, len(chosen))
            write("it is under way, or its end was sudden")
            under_way = Matrix(job, output, folders)
            try:
                rows = {row.target: row for row in under_way.rows(chosen, jobs, done, kept)}
                write("interrupted" if under_way.interrupted else "")
            except OSError as error:
                unsaved = statement(list(rows.values()), conditions, here, "its results cannot be saved")
                raise NotSaved(error, unsaved) from error
        yield list(rows.values())


def show_rows(report: Report, rows: Sequence[MatrixRow], output: Path, wanted: WantedFormats) -> None:
    """Show the report of these rows, and write it in all wanted formats."""
    from overlong.conformance.certification.matrix import STATEMENT
    from overlong.conformance.report.formats import write_site
    from overlong.conformance.support.printable import printable

    if wanted.stdout == "json":
        click.echo((output / STATEMENT).read_text("ascii"), nl=False)
    else:
        _print(report, wanted.stdout)
    for path in write_site(report, [folder_of(row.target) for row in rows], wanted.files, output):
        click.echo(f"report: {printable(str(path), 1000)}")


def _show_unsaved(document: dict[str, Any], output: Path, wanted: WantedFormats) -> None:
    """Print what was found, if it cannot be saved."""
    from overlong.conformance.certification.matrix import STATEMENT
    from overlong.conformance.results.reading import report_of_matrix
    from overlong.conformance.results.records import spelt

    if wanted.stdout == "json":
        click.echo(spelt(document, indent=2))
    else:
        _print(report_of_matrix(document, output / STATEMENT), wanted.stdout)


def _print(report: Report, name: str) -> None:
    """Print the report in a format other than JSON."""
    from overlong.conformance.report.compared import table, tally
    from overlong.conformance.report.formats import FORMATS

    if name == "text":
        lines = table(report.subjects, width=width(), encoding=sys.stdout.encoding or "ascii")
        click.echo("\n".join((*tally(report.subjects, width()), "", *lines)))
    else:
        show(FORMATS[name].render(report))


def certify_library(
    name: str,
    functions: Sequence[str],
    folder: Path,
    wanted: WantedFormats,
    *,
    profile: str,
    quick: bool,
    expected: Path | None,
    limits: Limits,
    quiet: bool,
) -> int:
    """Certify the functions of a library, and show them in one table; return the exit status.

    Args:
        name: the library.
        functions: the targets of its functions.
        folder: for ``matrix.json`` and a folder of results for each function.
        wanted: the formats.
        profile: the dialect to judge by.
        quick: test only the suites of ``--quick``.
        expected: the file of expected deviations, if one is named.
        limits: of each target.
        quiet: show no progress.

    Raises:
        click.UsageError: an option is given that a library cannot have.
        UnknownTarget, NotAgreed, OSError, NotSaved: as :func:`measured`.
    """
    from overlong.conformance.certification.matrix import STATEMENT
    from overlong.conformance.certification.matrix_worker import MatrixJob
    from overlong.conformance.results.model import FAILING
    from overlong.conformance.targets.builtins import set_up_library

    _refuse_others(name, functions[0])
    agreed_to(functions)
    set_up_library(name)
    words, options = words_of(profile, expected, limits, quick=quick)
    job = MatrixJob(profile, quick, limits, expected=str(expected or ""))
    here = shlex.join(["overlong", "certify", *words, name])
    jobs = os.cpu_count() or 1
    with measured(functions, job, folder, (here, options), jobs, resume=False, quiet=quiet) as rows:
        no_more_interruptions()
        report = report_of(folder)
        show_rows(report, rows, folder, wanted)
    if wanted.stdout == "text":
        click.echo(f"report: {printable(str(folder / STATEMENT), 1000)}; beside it a folder for each function")
        failing = next((folder / folder_of(each.id) for each in report.subjects if each.state in FAILING), None)
        if failing is not None:
            click.echo(f"next: {printable(shlex.join(['overlong', 'report', str(failing)]), 1000)}")
    return exit_code(report)


def _refuse_others(name: str, first: str) -> None:
    """Raises: click.UsageError: the command line has an option that a library cannot have."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in _TAKEN:
            raise click.UsageError(
                f"{printable(name)} is a library, and its functions get the default suites, without sweeps: leave out "
                f"{parameter.opts[-1]}, or certify one function, such as {printable(first)}"
            )
