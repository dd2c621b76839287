"""Verifies a certificate: repeats the run that it describes, and compares everything in it.

A certificate comes from a stranger and names a command, so it is read with care. Without the verifier's consent, only
decoders that ship with an adapter run (``targets/consent.py``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.certification.certify import certify
from overlong.conformance.certification.comparison import NAME, Difference, compare
from overlong.conformance.certification.tiers import NO_TIER
from overlong.conformance.results.difference import difference
from overlong.conformance.results.expected import Expectations
from overlong.conformance.results.invocation import GivenFile, Invocation, fixed, identifier
from overlong.conformance.results.reading.documents import ReportError, checked, document
from overlong.conformance.results.reading.statements import report_of_statement
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable, portable_file, today
from overlong.conformance.targets.consent import check_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Report

_REMEDY = "if you trust that file, add --trust, or name the decoder after the certificate"
_RESULTS = b'{"record": "header"'
"""How files of results begin."""


class CertificateError(ValueError):
    """A file is no certificate, or its invocation cannot be repeated; the message is one line."""


@dataclass(frozen=True)
class Verification:
    """The result of verifying a certificate."""

    path: Path
    """The certificate's."""
    certified: dict[str, Any]
    """Its statement."""
    here: dict[str, Any]
    """The statement made here."""
    differences: tuple[Difference, ...]
    incomplete: str = ""
    """The reason for an incomplete measurement; empty if it is complete."""
    refused: str = ""
    """The reason why this measurement makes no certificate; empty if it does."""

    @property
    def against(self) -> tuple[Difference, ...]:
        """The differences that are no mere information."""
        return tuple(each for each in self.differences if not each.information)

    @property
    def verified(self) -> bool:
        """True if everything except mere information agrees with the certificate."""
        return not self.incomplete and not self.refused and not self.against

    @property
    def verdict(self) -> str:
        """The outcome in a line; its first word is VERIFIED, DIFFERS or INCOMPLETE."""
        if self.incomplete:
            return f"INCOMPLETE  {printable(self.incomplete)}"
        if self.refused:
            return f"DIFFERS  no certificate is written for such a run: {self.refused}"
        if count := len(self.against):
            return f"DIFFERS  {'1 field is' if count == 1 else f'{count} fields are'} not as measured here"
        how = "in all that it says of the decoder" if self.differences else "octet for octet"
        return f"VERIFIED  {how}; the certified result is {self.here['predicate']['result']}"

    @property
    def diff(self) -> Report:
        """The two measurements compared, as ``overlong diff`` compares them."""
        made = report_of_statement(self.here, self.path.with_name("here"))
        return difference(report_of_statement(self.certified, self.path), made)


def verify(
    path: Path,
    *,
    target: str | Sequence[str] | None = None,
    trust: bool = False,
    given: Sequence[Path] = (),
    expected: Path | None = None,
    subjects: Sequence[Path] = (),
    progress: Progress | None = None,
    started: Callable[[dict[str, Any]], None] | None = None,
) -> Verification:
    """Verify a certificate.

    Args:
        path: the certificate's path.
        target: the decoder, if it has another name here; naming it means trusting it.
        trust: run any command that the certificate names.
        given: the files of vectors that it names, in that order, if their paths differ here.
        expected: the file of expected deviations that it names, if its path differs here.
        subjects: the further files of the decoder that it names, in that order, if their paths differ here.
        progress: called as the run proceeds.
        started: called with overlong's part of the certificate before the run starts.

    Raises:
        CertificateError: it is no certificate, or asks for something that does not exist.
        NotAgreed: it names a command that needs consent.
        TargetError: the decoder cannot be measured here.
        CheckError, JsonError: a file of vectors is malformed.
        ExpectationError: a file of expected deviations is malformed.
        OSError: a file cannot be read.
    """
    certified = read(path)
    said = certified["predicate"]["overlong"]
    asked = Invocation.of_json(said["invocation"], said["profile"])
    if target is None and not trust:
        check_from(path, [asked.target], _REMEDY)
    if started is not None:
        started(said)
    places = _places(path, [file.name for file in asked.vectors], given, "--vectors")
    for each in places:
        if not each.exists():
            raise _refused(
                path, f"the vectors {printable(str(each), 80)} are not here; say where they are with --vectors"
            )
    known = dict(zip(asked.subjects, _places(path, asked.subjects, subjects, "--subject"), strict=True))
    swept = tuple(plan["plan"] for plan in said["sweeps"])
    here = replace(
        asked,
        target=fixed(target) if target else asked.target,
        plans=() if asked.plans == () else swept or None,  # a run that forbids sweeps leaves out more than them
        tier=NO_TIER,  # the affordable plans depend on the machine's load
        vectors=tuple(GivenFile.of(place, file.name) for place, file in zip(places, asked.vectors, strict=True)),
        subjects=tuple(map(str, known.values())),
        repeated=tuple(suite["suite"] for suite in said["suites"]),
    )
    deviations = None if asked.expected is None else _expected(path, asked, expected or Path(asked.expected.name))
    try:
        certificate = certify(here, expected=deviations, progress=progress, trust=trust)
    except (KeyError, ValueError) as error:
        if isinstance(error, ValueError) and type(error) is not ValueError:
            raise  # an error in a file of vectors has its place
        raise _refused(
            path,
            f"$.predicate.overlong names what this version does not have: {printable(str(error.args[0]), 120)}; "
            f"verify with {printable(said['generator'], 40)}",
        ) from None
    refused = "" if certificate.run.incomplete else certificate.refused
    statement = json.loads(_under_names_of(asked, certificate, known).to_json())
    differences = compare(certified, statement)
    named = asked.target if target is None else portable(fixed(target))
    if identifier(named) != identifier(asked.target):
        was, now = (each if isinstance(each, str) else list(each) for each in (asked.target, named))
        differences = (*differences, Difference("$.predicate.overlong.invocation.target", was, now, NAME))
    return Verification(path, certified, statement, differences, certificate.run.incomplete, refused)


def _under_names_of(asked: Invocation, certificate: Certificate, known: dict[str, Path]) -> Certificate:
    """A certificate made here under the names of the one that it repeats, whatever the paths here.

    Args:
        asked: the invocation of that one.
        certificate: made here.
        known: the further files of the decoder by their names in that one.
    """
    certificate.run.target = identifier(asked.target)
    named = replace(certificate.invocation, target=asked.target, plans=asked.plans, subjects=asked.subjects)
    if asked.expected is not None and named.expected is not None:
        named = replace(named, expected=replace(named.expected, name=asked.expected.name))
    names = {portable_file(place): name for name, place in known.items()}
    files = tuple((names.get(name, name), digest) for name, digest in certificate.identity.files)
    return replace(certificate, identity=replace(certificate.identity, files=files), invocation=named)


def _expected(path: Path, asked: Invocation, file: Path) -> Expectations:
    """The expected deviations that a certificate names."""
    if not file.is_file():
        raise _refused(
            path, f"the expected deviations {printable(str(file), 80)} are not here; say where they are with --expected"
        )
    return Expectations.read(file, asked.target, today(), profile=asked.speaks)


def _places(path: Path, names: Sequence[str], given: Sequence[Path], option: str) -> list[Path]:
    """The places of the files that a certificate names, by default those names in the current folder.

    Raises:
        CertificateError: other places are given than it names files.
    """
    if given and len(given) != len(names):
        why = f"it names {len(names)} files for {option}, and {len(given)} are given: name each with {option}"
        raise _refused(path, why)
    return list(given) or list(map(Path, names))


def read(path: Path) -> dict[str, Any]:
    """The statement in a certificate.

    Raises:
        CertificateError: it is none; the message has the file, the place and the remedy.
        OSError: it cannot be read.
    """
    try:
        read_from = document(path)
        statement = cast("dict[str, Any]", read_from) if isinstance(read_from, dict) else {}
        kind = statement.get("schema")
        if isinstance(kind, str):  # certificates name none
            shown = printable(kind, 40)
            raise _refused(path, f"{shown}, no certificate; get one for a decoder with 'overlong certify'")
        checked(read_from, "certificate-1", path)
    except ReportError as error:
        if path.is_file():
            with path.open("rb") as file:
                if file.read(len(_RESULTS)) == _RESULTS:
                    raise _refused(
                        path,
                        "results, no certificate; name the certificate.json that lies beside them, or show them with "
                        "'overlong report'",
                    ) from None
        raise CertificateError(f"{str(error).removesuffix('; measure again')}; get it anew") from None
    said = statement["predicate"]["overlong"]
    asked = Invocation.of_json(said["invocation"], said["profile"])
    limits = asked.limits
    if not 0.01 <= limits.timeout <= 3600 or not (limits.memory == 0 or 1 << 24 <= limits.memory <= 1 << 60):
        raise _refused(
            path, "$.predicate.overlong.invocation.limits: 'overlong certify' takes no such limits; get it anew"
        )
    for name in (*asked.subjects, *(file.name for file in (*asked.vectors, asked.expected) if file is not None)):
        named = PurePosixPath(name)
        if named.is_absolute() or ".." in named.parts or "\0" in name:
            shown = printable(name, 80)
            raise _refused(
                path, f"it names the file {shown}, outside the current folder; no certificate does: get it anew"
            )
    return statement


def _refused(path: Path, why: str) -> CertificateError:
    return CertificateError(f"{printable(str(path))}: {why}")
