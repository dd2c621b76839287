"""Reads a certificate with care: it comes from strangers, and it names a command to run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.results.reading.documents import LARGEST_DOCUMENT, ReportError, checked, not_too_many, regular
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import JsonError, loads
from overlong.conformance.vectors.names import respelt

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "certificate-1"


class CertificateError(ValueError):
    """A file is no certificate, or its invocation cannot be repeated; the message is one line."""


@dataclass(frozen=True)
class Certified:
    """The content of a certificate. ``octets`` are the file's, read once: a signature signs them. In the statement,
    suites and plans have their current names.
    """

    path: Path
    octets: bytes
    statement: dict[str, Any]

    @property
    def predicate(self) -> dict[str, Any]:
        """Overlong's additions to in-toto's test result."""
        added: dict[str, Any] = self.statement["predicate"]["overlong"]
        return added

    @property
    def invocation(self) -> dict[str, Any]:
        asked: dict[str, Any] = self.predicate["invocation"]
        return asked

    @property
    def target(self) -> str | tuple[str, ...]:
        """The decoder's name, or the words of a command."""
        named = self.invocation["target"]
        return named if isinstance(named, str) else tuple(named)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names of the files that the run added to those of the decoder's command line."""
        return tuple(self.invocation.get("subjects", ()))

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.octets).hexdigest()


def octets_of(path: Path) -> bytes:
    """All octets of a file.

    Raises:
        CertificateError: it is no regular file, or too large.
        OSError: it cannot be read.
    """
    try:
        regular(path)
    except ReportError:
        raise CertificateError(
            f"{printable(str(path))}: not a regular file; name the file that 'overlong certify' wrote"
        ) from None
    with path.open("rb") as file:
        too_large = os.fstat(file.fileno()).st_size > LARGEST_DOCUMENT
        octets = b"" if too_large else file.read(LARGEST_DOCUMENT + 1)
    if too_large or len(octets) > LARGEST_DOCUMENT:
        raise CertificateError(f"{printable(str(path))}: more than {LARGEST_DOCUMENT} octets: no certificate")
    return octets


def parsed(path: Path, octets: bytes) -> Certified:
    """The certificate in these octets.

    Raises:
        CertificateError: they are no certificate; the message has the file, the place and the remedy.
    """
    try:
        not_too_many(octets, path)
        statement = loads(octets, str(path))
        _asked_how(statement, path)
        checked(statement, SCHEMA, path)
    except JsonError as error:
        if octets.startswith(b'{"record": "header"'):
            raise CertificateError(
                f"{printable(str(path))}: results, no certificate; name the certificate.json that lies beside them, or "
                "show them with 'overlong report'"
            ) from None
        raise CertificateError(f"{error}; it is damaged or no certificate: get it anew") from None
    except ReportError as error:
        raise CertificateError(str(error).removesuffix("; measure again") + "; get it anew") from None
    respelt(statement["predicate"]["overlong"])
    certified = Certified(path, octets, statement)
    limits = certified.invocation["limits"]
    if not 0.01 <= limits["timeout"] <= 3600 or not (limits["memory"] == 0 or 1 << 24 <= limits["memory"] <= 1 << 60):
        raise CertificateError(
            f"{printable(str(path))}: $.predicate.overlong.invocation.limits: 'overlong certify' takes no such limits; "
            "get it anew"
        )
    asked = certified.invocation
    read = (file["name"] for file in (*asked["vectors"], *filter(None, [asked["expected"]])))
    for name in (*read, *certified.subjects):
        named = PurePosixPath(name)
        if named.is_absolute() or ".." in named.parts or "\0" in name:
            raise CertificateError(
                f"{printable(str(path))}: it names the file {printable(name, 80)}, outside the current folder; "
                "no certificate does: get it anew"
            )
    return certified


def _asked_how(statement: Any, path: Path) -> None:
    """Raise a clear error for a certificate too old to verify."""
    added = cast("dict[str, Any]", statement) if isinstance(statement, dict) else dict[str, Any]()
    for member in ("predicate", "overlong"):
        below = added.get(member)
        added = cast("dict[str, Any]", below) if isinstance(below, dict) else dict[str, Any]()
    if "command" in added and "invocation" not in added:
        raise CertificateError(
            f"{printable(str(path))}: $.predicate.overlong.invocation is missing: an older overlong wrote it; "
            "certify the decoder again"
        )
