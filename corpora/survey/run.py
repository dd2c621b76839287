"""``run``: measure the decoders of the survey, as data to keep and compare."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpora.survey.install import chosen_of, jobs_option, quiet_option
from corpora.survey.kept import SURVEY
from overlong.conformance.cli.limits import limits_of, with_limits
from overlong.conformance.cli.matrix import measured
from overlong.conformance.cli.options import NOT_MEASURED, complete_targets, errors_on_one_line, leave
from overlong.conformance.cli.output import exit_code, report_of

_TIMEOUT = 20.0
"""Seconds; so long because several decoders share the machine, and some are whole database servers."""


@click.command("run")
@click.argument("targets", nargs=-1, shell_complete=complete_targets)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("overlong-survey"),
              show_default=True, metavar="FOLDER", help="Folder for the results of each decoder.")  # fmt: skip
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help=f"Where {SURVEY}, the survey, goes; else it is beside the results.")  # fmt: skip
@click.option(
    "--resume", is_flag=True, help="Keep the results in the folder; measure only those that are missing or out of date."
)
@jobs_option
@with_limits(timeout=_TIMEOUT)
@quiet_option
def command(
    targets: tuple[str, ...],
    output: Path,
    keep: Path | None,
    resume: bool,  # noqa: FBT001
    jobs: int,
    quiet: bool,  # noqa: FBT001
) -> None:
    """Certify all decoders that can be used here.

    It works as 'matrix' does, and keeps the results as data. Each decoder gets the core and the complete suites. If
    its replacements depart from its error mode, the command learns how it replaces, as 'identify' does. Without
    TARGETS, the command takes all that are here. The survey is a report: 'overlong report' shows it in any format,
    and 'overlong diff' compares two.

    \b
    Examples:
      python corpora/survey run --keep corpora/survey/2026-11-28
      python corpora/survey run yajl jansson json-c -o json
    \b
    Exit status:
      0  every decoder passes everything measured
      1  a decoder diverges
      2  the command line is wrong
      3  a decoder was not measured
      4  incomplete: interrupted, or a decoder was restarted too often
    """  # noqa: D301 (click reads the backspace)
    import shlex

    from corpora.survey.kept import kept
    from corpora.survey.learning import learned, unsettled
    from overlong.conformance.certification.matrix_worker import MatrixJob
    from overlong.conformance.report.formats import FORMATS, write
    from overlong.conformance.support.printable import printable

    decoders = {each.name: each for each in chosen_of(targets) if not each.missing()}
    if not decoders:
        leave(
            "none of these decoders can be used here; 'python corpora/survey install' lists what they lack",
            NOT_MEASURED,
        )
    job = MatrixJob("rfc3629", quick=True, limits=limits_of(), portrait=True)
    here = shlex.join(["python", "corpora/survey", "run", *targets])
    with errors_on_one_line():
        options = [*limits_of().as_words(), "--quick"]
        with measured(list(decoders), job, output, (here, options), jobs, resume=resume, quiet=quiet):
            report = report_of(output)
        folder = keep or output
        folder.mkdir(parents=True, exist_ok=True)

        def told(name: str) -> None:
            if not quiet:
                click.echo(f"learned how it replaces: {printable(name)}", err=True)

        survey = kept(report, decoders, learned(unsettled(report.subjects), jobs, told))
        write(FORMATS["json"].render(survey), folder / SURVEY)
    click.echo(f"survey: {printable(str(folder / SURVEY), 1000)}")
    sys.exit(exit_code(survey))
