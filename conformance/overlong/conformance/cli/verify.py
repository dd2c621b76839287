"""``overlong verify``: measure again what a certificate certifies, and compare."""

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
from overlong.conformance.cli.trust import agreed_to
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
            f"{printable(str(path))}: no certificate.json in it; a run of some suites, or one that was broken off, "
            "leaves none"
        )
    return certificate


@click.command("verify", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("certificate", type=click.Path(exists=True, path_type=Path), callback=_file_or_folder)
@click.argument("target", nargs=-1, shell_complete=complete_targets)
@click.option("--trust", is_flag=True, help="Run the decoder that the certificate names, whatever it is.")
@click.option(
    "--no-run", is_flag=True, help="Run nothing: compare it with itself and with the vectors of this version."
)
@click.option(
    "--max-strings",
    type=click.IntRange(0),
    default=10**9,
    show_default=True,
    metavar="N",
    help="Refuse if its sweeps would ask more strings.",
)
@click.option(
    "--vectors",
    "given",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Where the vectors lie that it names, one option for each, in its order.  [default: where it says]",
)
@click.option(
    "--expected",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where its file of expected deviations lies.  [default: where it says]",
)
@click.option(
    "--signature",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check this detached signature with ssh-keygen before anything runs.",
)
@click.option(
    "--signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Trusted signers: ALLOWED SIGNERS in ssh-keygen(1).",
)
@click.option("--identity", metavar="SIGNER", help="The signer that is required.  [default: any of them]")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress; print the verdict only.")
@click.option("-v", "--verbose", is_flag=True, help="Print every field that differs.")
def command(
    certificate: Path,
    target: tuple[str, ...],
    trust: bool,  # noqa: FBT001
    no_run: bool,  # noqa: FBT001
    max_strings: int,
    given: tuple[Path, ...],
    expected: Path | None,
    signature: Path | None,
    signers: Path | None,
    identity: str | None,
    output_format: str,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Verify a certificate: measure again what it certifies, and say what differs.

    CERTIFICATE is a certificate.json, or its folder. verify asks the decoder the same again, within
    the same limits, and compares every field; it names each one that differs with both values.

    It first counts the strings of the sweeps, since 'exhaustive-6' takes nine years, and refuses more
    than --max-strings before anything runs.

    A certificate names a command. Only a decoder that ships with overlong runs on its word alone; name
    any other as TARGET (as in 'overlong certify'), or give --trust.

    Another version of overlong or environment is reported and refutes nothing. No file is written.

    \b
    Exit status:
      0  verified: all is as the certificate says
      1  something differs, or the signature is not good
      2  the command line or a file is wrong, or the decoder needs --trust
      3  nothing was measured: the decoder is not here; or ssh-keygen is not
      4  incomplete: interrupted, or restarted too often
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.verification.price import TooDear
    from overlong.conformance.certification.verification.reading import CertificateError
    from overlong.conformance.certification.verification.signature import NoTool, SignatureError
    from overlong.conformance.certification.verification.verifying import NotTrusted, Signature, verify
    from overlong.conformance.cli.progress import Bar
    from overlong.conformance.results.expected import ExpectationError

    if (signature is None) != (signers is None):
        raise click.UsageError(
            "--signature and --signers belong together: only the signature of a listed signer counts"
        )
    if identity == "":  # as of a variable that is not set: it must not mean any signer
        raise click.UsageError("--identity is empty; name the signer, or leave it out")
    if identity and signature is None:
        raise click.UsageError("--identity names a signer; name the signature with --signature")
    if no_run and (target or trust or given or expected):
        raise click.UsageError("--no-run runs nothing; leave out the target, --trust, --vectors and --expected")
    named = target_of(target) if target else None
    signed = None if signature is None or signers is None else Signature(signature, signers, identity or "")
    with errors_on_one_line(), files_refused(), Bar(enabled=not quiet) as bar:
        if named is not None:
            agreed_to([named], trust=trust)
        try:
            verification = verify(
                certificate,
                target=named,
                trust=trust,
                run=not no_run,
                given=given,
                expected=expected,
                signature=signed,
                progress=bar.update,
                started=None if quiet else _say_what_is_run,
                most=max_strings,
            )
        except (CertificateError, ExpectationError, NotTrusted, TooDear) as error:
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
    """On stderr, before anything is run."""
    from overlong.conformance.certification.verification.price import Price
    from overlong.conformance.support.printable import printable
    from overlong.conformance.support.provenance import generator

    if signer:
        click.echo(f"overlong: good signature by {signer}", err=True)
    by, here = certified.predicate["generator"], generator()
    if by != here:
        click.echo(f"overlong: made by {printable(by, 60)}, and this is {here}: other vectors may be asked", err=True)
    click.echo(f"overlong: measuring again: {printable(certified.predicate['command'], 200)}", err=True)
    for line in Price.of(certified).lines:
        click.echo(f"overlong: {line}", err=True)


def _print(verification: Verification, output_format: str, *, quiet: bool, verbose: bool) -> None:
    from overlong.conformance.certification.verification.words import as_json, lines, verdict
    from overlong.conformance.support.printable import printable

    if output_format == "json":
        click.echo(json.dumps(as_json(verification), indent=2))
        return
    if not quiet:
        target = verification.certified.predicate["target"]
        version = f" ({printable(target['version'], 60)})" if target["version"] else ""
        profile = printable(verification.certified.predicate["profile"], 40)
        click.echo(f"{profile} · {printable(target['id'], 80)}{version}")
        click.echo(f"certificate sha256 {verification.certified.digest}")
        if verification.signer:
            click.echo(f"signed by {verification.signer}")
    for line in [verdict(verification)] if quiet else lines(verification, every=verbose):
        word, space, rest = line.partition("  ")
        colour = {"VERIFIED": "green", "CONSISTENT": "green", "DIFFERS": "red", "INCOMPLETE": "yellow"}.get(word)
        click.echo(click.style(word, fg=colour, bold=True) + space + rest if colour else line)
