"""``overlong survey``: measure the decoders in use everywhere, as data to keep and compare."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overlong.conformance.cli.formats import exit_code, report_of
from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    NOT_MEASURED,
    USAGE,
    all_decoders,
    errors_on_one_line,
    leave,
    limits_of,
    limits_options,
)
from overlong.conformance.cli.words import complete_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Cause, Subject
    from overlong.conformance.targets.builtin import Builtin

SURVEY = "report.json"
"""The file of a survey. It is a report, which ``overlong report`` and ``overlong diff`` read."""
_TIMEOUT = 20.0
"""Seconds; so long because several decoders share the machine, and some are whole database servers."""
_jobs = click.option("-j", "--jobs", type=click.IntRange(1, 64), default=lambda: os.cpu_count() or 1,
                     show_default="cores", metavar="N", help="Number of decoders to measure at a time.")  # fmt: skip
_quiet = click.option("-q", "--quiet", is_flag=True, help="No progress.")


@click.group("survey")
def command() -> None:
    """Survey the decoders that have an adapter or a record.

    'overlong docs survey' tells more.

    \b
    Examples:
      overlong survey install
      overlong survey run -o survey --keep corpora/survey/2026-11-24
      overlong survey issues corpora/survey/2026-11-24
      overlong diff corpora/survey/2026-11-23 corpora/survey/2026-11-24
      overlong report corpora/survey/2026-11-24 --format html > survey.html
    """  # noqa: D301 (click reads the backspace)


@command.command("install")
@click.argument("targets", nargs=-1, shell_complete=complete_targets)
@click.option("--debian", is_flag=True, help="Also install missing Debian packages, with apt-get.")
@_jobs
@_quiet
def install_command(targets: tuple[str, ...], debian: bool, jobs: int, quiet: bool) -> None:  # noqa: FBT001
    """Fetch and build what the survey's decoders need.

    It lists what is missing. Without TARGETS, the command takes all. Packages come from the registries that the
    package managers are set up for.

    \b
    Examples:
      overlong survey install
      overlong survey install --debian npm-msgpackr yajl
    \b
    Exit status:
      0  all of them can be used here
      2  the command line is wrong
      3  some cannot be used here; the command names each and what it lacks
    """  # noqa: D301 (click reads the backspace)
    from concurrent.futures import ThreadPoolExecutor

    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable

    chosen = _chosen(targets)
    if debian:
        _install_debian(chosen)

    def made(decoder: Builtin) -> tuple[str, str]:
        why = decoder.missing()
        try:
            if not why:
                decoder.command()
        except TargetError as error:
            why = str(error)
        return decoder.name, why

    lacking = 0
    with ThreadPoolExecutor(jobs) as pool, errors_on_one_line():
        for name, why in pool.map(made, chosen):
            lacking += bool(why)
            if why or not quiet:
                click.echo(f"{'missing' if why else 'ready  '}  {name}{f': {printable(why, 300)}' if why else ''}")
    sys.exit(NOT_MEASURED if lacking else CONFORMS)


def _install_debian(chosen: Sequence[Builtin]) -> None:
    """Install missing Debian packages that records need; apt-get prints its own messages."""
    import shutil
    import subprocess

    from overlong.conformance.targets.records import records
    from overlong.conformance.targets.records.debian import installed

    if shutil.which("apt-get") is None:
        leave("apt-get is not here; run 'overlong survey install' without --debian, and install what it names", USAGE)
    needed = {name for each in chosen if each.name in records() for name in records()[each.name].needed}
    missing = sorted(needed - set(installed()))
    if missing:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *missing], check=False)
        installed.cache_clear()


def _chosen(targets: Sequence[str]) -> list[Builtin]:
    """The decoders of these names, or all."""
    from overlong.conformance.support.near import did_you_mean

    known = all_decoders()
    for name in targets:
        if name not in known:
            raise click.UsageError(f"no decoder {name!r}; {did_you_mean(name, known, 'overlong target list --survey')}")
    return [known[name] for name in targets] if targets else list(known.values())


def _with_limits(function: Any) -> Any:
    own = click.option("--timeout", type=click.FloatRange(0.01, 3600), default=_TIMEOUT, show_default=True,
                       metavar="SECONDS", help="Longest time for one answer.")  # fmt: skip
    for option in reversed((own, *limits_options[1:])):
        function = option(function)
    return function


@command.command("run")
@click.argument("targets", nargs=-1, shell_complete=complete_targets)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("overlong-survey"),
              show_default=True, metavar="FOLDER", help="Folder for the results of each decoder.")  # fmt: skip
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help=f"Where {SURVEY}, the survey, goes; else it is beside the results.")  # fmt: skip
@click.option(
    "--resume", is_flag=True, help="Keep the results in the folder; measure only those that are missing or out of date."
)
@_jobs
@_with_limits
@_quiet
def run_command(
    targets: tuple[str, ...],
    output: Path,
    keep: Path | None,
    resume: bool,  # noqa: FBT001
    jobs: int,
    timeout: float,
    restarts: int,
    quiet: bool,  # noqa: FBT001
) -> None:
    """Certify all decoders that can be used here.

    It works as 'matrix' does, and keeps the results as data. Each decoder gets the core and the complete suites. If
    its replacements depart from its error mode, the command learns how it replaces, as 'identify' does. Without
    TARGETS, the command takes all that are here. The survey is a report: 'overlong report' shows it in any format,
    and 'overlong diff' compares two.

    \b
    Examples:
      overlong survey run --keep corpora/survey/2026-11-24
      overlong survey run yajl jansson json-c -o json
    \b
    Exit status:
      0  every decoder passes everything measured
      1  a decoder diverges
      2  the command line is wrong
      3  a decoder was not measured
      4  incomplete: interrupted, or a decoder was restarted too often
    """  # noqa: D301 (click reads the backspace)
    import shlex

    from overlong.conformance.certification.matrix.job import MatrixJob
    from overlong.conformance.certification.survey.error_modes import learned, unsettled
    from overlong.conformance.certification.survey.kept import kept
    from overlong.conformance.cli.matrix import limits_as_options, measured
    from overlong.conformance.report.formats import FORMATS, write
    from overlong.conformance.support.printable import printable

    decoders = {each.name: each for each in _chosen(targets) if not each.missing()}
    if not decoders:
        leave("none of these decoders can be used here; 'overlong survey install' lists what they lack", NOT_MEASURED)
    job = MatrixJob("rfc3629", quick=True, limits=limits_of(timeout, restarts), portrait=True)
    here = shlex.join(["overlong", "survey", "run", *targets])
    with errors_on_one_line():
        options = [*limits_as_options(timeout, restarts), "--quick"]
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


@command.command("issues")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("targets", nargs=-1)
@_jobs
@_quiet
def issues_command(folder: Path, targets: tuple[str, ...], jobs: int, quiet: bool) -> None:  # noqa: FBT001
    """Write texts for the maintainers of decoders that diverge.

    FOLDER holds the survey. For each code, a small program in the decoder's own language repeats the shortest
    divergence without overlong. If that program confirms the divergence, the command writes a text with the program and
    its output. No text covers a divergence that the decoder's documentation announces (the record says so), or a matter
    that RFC 3629 leaves open, such as the number of U+FFFD. The texts go to FOLDER/reports; FOLDER/withheld.json lists
    what was not confirmed.

    \b
    Examples:
      overlong survey issues corpora/survey/2026-11-24
      overlong survey issues corpora/survey/2026-11-24 yajl json-c
    \b
    Exit status:
      0  every divergence was confirmed
      1  a divergence was not confirmed; the command names it and writes no text
      2  the command line is wrong, or the survey cannot be read
    """  # noqa: D301 (click reads the backspace)
    from concurrent.futures import ThreadPoolExecutor

    from overlong.conformance.certification.survey.confirmation import confirm
    from overlong.conformance.certification.survey.filing import REPORTS, WITHHELD, withdrawn_in, withheld_in
    from overlong.conformance.report.formats import write
    from overlong.conformance.report.issue import issue
    from overlong.conformance.support.printable import printable

    report = report_of(folder / SURVEY)
    refuted, told = set[str](), set[str]()
    with errors_on_one_line(), ThreadPoolExecutor(jobs) as pool:
        (folder / REPORTS).mkdir(exist_ok=True)
        subjects = [subject for subject in report.subjects if not targets or subject.id in targets]
        withdrawn = withdrawn_in(folder)
        asked = [
            (subject, cause)
            for each in subjects
            for subject, cause in _told(each)
            if f"{subject.id}-{cause.code}" not in withdrawn
        ]
        confirmations = pool.map(confirm, (subject.id for subject, _ in asked), (cause for _, cause in asked))
        for (subject, cause), confirmed in zip(asked, confirmations, strict=True):
            name = f"{subject.id}-{cause.code}.md"
            if confirmed is None:
                continue
            if confirmed.why_not:
                refuted.add(f"{subject.id}-{cause.code}")
                click.echo(f"not confirmed: {name}: {printable(confirmed.why_not, 300)}", err=True)
                continue
            told.add(f"{subject.id}-{cause.code}")
            write(issue(subject, cause, confirmed) + "\n", folder / REPORTS / name)
            if not quiet:
                click.echo(f"confirmed: {name}")
        withheld = (set(withheld_in(folder)) - told) | refuted
        write(json.dumps(sorted(withheld), indent=1) + "\n", folder / WITHHELD)
    sys.exit(DIVERGES if refuted else CONFORMS)


def _told(subject: Subject) -> Iterator[tuple[Subject, Cause]]:
    """The causes to report to a decoder's maintainers, one for each code, without those that the decoder announces.

    Of several causes of a code, this is the one with a complete program, or else the least.
    """
    from overlong.conformance.certification.survey.confirmation import demonstrated
    from overlong.conformance.certification.survey.filing import is_practice
    from overlong.conformance.certification.survey.kept import announced
    from overlong.conformance.protocol.kind import KINDS
    from overlong.conformance.report.wording import faults
    from overlong.conformance.support.printable import printable
    from overlong.reference import DEFECTS

    causes = [cause for cause in faults(subject) if not is_practice(cause)]
    for cause in causes:
        if cause.code not in KINDS and cause.code not in DEFECTS:  # a code names a file
            known = f"{printable(subject.id)}: no code {printable(cause.code, 40)} is known here"
            leave(f"{known}; update overlong, or survey again", USAGE)
    told = {cause.code: cause for cause in reversed(causes)}
    told |= {cause.code: cause for cause in causes if demonstrated(subject.id, cause) is not None}
    yield from ((subject, told[code]) for code in sorted(told) if not announced(subject, code))
