"""Verifies a certificate: repeats the run that it describes, and compares everything in it.

A certificate comes from a stranger and names a command. Without the verifier's consent, only decoders that ship with
an adapter run (``targets/consent.py``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.certification.certify import certify
from overlong.conformance.certification.tiers import NO_TIER
from overlong.conformance.certification.verification.comparison import NAME, Difference, compare
from overlong.conformance.certification.verification.reading import CertificateError, Certified, read
from overlong.conformance.results.difference import difference
from overlong.conformance.results.expected import Expectations
from overlong.conformance.results.invocation import GivenFile, fixed, identifier
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


@dataclass(frozen=True)
class Verification:
    """The result of verifying a certificate."""

    certified: Certified
    here: Any
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
        made = self.certified.path.with_name("here")
        return difference(
            report_of_statement(self.certified.statement, self.certified.path), report_of_statement(self.here, made)
        )


def verify(
    path: Path,
    *,
    target: str | Sequence[str] | None = None,
    trust: bool = False,
    given: Sequence[Path] = (),
    expected: Path | None = None,
    subjects: Sequence[Path] = (),
    progress: Progress | None = None,
    started: Callable[[Certified], None] | None = None,
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
        started: called before the run starts.

    Raises:
        CertificateError: it is no certificate, or asks for something that does not exist.
        NotAgreed: it names a command that needs consent.
        TargetError: the decoder cannot be measured here.
        CheckError, JsonError, WrongError: a file of vectors is malformed.
        ExpectationError: a file of expected deviations is malformed.
        OSError: a file cannot be read.
    """
    certified = read(path)
    asked = certified.invocation.target
    if target is None and not trust:
        check_from(path, [asked], _REMEDY)
    if started is not None:
        started(certified)
    certificate = measured(
        certified, target=target, given=given, expected=expected, subjects=subjects, progress=progress, trust=trust
    )
    refused = "" if certificate.run.incomplete else certificate.refused
    statement = json.loads(certificate.to_json())
    differences = compare(certified.statement, statement)
    here = asked if target is None else portable(fixed(target))
    if identifier(here) != identifier(asked):
        was, now = (each if isinstance(each, str) else list(each) for each in (asked, here))
        differences = (*differences, Difference("$.predicate.overlong.invocation.target", was, now, NAME))
    return Verification(certified, statement, differences, certificate.run.incomplete, refused)


def measured(
    certified: Certified,
    *,
    target: str | Sequence[str] | None = None,
    given: Sequence[Path] = (),
    expected: Path | None = None,
    subjects: Sequence[Path] = (),
    progress: Progress | None = None,
    trust: bool = False,
) -> Certificate:
    """Repeat the run that a certificate describes, under its names, whatever the paths here.

    Raises: as :func:`verify`.
    """
    asked = certified.invocation
    paths = _places(certified, [file.name for file in asked.vectors], given, "--vectors")
    for each in paths:
        if not each.exists():
            raise CertificateError(
                f"{printable(str(certified.path))}: the vectors {printable(str(each), 80)} are not here; say where "
                "they are with --vectors"
            )
    places = _places(certified, asked.subjects, subjects, "--subject")
    swept = tuple(plan["plan"] for plan in certified.predicate["sweeps"])
    here = replace(
        asked,
        target=fixed(target) if target else asked.target,
        plans=() if asked.plans == () else swept or None,  # a run that forbids sweeps leaves out more than them
        tier=NO_TIER,  # the affordable plans depend on the machine's load
        vectors=tuple(GivenFile.of(path, file.name) for path, file in zip(paths, asked.vectors, strict=True)),
        subjects=tuple(map(str, places)),
        repeated=tuple(suite["suite"] for suite in certified.predicate["suites"]),
    )
    deviations = None if asked.expected is None else _expected(certified, asked.expected, expected)
    try:
        certificate = certify(here, expected=deviations, progress=progress, trust=trust)
    except (KeyError, ValueError) as error:
        if isinstance(error, ValueError) and type(error) is not ValueError:
            raise  # an error in a file of vectors has its place
        raise CertificateError(
            f"{printable(str(certified.path))}: $.predicate.overlong names what this version does not have: "
            f"{printable(str(error.args[0]), 120)}; verify with {printable(certified.predicate['generator'], 40)}"
        ) from None
    certificate.run.target = identifier(asked.target)
    named = replace(certificate.invocation, target=asked.target, plans=asked.plans, subjects=asked.subjects)
    known = {portable_file(place): name for name, place in zip(asked.subjects, places, strict=True)}
    listed = tuple((known.get(name, name), digest) for name, digest in certificate.identity.files)
    identity = replace(certificate.identity, files=listed)
    if asked.expected is not None and named.expected is not None:
        named = replace(named, expected=replace(named.expected, name=asked.expected.name))
    return replace(certificate, identity=identity, invocation=named)


def _expected(certified: Certified, asked: GivenFile, given: Path | None) -> Expectations:
    """The expected deviations, from the file that the certificate names."""
    path = given or Path(asked.name)
    if not path.is_file():
        raise CertificateError(
            f"{printable(str(certified.path))}: the expected deviations {printable(str(path), 80)} are not here; say "
            "where they are with --expected"
        )
    asked_of = certified.invocation
    return Expectations.read(path, asked_of.target, today(), profile=asked_of.speaks)


def _places(certified: Certified, names: Sequence[str], given: Sequence[Path], option: str) -> list[Path]:
    """The places of the files that a certificate names, by default those names in the current folder.

    Raises:
        CertificateError: other places are given than it names files.
    """
    if given and len(given) != len(names):
        raise CertificateError(
            f"{printable(str(certified.path))}: it names {len(names)} files for {option}, and {len(given)} are given: "
            f"name each with {option}"
        )
    return list(given) or list(map(Path, names))
