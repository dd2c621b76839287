"""``overlong verify``: repeat the measurement of a certificate, and compare."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    INCOMPLETE,
    NOT_MEASURED,
    USAGE,
    TargetCommand,
    errors_on_one_line,
    files_refused,
    leave,
    target_of,
)
from overlong.conformance.cli.trust import agreed_to, with_agreement
from overlong.conformance.cli.words import complete_targets
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from overlong.conformance.certification.verification.reading import Certified
    from overlong.conformance.certification.verification.verifying import Verification

EXAMPLES = """\b
Examples:
  overlong verify overlong-results/cpython/certificate.json
  overlong verify certificate.json py:mypackage.text:decode
  overlong verify certificate.json -- node adapter.js
  overlong verify --no-run certificate.json
  overlong verify --signature certificate.json.sig --signers allowed_signers \\
      certificate.json
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
    "--no-run",
    is_flag=True,
    help="Run nothing: check the certificate against itself, the decoder's files here and the vectors of this version.",
)
@click.option(
    "--max-strings",
    type=click.IntRange(0),
    default=10**9,
    show_default=True,
    metavar="N",
    help="Refuse a certificate whose sweeps have more strings.",
)
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
@click.option(
    "--signature",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check this detached signature with ssh-keygen before running anything.",
)
@click.option(
    "--signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of trusted signers; see ALLOWED SIGNERS in ssh-keygen(1).",
)
@click.option("--identity", metavar="SIGNER", help="Require this signer.  [default: any trusted signer]")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; print only the verdict.")
@click.option("-v", "--verbose", is_flag=True, help="Print every field that differs.")
def command(
    certificate: Path,
    target: tuple[str, ...],
    trust: bool,  # noqa: FBT001
    no_run: bool,  # noqa: FBT001
    max_strings: int,
    given: tuple[Path, ...],
    expected: Path | None,
    subjects: tuple[Path, ...],
    signature: Path | None,
    signers: Path | None,
    identity: str | None,
    output_format: str,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Repeat the measurement of a certificate, and compare.

    CERTIFICATE is a certificate.json, or its folder. verify gives the decoder the same inputs,
    within the same limits, and compares every field. It prints both values of each field that differs.

    Before anything runs, it counts the strings of the sweeps, since 'exhaustive-6' takes nine years,
    and refuses more than --max-strings.

    A certificate names a command. Without further options, verify runs only a decoder that ships with
    overlong. Any other it shows, and runs when you agree, or if you say --trust. Or name the decoder
    as TARGET, as in 'overlong certify'.

    verify reports another version of overlong or another environment, but this refutes nothing. It
    writes no file.

    \b
    Exit status:
      0  verified: everything is as the certificate says
      1  something differs, or the signature is not valid
      2  the command line or a file is wrong, or you did not agree to the decoder
      3  nothing was measured: the decoder or ssh-keygen is not here
      4  incomplete: interrupted, or restarted too often
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.verification.price import TooDear
    from overlong.conformance.certification.verification.reading import CertificateError
    from overlong.conformance.certification.verification.signature import NoTool, SignatureError
    from overlong.conformance.certification.verification.verifying import Signature, verify
    from overlong.conformance.cli.progress import Bar
    from overlong.conformance.results.expected import ExpectationError

    if (signature is None) != (signers is None):
        raise click.UsageError(
            "--signature and --signers belong together: only the signature of a listed signer counts"
        )
    if identity == "":  # an unset shell variable gives this; it must not mean "any signer"
        raise click.UsageError("--identity is empty; name the signer, or leave it out")
    if identity and signature is None:
        raise click.UsageError("--identity names a signer; name the signature with --signature")
    if no_run and (target or trust or given or expected):
        raise click.UsageError("--no-run uses none of these; leave out the target, --trust, --vectors and --expected")
    named = target_of(target) if target else None
    signed = None if signature is None or signers is None else Signature(signature, signers, identity or "")
    with errors_on_one_line(), files_refused(), Bar(enabled=not quiet) as bar:
        if named is not None:
            agreed_to([named], trust=trust)
        try:
            verification = with_agreement(
                lambda: verify(
                    certificate,
                    target=named,
                    run=not no_run,
                    given=given,
                    expected=expected,
                    subjects=subjects,
                    signature=signed,
                    progress=bar.update,
                    started=None if quiet else _say_what_is_run,
                    most=max_strings,
                ),
                trust=trust,
            )
        except (CertificateError, ExpectationError, TooDear) as error:
            leave(str(error), USAGE)
        except SignatureError as error:
            leave(str(error), DIVERGES)
        except NoTool as error:
            leave(str(error), NOT_MEASURED)
        bar.close()
        _print(verification, output_format, quiet=quiet, verbose=verbose)
    if verification.incomplete:
        sys.exit(INCOMPLETE)
    sys.exit(CONFORMS if verification.verified else DIVERGES)


def _say_what_is_run(certified: Certified, signer: str) -> None:
    """Print on stderr what is about to run."""
    from overlong.conformance.certification.verification.price import Price
    from overlong.conformance.support.printable import printable
    from overlong.conformance.support.provenance import generator

    if signer:
        click.echo(f"overlong: good signature by {signer}", err=True)
    by, here = certified.predicate["generator"], generator()
    if by != here:
        click.echo(
            f"overlong: the certificate is of {printable(by, 60)}, and this is {here}: the vectors may differ", err=True
        )
    click.echo(f"overlong: measuring again: {printable(certified.predicate['command'], 200)}", err=True)
    for line in Price.of(certified).lines:
        click.echo(f"overlong: {line}", err=True)


def _print(verification: Verification, output_format: str, *, quiet: bool, verbose: bool) -> None:
    from overlong.conformance.certification.verification.words import as_json, lines, verdict
    from overlong.conformance.support.printable import printable

    if output_format == "json":
        click.echo(json.dumps(as_json(verification), indent=2))
        return
    word, space, rest = verdict(verification).partition("  ")
    colour = {"VERIFIED": "green", "CONSISTENT": "green", "DIFFERS": "red", "INCOMPLETE": "yellow"}.get(word)
    click.echo(click.style(word, fg=colour, bold=True) + space + rest)
    if quiet:
        return
    target = verification.certified.predicate["target"]
    version = f" ({printable(target['version'], 60)})" if target["version"] else ""
    profile = printable(verification.certified.predicate["profile"], 40)
    click.echo(f"{profile} · {printable(target['id'], 80)}{version}")
    click.echo(f"certificate sha256 {verification.certified.digest}")
    if verification.signer:
        click.echo(f"signed by {verification.signer}")
    for line in lines(verification, every=verbose):
        click.echo(line)
