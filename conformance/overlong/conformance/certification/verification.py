"""Verifies a certificate: repeats the run that it describes, and compares everything in it, field by field.

A certificate comes from a stranger and names a command, so it is read with care. Without the verifier's consent, only
decoders that ship with an adapter run (``targets/consent.py``).

Records of a list are matched by their names, so that one more suite does not make all later ones differ; unmatched
records are compared in order.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from overlong.conformance.certification.certify import certify
from overlong.conformance.certification.tiers import NO_TIER
from overlong.conformance.results.difference import difference
from overlong.conformance.results.expected import Expectations
from overlong.conformance.results.invocation import GivenFile, Invocation, fixed, identifier
from overlong.conformance.results.records import ReportError, checked, document
from overlong.conformance.results.statements import report_of_statement
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable, portable_file, today
from overlong.conformance.targets.consent import check_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


GENERATOR, ENVIRONMENT, NAME = "generator", "environment", "name"
DECODER, VECTORS, SWEEPS, ANSWERS, ASKED, FORM = "decoder", "vectors", "sweeps", "answers", "asked", "form"
INFORMATION = frozenset({GENERATOR, ENVIRONMENT, NAME})
"""Parts whose differences are reported but refute nothing: the certifier, the place and the name."""

_PARTS = (
    (r"\.predicate\.overlong\.generator", GENERATOR),
    (r"\.predicate\.overlong\.(environment|restarts)", ENVIRONMENT),  # a busy machine restarts; a failure is a finding
    (r"\.subject", DECODER),
    (r"\.predicate\.overlong\.target", DECODER),
    (r"\.predicate\.configuration", VECTORS),
    (r"\.predicate\.overlong\.suites\[\d+\]\.(suite|shows|vectors|vectors_digest)\b", VECTORS),
    (r"\.predicate\.overlong\.sweeps", SWEEPS),
    (r"\.predicate\.overlong\.(invocation|command|profile)", ASKED),
    (r"\.predicate\.(result|passedTests|warnedTests|failedTests)", ANSWERS),
    (r"\.predicate\.overlong\.", ANSWERS),
)
_MEANS = {
    GENERATOR: "another version of overlong made it (information)",
    ENVIRONMENT: "another environment (information)",
    NAME: "another name for the decoder here (information)",
    FORM: "no statement that overlong writes",
    ASKED: "something else was tested",
    DECODER: "another decoder: its files, its version or what it says of itself",
    VECTORS: "other vectors: another version of overlong has others",
    SWEEPS: "other answers in a sweep, or another sweep",
    ANSWERS: "other answers: claims, buckets, counts and the digest of findings",
}
"""Kinds of differences in the order of the report; each explains those after it."""


NOTHING: Final = object()
"""Stands for a value that one of the statements lacks."""
MOST = 12
"""The most fields of one kind to list, unless all are requested."""
_SHORT = 76
"""The most characters of a difference in one line."""


@dataclass(frozen=True)
class Difference:
    """A place where two statements differ."""

    path: str
    """The path, as JSONPath (RFC 9535), in the certificate; safe to show."""
    certified: Any
    here: Any
    part: str
    """The part that it belongs to: one of the names above."""

    @property
    def information(self) -> bool:
        """True if it refutes nothing."""
        return self.part in INFORMATION

    @property
    def lines(self) -> tuple[str, ...]:
        """The difference in one line if that is short, otherwise in three."""
        certified, here = _shown(self.certified), _shown(self.here)
        line = f"{self.path}: {certified} in the certificate, {here} here"
        return (line,) if len(line) <= _SHORT else (self.path, f"  was {certified}", f"  now {here}")


def compare(certified: Any, here: Any) -> tuple[Difference, ...]:
    """Every field in which a certificate's statement and the one made here differ."""
    return tuple(_differences(certified, here, "$"))


def lines(differences: Sequence[Difference], *, every: bool = False) -> Iterator[str]:
    """The differences in words, by kind; ``every``: list all differing fields, however many."""
    for part, means in _MEANS.items():
        found = [each for each in differences if each.part == part]
        if found:
            yield f"  {means}"
        shown = found if every else found[:MOST]
        yield from (f"    {line}" for each in shown for line in each.lines)
        if len(shown) < len(found):
            yield f"    and {len(found) - len(shown)} more fields; --verbose lists all"


def _differences(left: Any, right: Any, path: str) -> Iterator[Difference]:
    if isinstance(left, dict) and isinstance(right, dict):
        mine, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        for name in dict.fromkeys((*mine, *theirs)):
            yield from _differences(mine.get(name, NOTHING), theirs.get(name, NOTHING), path + _member(name))
    elif _is_list(left) and _is_list(right):
        for place, mine, theirs in _matched(left, right):
            yield from _differences(mine, theirs, f"{path}[{place}]")
    elif not _same(left, right):
        part = next((part for pattern, part in _PARTS if re.match(pattern, path[1:])), FORM)
        yield Difference(path, left, right, part)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _matched(left: list[Any], right: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Pairs of entries with the index in the left list, or in the right list if the left has none."""
    names = [_name(each) for each in left], [_name(each) for each in right]
    partner: dict[int, int] = {}
    if None not in (*names[0], *names[1]) and all(len(set(each)) == len(each) for each in names):
        places = {name: place for place, name in enumerate(names[1])}
        partner = {place: places[name] for place, name in enumerate(names[0]) if name in places}
    taken = set(partner.values())
    rest = iter([place for place in range(len(right)) if place not in taken])
    for place, entry in enumerate(left):
        other = partner.get(place)
        other = next(rest, None) if other is None else other
        yield place, entry, NOTHING if other is None else right[other]
    for other in rest:
        yield other, NOTHING, right[other]
    order = [partner[place] for place in sorted(partner)]
    for place, at in zip(sorted(partner), sorted(order), strict=True):
        if partner[place] != at and len(partner) == len(left) == len(right):
            yield place, f"the entry {names[0][place]}", f"the entry {names[1][at]}"


def _name(entry: Any) -> str | None:
    """The name of a record among its kind; None if the entry is no record."""
    if not isinstance(entry, dict):
        return None
    record = cast("dict[str, Any]", entry)
    if "code" in record:
        return f"{record['code']} {record.get('place')}"
    return next((str(record[key]) for key in ("suite", "plan", "name") if key in record), None)


def _same(left: Any, right: Any) -> bool:
    """True if two values are equal in JSON: true is no number, and 1.0 equals 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _member(name: str) -> str:
    return f".{name}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"[{json.dumps(printable(name, 60))}]"


def _shown(value: Any) -> str:
    return "nothing" if value is NOTHING else printable(json.dumps(value, ensure_ascii=False), 72)
