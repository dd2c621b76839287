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
from overlong.conformance.certification.verification.comparison import NAME, Difference, compare
from overlong.conformance.certification.verification.consistency import consistent, invocation_of, why_none
from overlong.conformance.certification.verification.price import MOST, Price
from overlong.conformance.certification.verification.reading import CertificateError, Certified, octets_of, parsed
from overlong.conformance.certification.verification.signature import signed_by
from overlong.conformance.certification.verification.subjects import absent, places_of
from overlong.conformance.results.certificate import spelt
from overlong.conformance.results.expected import Expectations
from overlong.conformance.results.invocation import GivenFile, identifier
from overlong.conformance.support.portable import portable_file
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import generator, today
from overlong.conformance.targets.consent import check_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.results.certificate import Certificate

_REMEDY = "if you trust that file, add --trust, or name the decoder after the certificate"


@dataclass(frozen=True)
class Signature:
    """A detached signature, and the permitted signers."""

    file: Path
    signers: Path
    identity: str = ""


@dataclass(frozen=True)
class Verification:
    """The result of verifying a certificate."""

    certified: Certified
    here: Any
    """The statement made here; if nothing was run, the certificate's own with its dependent fields derived again."""
    differences: tuple[Difference, ...]
    ran: bool
    signer: str = ""
    """The signer, safe to show; empty: no signature was required."""
    incomplete: str = ""
    """The reason for an incomplete measurement; empty if it is complete."""
    absent: tuple[str, ...] = ()
    """If nothing was run: the further subjects that are not here, so that they could not be compared."""
    refused: str = ""
    """The reason why this measurement makes no certificate; empty if it does."""

    @property
    def verified(self) -> bool:
        """True if everything except mere information agrees with the certificate."""
        return not self.incomplete and not self.refused and all(each.information for each in self.differences)

    @property
    def identical(self) -> bool:
        """True if the file equals, octet for octet, the certificate that this run would write."""
        return spelt(self.here).encode() == self.certified.octets

    @property
    def generator(self) -> tuple[str, str]:
        """The versions that made and verified the certificate."""
        return self.certified.predicate["generator"], generator()


def verify(
    path: Path,
    *,
    target: str | Sequence[str] | None = None,
    trust: bool = False,
    run: bool = True,
    given: Sequence[Path] = (),
    expected: Path | None = None,
    subjects: Sequence[Path] = (),
    signature: Signature | None = None,
    progress: Progress | None = None,
    started: Callable[[Certified, str], None] | None = None,
    most: int = MOST,
) -> Verification:
    """Verify a certificate.

    Args:
        path: the certificate's path.
        target: the decoder, if it has another name here; naming it means trusting it.
        trust: run any command that the certificate names.
        run: if false, only check its consistency with itself, with this version's vectors and with the decoder's files
            that are here.
        given: the files of vectors that it names, in that order, if their paths differ here.
        expected: the file of expected deviations that it names, if its path differs here.
        subjects: the further files of the decoder that it names, in that order, if their paths differ here.
        signature: must be valid before anything is read or run.
        progress: called as the run proceeds.
        started: called with the signer's name before the run starts.
        most: the most strings that its sweeps may ask.

    Raises:
        CertificateError: it is no certificate, or asks for something that does not exist.
        SignatureError: its signature is invalid.
        NoTool: signatures cannot be checked here.
        NotAgreed: it names a command that needs consent.
        TooDear: its sweeps would ask more strings than ``most``.
        TargetError: the decoder cannot be measured here.
        CheckError, JsonError, WrongError: a file of vectors is malformed.
        ExpectationError: a file of expected deviations is malformed.
        OSError: a file cannot be read.
    """
    octets = octets_of(path)
    signer = signed_by(octets, signature.file, signature.signers, signature.identity) if signature else ""
    certified = parsed(path, octets)
    if not run:
        here, gone = consistent(certified, subjects), tuple(absent(certified, subjects))
        differences = compare(certified.statement, here)
        return Verification(certified, here, differences, ran=False, signer=signer, absent=gone, refused=why_none(here))
    Price.of(certified).allowed(certified, most)
    if target is None and not trust:
        check_from(path, [certified.target], _REMEDY)
    if started is not None:
        started(certified, signer)
    certificate = measured(
        *(certified,), target=target, given=given, expected=expected, subjects=subjects, progress=progress, trust=trust
    )
    refused = "" if certificate.run.incomplete else certificate.refused
    statement = json.loads(certificate.to_json())
    differences = compare(certified.statement, statement)
    if target is not None and identifier(target) != identifier(certified.target):
        told = Difference("$.predicate.overlong.invocation.target", certified.invocation["target"], target, NAME)
        differences = (*differences, replace(told, here=target if isinstance(target, str) else list(target)))
    return Verification(
        certified, statement, differences, ran=True, signer=signer, incomplete=certificate.run.incomplete,
        refused=refused,
    )  # fmt: skip


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
    asked = invocation_of(certified)
    paths = _files(certified, asked.vectors, given)
    speaks = certified.predicate["profile"].partition("@")[0]
    swept = [plan["plan"] for plan in certified.predicate["sweeps"]]
    places = places_of(certified, subjects)
    deviations = None if asked.expected is None else _expected(certified, asked.expected, expected, speaks)
    try:
        certificate = certify(
            target or (asked.target if isinstance(asked.target, str) else list(asked.target)),
            suites=asked.suites,
            sweeps=() if asked.sweeps == () else swept or None,  # a run that forbids sweeps leaves out more than them
            usual=False,  # the affordable plans depend on the machine's load
            constants=False,
            given=paths,
            subjects=[*places.values()],
            thorough=asked.thorough,
            speaks=speaks,
            limits=asked.limits,
            progress=progress,
            expected=deviations,
            trust=trust,
        )
    except (KeyError, ValueError) as error:
        if isinstance(error, ValueError) and type(error) is not ValueError:
            raise  # an error in a file of vectors has its place
        raise CertificateError(
            f"{printable(str(certified.path))}: $.predicate.overlong names what this version does not have: "
            f"{printable(str(error.args[0]), 120)}; verify with {printable(certified.predicate['generator'], 40)}"
        ) from None
    certificate.run.target = identifier(asked.target)
    files = tuple(
        replace(GivenFile.of(place), name=file.name) for place, file in zip(paths, asked.vectors, strict=True)
    )
    named = replace(
        certificate.invocation, target=asked.target, vectors=files, sweeps=asked.sweeps, subjects=asked.subjects
    )
    known = {portable_file(place): name for name, place in places.items()}
    listed = tuple((known.get(name, name), digest) for name, digest in certificate.identity.files)
    identity = replace(certificate.identity, files=listed)
    if asked.expected is not None and named.expected is not None:
        named = replace(named, expected=replace(named.expected, name=asked.expected.name))
    return replace(certificate, identity=identity, invocation=named, command=named.command(speaks))


def _expected(certified: Certified, asked: GivenFile, given: Path | None, speaks: str) -> Expectations:
    """The expected deviations, from the file that the certificate names."""
    path = given or Path(asked.name)
    if not path.is_file():
        raise CertificateError(
            f"{printable(str(certified.path))}: the expected deviations {printable(str(path), 80)} are not here; say "
            "where they are with --expected"
        )
    target = certified.target
    return Expectations.read(path, target if isinstance(target, str) else list(target), today(), profile=speaks)


def _files(certified: Certified, asked: Sequence[GivenFile], given: Sequence[Path]) -> list[Path]:
    """The paths of the files of vectors."""
    name = printable(str(certified.path))
    if given and len(given) != len(asked):
        raise CertificateError(
            f"{name}: it names {len(asked)} files of vectors, and {len(given)} are given: name each with --vectors"
        )
    paths = list(given) or [Path(file.name) for file in asked]
    for path in paths:
        if not path.exists():
            raise CertificateError(
                f"{name}: the vectors {printable(str(path), 80)} are not here; say where they are with --vectors"
            )
    return paths
