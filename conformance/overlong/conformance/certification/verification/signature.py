"""Checks detached signatures by OpenSSH: ``ssh-keygen -Y verify``. This module implements no cryptography.

OpenSSH gets the octets on standard input. The same octets are then read as a certificate, so the file cannot change
in between.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = "overlong"
"""The purpose of certificates' signatures (``ssh-keygen -Y sign -n``): a signature for another purpose is invalid."""
TOOL = "ssh-keygen"
_SECONDS = 30.0
LARGEST_SIGNATURE, LARGEST_SIGNERS = 1 << 16, 1 << 20
"""The most octets of a signature, which has a few hundred, and of a file of signers: OpenSSH is slow with more."""


class SignatureError(Exception):
    """The signature is invalid; the message is one line."""


class NoTool(Exception):
    """Signatures cannot be checked here; the message names the package to install."""


def signed_by(octets: bytes, signature: Path, signers: Path, identity: str = "") -> str:
    """The signer of some octets, by the name in ``signers``; safe to show.

    Args:
        octets: the signed octets.
        signature: the file that ``ssh-keygen -Y sign`` wrote.
        signers: a file of the permitted signers (ALLOWED SIGNERS in ssh-keygen(1)).
        identity: the required signer; empty: any of them.

    Raises:
        SignatureError: it is by another signer, for other octets or another purpose, or is no signature.
        NoTool: OpenSSH is not installed.
        OSError: a file cannot be read.
    """
    tool = shutil.which(TOOL)
    if tool is None:
        raise NoTool(f"{TOOL} is not on PATH; install openssh-client to check signatures")
    for path, largest in ((signature, LARGEST_SIGNATURE), (signers, LARGEST_SIGNERS)):
        if path.exists() and not path.is_file():  # a pipe would block
            raise SignatureError(f"{printable(str(path))}: not a regular file; name one")
        with path.open("rb"):
            pass  # fail here with a clear error, not in another program
        if path.stat().st_size > largest:
            raise SignatureError(f"{printable(str(path))}: more than {largest} octets: no such file; name another")
    files = ("-f", str(signers.absolute()), "-s", str(signature.absolute()))
    signer = identity or _principal(tool, files, signature)
    said = _run((tool, "-Y", "verify", *files, "-I", signer, "-n", NAMESPACE), octets)
    if said.returncode:
        raise SignatureError(
            f"{printable(str(signature))}: no good signature of this certificate by {printable(signer, 80)}: "
            f"{_reason(said)}"
        )
    return printable(signer, 80)


def _principal(tool: str, files: tuple[str, ...], signature: Path) -> str:
    """The owner of the signing key; this does not check the signature."""
    said = _run((tool, "-Y", "find-principals", *files), b"")
    names = said.stdout.decode("utf-8", "replace").splitlines()
    if said.returncode or not names:
        raise SignatureError(f"{printable(str(signature))}: not by a permitted signer: {_reason(said)}")
    return names[0]


def _run(command: tuple[str, ...], octets: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=octets, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise SignatureError(f"{TOOL} did not end within {_SECONDS:.0f} s; try it by hand") from None
    except ValueError:  # a name that contains NUL
        raise SignatureError("a signer's name cannot hold a NUL octet") from None


def _reason(said: subprocess.CompletedProcess[bytes]) -> str:
    lines = (said.stderr or said.stdout).decode("utf-8", "replace").strip().splitlines()
    return printable(lines[0].rstrip(".\r"), 120) if lines else f"{TOOL} ended with {said.returncode}"
