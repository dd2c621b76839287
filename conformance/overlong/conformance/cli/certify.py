"""``overlong certify``: run the suites on a decoder and give a verdict."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overlong.conformance.certification.tiers import TIERS
from overlong.conformance.cli.limits import agreed_to, limits_of, with_limits
from overlong.conformance.cli.options import (
    CONFORMS,
    TargetCommand,
    complete_suites,
    complete_targets,
    errors_on_one_line,
    files_refused,
    profile_option,
    read_by,
    slug,
    target_of,
    width,
    with_plans,
)
from overlong.conformance.cli.output import (
    Bar,
    WantedFormats,
    coloured,
    folder_and_file,
    formats_option,
    rendered,
    report_of,
    show,
    tell_written,
)
from overlong.conformance.results.model import exit_code_of
from overlong.conformance.support.printable import did_you_mean, printable, seconds_of
from overlong.conformance.support.process import no_more_interruptions

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from overlong.conformance.results.certificate import Certificate

EXAMPLES = """\b
Examples:
  overlong certify cpython
  overlong certify py:mypackage.text:decode
  overlong certify py:./decoder.py:Decoder
  overlong certify libglib                      all functions of a library
  overlong certify 'cmd:iconv -f UTF-8 -t UTF-8'
  overlong certify --subject decoder.js -- node adapter.js
  overlong certify answers:answers.bin
  overlong certify --suite given --vectors corpora/regressions cpython
"""


@click.command("certify", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("target", nargs=-1, shell_complete=complete_targets)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_suites,
    help="Run only this suite (repeatable); no certificate then.",
)
@click.option(
    "--vectors",
    "given",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also run the vectors of this file or folder (repeatable); with '--suite given', run no others.",
)
@profile_option("Dialect to measure by: rfc3629, cesu-8, mutf-8, wtf-8, ... (see 'overlong docs dialects').")
@click.option(
    "--quick",
    is_flag=True,
    help="Skip the scalar values and the mixtures, sweep for a second or two, and write no certificate.",
)
@click.option("--thorough", is_flag=True, help="Run all suites and sweeps, even if a slow target takes hours.")
@with_plans
@click.option(
    "--tier",
    type=click.Choice(tuple(reversed(TIERS)), case_sensitive=False),
    help="Sweep with the plans of this tier.  [default: by the decoder's speed]",
)
@click.option(
    "--for",
    "budget",
    callback=read_by(seconds_of),
    metavar="TIME",
    help="Sweep for about 30s, 1m or 8h: run the most thorough tier that fits, then random strings.  [default: 20s]",
)
@click.option("--no-sweeps", is_flag=True, help="Skip the sweeps and the mixtures.")
@click.option(
    "--expected",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of expected deviations.  [default: overlong.toml or pyproject.toml here]",
)
@click.option(
    "--update-expected",
    is_flag=True,
    help="Update that file: add what diverges now, drop entries that no longer occur.",
)
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Put the digest of this file of the decoder into the certificate, too (repeatable).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Folder for results.jsonl and certificate.json, or a report file such as a.html.  "
    "[default: overlong-results/TARGET]",
)
@formats_option("the certificate's statement")
@with_limits()
@click.option(
    "--threads",
    type=click.IntRange(2, 64),
    metavar="N",
    help="Also call it in N threads at once (Python functions, shared libraries).",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; on success, print one line.")
@click.option("-v", "--verbose", is_flag=True, help="Also print what was tested, proved and left out, and the digests.")
def command(
    target: tuple[str, ...],
    plans: tuple[str, ...],
    suites: tuple[str, ...],
    given: tuple[Path, ...],
    profile: str,
    quick: bool,  # noqa: FBT001
    thorough: bool,  # noqa: FBT001
    tier: str | None,
    budget: float | None,
    no_sweeps: bool,  # noqa: FBT001
    expected: Path | None,
    update_expected: bool,  # noqa: FBT001
    subjects: tuple[Path, ...],
    output: Path | None,
    wanted: WantedFormats,
    threads: int | None,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Certify a decoder.

    \b
    TARGET is one of:
      NAME                 a decoder of 'overlong target list' or overlong.toml;
                           or a library, all of whose functions are tested
      py:MODULE:CALLABLE   Python: bytes -> str or bool, or a class with
      py:FILE.py:CALLABLE  decode(data, final=...)
      so:LIBRARY:FUNCTION?abi=ABI
                           a function of a shared library (wasm: of WebAssembly)
      lines:COMMAND        a program that answers a line for each line
      cmd:COMMAND          a program that exits with 0 or 1 for each input
      answers:FILE         recorded answers ('overlong docs targets')
      -- COMMAND ...       a program that speaks the target protocol

    \b
    Exit status:
      0  everything measured holds
      1  the decoder diverges
      2  the command line or a file is wrong
      3  nothing was measured: the target would not start, or broke the protocol
      4  incomplete: interrupted, or restarted too often
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.certify import certify
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.invocation import GivenFile, Invocation, fixed
    from overlong.conformance.support.provenance import today
    from overlong.conformance.vectors.suites import QUICK

    if not target:
        raise click.UsageError(
            "TARGET is missing. For example:\n"
            "  overlong certify cpython                  a decoder that is at hand ('overlong target list')\n"
            "  overlong certify py:mypackage.text:decode your own, in Python\n"
            "  overlong certify -- node adapter.js       your own, in any language ('overlong docs adapters')"
        )
    named = target_of(target)
    recorded = isinstance(named, str) and named.startswith("answers:")
    _check_suites(suites, given)
    if quick and thorough:
        raise click.UsageError("--quick and --thorough exclude each other; leave one of them out")
    if (quick or thorough) and suites:
        raise click.UsageError("--quick and --thorough choose the suites; leave out --suite")
    if budget and (tier or quick or thorough):
        raise click.UsageError("--for chooses the tier; leave it out, or --tier, --quick and --thorough")
    if (plans or tier or budget) and no_sweeps:
        raise click.UsageError("--no-sweeps and a sweep exclude each other; leave one of them out")
    if plans and tier:
        raise click.UsageError("--tier chooses the sweeps; leave it out, or the plans")
    if (plans or tier) and recorded:
        raise click.UsageError("a sweep needs a target that runs, not recorded answers; leave out the sweep")
    folder, wanted = folder_and_file(output, Path("overlong-results") / slug(named), wanted)
    if given and recorded:
        raise click.UsageError("recorded answers belong to fixed suites; leave out --vectors")
    if given and profile != "rfc3629":
        raise click.UsageError("vector files hold only the answers of RFC 3629; leave out --vectors or --profile")
    same: dict[str, Any] = {"profile": profile, "quick": quick, "expected": expected}
    limits = replace(limits_of(), threads=threads or 0)
    _if_library(named, folder, wanted, limits=limits, quiet=quiet, **same)
    with errors_on_one_line(), files_refused(), Bar(enabled=not quiet) as bar:
        agreed_to([named])
        with _shown_if_not_saved(bar, quiet=quiet, verbose=verbose):
            asked = Invocation(
                fixed(named),
                suites or (tuple(QUICK) if quick else None),
                () if no_sweeps else plans or None,
                tier or ("quick" if quick else None),
                budget,
                thorough,
                tuple(map(GivenFile.of, given)),
                limits=limits,
                subjects=tuple(map(str, subjects)),
                speaks=profile,
            )
            deviations = Expectations.read(expected, asked.target, today(), profile=profile, updating=update_expected)
            certificate = certify(asked, output=folder, expected=deviations, progress=bar.update)
        no_more_interruptions()
        bar.close()
        if wanted.stdout == "json":
            click.echo(certificate.to_json(), nl=False)
        elif wanted.stdout != "text":
            show(rendered(report_of(folder), wanted.stdout, width=width()))
        else:
            _print(certificate, folder, quiet=quiet, verbose=verbose)
        tell_written(wanted, folder, quiet=quiet)
    sys.exit(exit_code_of(certificate.state, len(certificate.stale)))


def _check_suites(suites: Sequence[str], given: Sequence[Path]) -> None:
    """Raises: click.UsageError: there is no such suite, or no file for it."""
    from overlong.conformance.vectors.suites import SUITES
    from overlong.conformance.vectors.suites.suite import GIVEN

    for name in suites:
        if name == GIVEN and not given:
            raise click.UsageError(f"--suite {GIVEN} tests the vectors of a file; name it with --vectors")
        if name not in SUITES and name != GIVEN:
            hint = did_you_mean(name, SUITES, "'overlong docs suites' lists them")
            raise click.BadParameter(f"no suite {name!r}; {hint}", param_hint="--suite")


def _if_library(named: str | Sequence[str], folder: Path, wanted: WantedFormats, **options: Any) -> None:
    """Certify a library, and exit; return if it is none."""
    from overlong.conformance.cli.matrix import certify_library
    from overlong.conformance.targets.builtins import functions_of

    with errors_on_one_line():
        if isinstance(named, str) and (functions := functions_of(named)):
            sys.exit(certify_library(named, functions, folder, wanted, **options))


@contextlib.contextmanager
def _shown_if_not_saved(bar: Bar, *, quiet: bool, verbose: bool) -> Generator[None]:
    """If results cannot be saved, print them; the error follows."""
    from overlong.conformance.support.files import NotSaved

    try:
        yield
    except NotSaved as error:
        no_more_interruptions()
        bar.close()
        _print(error.results, None, quiet=quiet, verbose=verbose)
        raise


def _print(certificate: Certificate, folder: Path | None, *, quiet: bool, verbose: bool) -> None:
    from overlong.conformance.report.terminal import next_step, summary
    from overlong.conformance.report.wording import verdict
    from overlong.conformance.results.certificate import CERTIFICATE, OF_A_COMMAND
    from overlong.conformance.results.results_file import RESULTS, report_of_run

    report, stale = report_of_run(certificate, folder), len(certificate.stale)
    words = verdict(report.subjects[0])
    if quiet and exit_code_of(certificate.state, stale) == CONFORMS:
        click.echo(words)
        return
    encoding = sys.stdout.encoding or "ascii"
    for line in summary(report, certificate, width=width(), encoding=encoding, every=verbose):
        click.echo(coloured(line, words, certificate.state, stale))
    if verbose:
        for part in certificate.run.suites:
            click.echo(f"suite {part.suite.name}: {part.suite.shows}")
            click.echo(
                f"  operations {part.operations}, {part.done} of {part.suite.size} vectors, {len(part.failing)} failing"
            )
            click.echo(f"  vectors sha256 {part.vectors_digest}")
        for swept in certificate.run.swept.plans if certificate.run.swept else ():
            click.echo(f"sweep {swept.plan}: {swept.shows}")
            click.echo(f"  {swept.seen.strings} strings, {swept.divergences} diverging")
            click.echo(f"  answers sha256 {swept.digest}")
        click.echo(f"isolation: {certificate.run.isolation or 'none'}")
        click.echo(f"findings sha256 {certificate.run.findings_digest}")
    if folder is not None:
        click.echo(f"report: {printable(str(folder / RESULTS))}")
    if folder is not None and not certificate.refused:
        click.echo(f"certificate: {printable(str(folder / CERTIFICATE))}")
        if certificate.identity.of_a_command:
            click.echo(f"  it does not cover {OF_A_COMMAND}")
    if step := next_step(report, certificate, folder):
        click.echo(f"next: {printable(step, 1000)}")
