"""``overlong certify`` of a library: all its functions, in one table; each certified in a process of its own."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from overlong.conformance.cli.formats import exit_code, report_of
from overlong.conformance.support.interruption import no_more_interruptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from overlong.conformance.cli.formats import WantedFormats
    from overlong.conformance.targets.limits import Limits

_TAKEN = frozenset(
    ("target", "profile", "quick", "expected", "output", "wanted", "quiet", "no_sweeps", "limits", "trust", "threads")
)
"""The parameters of ``certify`` that a library can have."""


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
        UnknownTarget, NotAgreed, OSError, NotSaved: as :func:`~overlong.conformance.cli.matrix.measured`.
    """
    from overlong.conformance.certification.matrix.job import MatrixJob
    from overlong.conformance.certification.matrix.statement import STATEMENT
    from overlong.conformance.cli.folders import folder_of
    from overlong.conformance.cli.matrix import measured, show_rows, words_of
    from overlong.conformance.cli.trust import agreed_to
    from overlong.conformance.results.headline import FAILING
    from overlong.conformance.support.printable import printable
    from overlong.conformance.targets.libraries import set_up_library

    _refuse_others(name, functions[0])
    agreed_to(functions)
    set_up_library(name)
    words, options = words_of(profile, expected, limits, quick=quick)
    job = MatrixJob(profile, quick, limits, expected=str(expected or ""), warm=False)
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
    from overlong.conformance.support.printable import printable

    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in _TAKEN:
            raise click.UsageError(
                f"{printable(name)} is a library, and its functions get the default suites, without sweeps: leave out "
                f"{parameter.opts[-1]}, or certify one function, such as {printable(first)}"
            )
