"""``overlong verify``: repeat the measurement of a certificate, and compare."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overlong.conformance.cli.limits import agreed_to, with_agreement
from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    INCOMPLETE,
    USAGE,
    TargetCommand,
    complete_targets,
    errors_on_one_line,
    files_refused,
    leave,
    target_of,
    text_or_json,
    width,
)
from overlong.conformance.support.printable import printable, thousands

if TYPE_CHECKING:
    from overlong.conformance.certification.verification import Verification

EXAMPLES = """\b
Examples:
  overlong verify overlong-results/cpython/certificate.json
  overlong verify certificate.json py:mypackage.text:decode
  overlong verify certificate.json -- node adapter.js
  overlong verify --subject lib/decoder.js certificate.json
"""


def _file_or_folder(_context: click.Context, _argument: click.Parameter, path: Path) -> Path:
    if not path.is_dir():
        return path
    from overlong.conformance.results.certificate import CERTIFICATE

    certificate = path / CERTIFICATE
    if not certificate.exists():
        raise click.BadParameter(
            f"{printable(str(path))}: there is no certificate.json in it; an interrupted run, or a run of some "
            f"suites, writes none"
        )
    return certificate


@click.command("verify", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("certificate", type=click.Path(exists=True, path_type=Path), callback=_file_or_folder)
@click.argument("target", nargs=-1, shell_complete=complete_targets)
@click.option("--trust", is_flag=True, help="Run the command that the certificate names, whatever it is.")
@click.option(
    "--vectors",
    "given",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Place of the vector files that the certificate names; one option for each, in its order.  [default: as it "
    "says]",
)
@click.option(
    "--expected",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Place of its file of expected deviations.  [default: as it says]",
)
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Place of a file that the certificate names with --subject; one option for each, in its order.  [default: as "
    "it says]",
)
@text_or_json()
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; print only the verdict.")
@click.option("-v", "--verbose", is_flag=True, help="Print every field that differs.")
def command(
    certificate: Path,
    target: tuple[str, ...],
    trust: bool,  # noqa: FBT001
    given: tuple[Path, ...],
    expected: Path | None,
    subjects: tuple[Path, ...],
    output_format: str,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Repeat the measurement of a certificate, and compare.

    CERTIFICATE is a certificate.json, or its folder. verify gives the decoder the same inputs,
    within the same limits, and compares every field. It prints both values of each field that differs,
    and what 'overlong diff' says of claims and causes. First it says how many strings the sweeps have.

    A certificate names a command. Without further options, verify runs only a decoder that ships with
    overlong. Any other it shows, and runs when you agree, or if you say --trust. Or name the decoder
    as TARGET, as in 'overlong certify'.

    verify reports another version of overlong or another environment, but this refutes nothing. It
    writes no file.

    \b
    Exit status:
      0  verified: everything is as the certificate says
      1  something differs
      2  the command line or a file is wrong, or you did not agree to the decoder
      3  nothing was measured: the decoder is not here
      4  incomplete: interrupted, or restarted too often
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.verification import CertificateError, verify
    from overlong.conformance.cli.output import Bar
    from overlong.conformance.results.expected_file import ExpectationError

    named = target_of(target) if target else None
    with errors_on_one_line(), files_refused(), Bar(enabled=not quiet) as bar:
        if named is not None:
            agreed_to([named], trust=trust)
        try:
            verification = with_agreement(
                lambda: verify(
                    certificate,
                    target=named,
                    given=given,
                    expected=expected,
                    subjects=subjects,
                    progress=bar.update,
                    started=None if quiet else _say_what_is_run,
                ),
                trust=trust,
            )
        except (CertificateError, ExpectationError) as error:
            leave(str(error), USAGE)
        bar.close()
        _print(verification, output_format, quiet=quiet, verbose=verbose)
    if verification.incomplete:
        sys.exit(INCOMPLETE)
    sys.exit(CONFORMS if verification.verified else DIVERGES)


def _say_what_is_run(said: dict[str, Any]) -> None:
    """Print on stderr what is about to run; ``said``: overlong's part of the certificate."""
    from overlong.conformance.support.provenance import generator

    by, here = said["generator"], generator()
    if by != here:
        click.echo(
            f"overlong: the certificate is of {printable(by, 60)}, and this is {here}: the vectors may differ", err=True
        )
    click.echo(f"overlong: measuring again: {printable(said['command'], 200)}", err=True)
    if strings := sum(plan["strings"] for plan in said["sweeps"]):
        click.echo(f"overlong: its sweeps have {thousands(strings)} strings", err=True)


def _print(verification: Verification, output_format: str, *, quiet: bool, verbose: bool) -> None:
    from overlong.conformance.certification.verification import ANSWERS, lines
    from overlong.conformance.cli.output import rendered
    from overlong.conformance.support.provenance import sha256_of

    told = [verification.verdict, *lines(verification.differences, every=verbose)]
    if output_format == "json":
        diff = verification.diff
        click.echo(rendered(replace(diff, notes=(*told, *diff.notes)), "json", width=width()), nl=False)
        return
    word, space, rest = told[0].partition("  ")
    colour = {"VERIFIED": "green", "DIFFERS": "red"}.get(word, "yellow")
    click.echo(click.style(word, fg=colour, bold=True) + space + rest)
    if quiet:
        return
    said = verification.certified["predicate"]["overlong"]
    target = said["target"]
    version = f" ({printable(target['version'], 60)})" if target["version"] else ""
    click.echo(f"{printable(said['profile'], 40)} · {printable(target['id'], 80)}{version}")
    click.echo(f"certificate sha256 {sha256_of(verification.path)}")
    for line in told[1:]:
        click.echo(line)
    if any(each.part == ANSWERS for each in verification.differences):
        click.echo("\n" + rendered(verification.diff, "text", width=width()), nl=False)
