"""A verification in words: the differences and their meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.certification.verification.comparison import (
    ANSWERS,
    ASKED,
    DECODER,
    ENVIRONMENT,
    FORM,
    GENERATOR,
    NAME,
    SWEEPS,
    VECTORS,
    Difference,
)
from overlong.conformance.certification.verification.consistency import unknown_to_us
from overlong.conformance.results.certificate import OF_A_COMMAND
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.certification.verification.verifying import Verification

MOST = 12
"""The most fields of one kind to list, unless all are requested."""

SCHEMA = "overlong/verification-1"
_SUBJECT = "$.subject["
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


def lines(verification: Verification, *, every: bool = False) -> Iterator[str]:
    """The differences; ``every``: list all differing fields, however many."""
    for part, means in _MEANS.items():
        found = [each for each in verification.differences if each.part == part]
        if not found:
            continue
        yield f"  {means}"
        if part == DECODER:
            yield from (f"    {printable(name, 80)} is another file here" for name in other_files(verification, found))
        if part == ANSWERS:
            yield from (f"    {line}" for line in answers(verification))
        shown = found if every else found[:MOST]
        yield from (f"    {line}" for each in shown for line in each.lines)
        if len(shown) < len(found):
            yield f"    and {len(found) - len(shown)} more fields; --verbose lists all"
    if not verification.identical and not verification.differences:
        yield "  the same statement, spelt in other octets (information)"


def verdict(verification: Verification) -> str:
    """The first line of the report."""
    if verification.incomplete:
        return f"INCOMPLETE  {printable(verification.incomplete)}"
    if verification.refused:
        return f"DIFFERS  no certificate is written for such a run: {verification.refused}"
    against = [each for each in verification.differences if not each.information]
    if against:
        count = "1 field is" if len(against) == 1 else f"{len(against)} fields are"
        if verification.ran:
            return f"DIFFERS  {count} not as measured here"
        of_files = all(each.path.startswith(_SUBJECT) for each in against)
        return f"DIFFERS  {count} not as {'the files here are' if of_files else 'the rest of it demands'}"
    if not verification.ran:
        unknown = ", ".join(unknown_to_us(verification.certified.predicate))
        known = f"; this version has no {printable(unknown, 120)}, and cannot check them" if unknown else ""
        if OF_A_COMMAND in verification.certified.predicate["not_covered"]:
            known += f"; it does not cover {OF_A_COMMAND.partition(';')[0]}"
        names = printable(", ".join(verification.absent), 120)
        gone = f"; not here, so not compared: {names}" if names else ""
        return f"CONSISTENT  with itself and with the vectors of this version; nothing was run{known}{gone}"
    result = verification.here["predicate"]["result"]
    how = "octet for octet" if verification.identical else "in all that it says of the decoder"
    return f"VERIFIED  {how}; the certified result is {result}"


def other_files(verification: Verification, differences: Iterable[Difference]) -> Iterator[str]:
    """The names of the subjects that are other files here."""
    subjects = verification.certified.statement["subject"]
    for each in differences:
        if each.path.startswith(_SUBJECT) and each.path.endswith(".digest.sha256"):
            yield subjects[int(each.path.removeprefix(_SUBJECT).partition("]")[0])]["name"]


def answers(verification: Verification) -> Iterator[str]:
    """The claims and buckets that differ from the certificate."""
    then = verification.certified.predicate
    now: dict[str, Any] = verification.here["predicate"]["overlong"]
    for claim in dict.fromkeys((*then["claims"], *now["claims"])):
        states = then["claims"].get(claim, "not there"), now["claims"].get(claim, "not there")
        if states[0] != states[1]:
            yield f"claim {printable(claim, 40)}: {printable(states[0], 40)} in the certificate, {states[1]} here"
    before, after = ({(b["code"], b["place"]): b for b in each["buckets"]} for each in (then, now))
    for key in dict.fromkeys((*before, *after)):
        name = printable(" ".join(filter(None, key)), 60)
        if key not in after:
            yield f"bucket {name}: {before[key]['count']} divergences in the certificate, none here"
        elif key not in before:
            yield f"bucket {name}: {after[key]['count']} divergences here, none in the certificate"
        elif before[key]["count"] != after[key]["count"]:
            yield f"bucket {name}: {before[key]['count']} divergences in the certificate, {after[key]['count']} here"


def as_json(verification: Verification) -> dict[str, Any]:
    """The output of ``--format json``."""
    by, here = verification.generator
    return {
        "schema": SCHEMA,
        "certificate": {"sha256": verification.certified.digest},
        "generator": {"certified": by, "here": here},
        "ran": verification.ran,
        "signer": verification.signer,
        "verified": verification.verified,
        "identical": verification.identical,
        "incomplete": verification.incomplete,
        "refused": verification.refused,
        "differences": [_difference(each) for each in verification.differences],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return difference.as_json() | {"means": _MEANS[difference.part]}
