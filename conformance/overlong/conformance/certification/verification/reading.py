"""Reads a certificate with care: it comes from strangers, and it names a command to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.results.invocation import GivenFile, Invocation
from overlong.conformance.results.reading.documents import ReportError, checked, document
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path


class CertificateError(ValueError):
    """A file is no certificate, or its invocation cannot be repeated; the message is one line."""


@dataclass(frozen=True)
class Certified:
    """The content of a certificate."""

    path: Path
    statement: dict[str, Any]

    @property
    def predicate(self) -> dict[str, Any]:
        """Overlong's additions to in-toto's test result."""
        added: dict[str, Any] = self.statement["predicate"]["overlong"]
        return added

    @property
    def invocation(self) -> Invocation:
        """The run that it repeats."""
        asked = self.predicate["invocation"]
        limits, target = asked["limits"], asked["target"]
        return Invocation(
            target if isinstance(target, str) else tuple(target),
            None if asked["suites"] is None else tuple(asked["suites"]),
            None if asked["sweeps"] is None else tuple(asked["sweeps"]),
            thorough=asked["thorough"],
            vectors=tuple(map(_file, asked["vectors"])),
            expected=None if asked["expected"] is None else _file(asked["expected"]),
            limits=Limits(
                limits["timeout"], limits["restarts"], memory=limits["memory"], threads=limits.get("threads", 0)
            ),
            subjects=tuple(asked.get("subjects", ())),
            speaks=self.predicate["profile"].partition("@")[0],
        )


def _file(said: dict[str, Any]) -> GivenFile:
    ((algorithm, digest),) = said["digest"].items()
    return GivenFile(said["name"], algorithm, digest)


def read(path: Path) -> Certified:
    """The certificate in a file.

    Raises:
        CertificateError: it is none; the message has the file, the place and the remedy.
        OSError: it cannot be read.
    """
    name = printable(str(path))
    try:
        statement = document(path)
        if kind := _schema(statement):
            raise CertificateError(f"{name}: {kind}, no certificate; get one for a decoder with 'overlong certify'")
        checked(statement, "certificate-1", path)
    except ReportError as error:
        if _begins(path, b'{"record": "header"'):
            raise CertificateError(
                f"{name}: results, no certificate; name the certificate.json that lies beside them, or show them with "
                "'overlong report'"
            ) from None
        raise CertificateError(f"{str(error).removesuffix('; measure again')}; get it anew") from None
    certified = Certified(path, statement)
    asked = certified.invocation
    limits = asked.limits
    if not 0.01 <= limits.timeout <= 3600 or not (limits.memory == 0 or 1 << 24 <= limits.memory <= 1 << 60):
        raise CertificateError(
            f"{name}: $.predicate.overlong.invocation.limits: 'overlong certify' takes no such limits; get it anew"
        )
    for file in (*asked.vectors, *filter(None, [asked.expected])):
        _inside(file.name, name)
    for each in asked.subjects:
        _inside(each, name)
    return certified


def _schema(statement: object) -> str:
    """The schema that a document of overlong names; certificates name none."""
    schema = cast("dict[str, object]", statement).get("schema") if isinstance(statement, dict) else None
    return printable(schema, 40) if isinstance(schema, str) else ""


def _begins(path: Path, octets: bytes) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(octets)) == octets


def _inside(name: str, certificate: str) -> None:
    """Refuse a file outside the current folder."""
    named = PurePosixPath(name)
    if named.is_absolute() or ".." in named.parts or "\0" in name:
        raise CertificateError(
            f"{certificate}: it names the file {printable(name, 80)}, outside the current folder; no certificate does: "
            "get it anew"
        )
