"""``results.jsonl``: a header, a record for each divergence, suite, sweep and bucket, and a footer.

A file without its footer was cut. ``report/reading/results.py`` reads it back; the schema is
``schemas/results-1.schema.json``.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.oracle.kinds import KINDS
from overlong.conformance.results.expected.records import counts_as_json, notes_on, stale_as_json, standing_as_json
from overlong.conformance.support.printable import as_text, thousands
from overlong.conformance.support.provenance import environment, generator, timestamp
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Bucket, Finding
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Map
    from overlong.conformance.results.run import Run, SuiteRun
    from overlong.conformance.results.sweeps import PlanRun

RESULTS = "results.jsonl"
SCHEMA = "overlong/results-1"
RECORDED = 1000
"""Divergences of one bucket that are written out; all are counted."""


class ResultsWriter:
    """Writes results, record by record."""

    def __init__(self, file: IO[str], *, command: str) -> None:
        self._file = file
        self._command = command
        self._written: Counter[tuple[str, str]] = Counter()

    def header(self, target: str, greeting: Greeting, digest: str, profile: str) -> None:
        self._write(header_as_json(target, greeting, digest, profile, self._command))

    def divergence(self, finding: Finding) -> None:
        self._written[finding.bucket] += 1
        if self._written[finding.bucket] <= RECORDED:
            self._write({"record": "divergence", **finding_as_json(finding)})

    def diverged(self, found: Divergences) -> None:
        """Of divergences in columns, those that are written out; all are counted."""
        for finding in found.first(lambda bucket: RECORDED - self._written[bucket]):
            self._write({"record": "divergence", **finding_as_json(finding)})
        self._written += found.counts

    def portrait(self, maps: Sequence[Map]) -> None:
        """What the target makes of every pair of octets, compressed: most of it is runs of the same answer."""
        for each in maps:
            self._write({"record": "portrait", "name": each.name, "answers": packed(each.answers)})

    def footer(self, certificate: Certificate) -> None:
        """All that is known when a run has ended."""
        for record in closing_records(certificate, self._written):
            self._write(record)

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(spelt(record) + "\n")


def header_as_json(target: str, greeting: Greeting, digest: str, profile: str, command: str) -> dict[str, Any]:
    """The first record."""
    return {
        "record": "header",
        "schema": SCHEMA,
        "generator": generator(),
        "time": timestamp(),
        "command": command,
        "profile": profile,
        "environment": environment(),
        "target": target_as_json(target, greeting, digest),
    }


def closing_records(
    certificate: Certificate, written: Mapping[tuple[str, str], int] = MappingProxyType({})
) -> Iterator[dict[str, Any]]:
    """The records after the divergences; ``written``: how many of these a bucket has."""
    run, target = certificate.run, certificate.invocation.target
    if run.behaves_like or run.drawn is not None:  # without a drawing where it was not learned wholly
        title, svg = ("", "") if run.drawn is None else (run.drawn.title, run.drawn.svg)
        yield {"record": "automaton", "title": title, "svg": svg, "behaves_like": run.behaves_like}
    for suite in run.suites:
        yield {"record": "suite", **suite_as_json(suite)}
    for part in run.swept.plans if run.swept else ():
        yield {"record": "sweep", **plan_as_json(part)}
    for category, (asked, failing) in run.categories.items():
        yield {"record": "category", "category": category, "asked": asked, "failing": failing}
    for bucket in run.ordered_buckets:
        recorded = min(written.get(bucket.example.bucket, 0), RECORDED)
        standing = standing_as_json(bucket, certificate.expected)
        yield {"record": "bucket", **bucket_as_json(bucket, target), "recorded": recorded, **standing}
    for each in certificate.stale:
        yield {"record": "stale", **stale_as_json(each)}
    yield {
        "record": "footer",
        "conformant": run.conformant,
        "incomplete": run.incomplete,
        "claims": run.claims,
        "vectors": run.vectors,
        "buckets": len(run.buckets),
        "restarts": run.restarts,
        "notes": [*_found_by_sweeps(run), *run.notes, *notes_on(certificate.expected)],
        "not_covered": certificate.not_covered,
        "refused": certificate.refused,
        "isolation": run.isolation,
        **({"sign": run.sign} if run.sign else {}),
        **counts_as_json(certificate.expected, run),
        "findings_digest": {"sha256": run.findings_digest},
    }


def spelt(value: Any, *, indent: int | None = None) -> str:
    """``value`` as JSON that every parser reads alike.

    Words of a command line may hold halves of surrogate pairs, which stand for octets that are no UTF-8; in JSON these
    mean nothing. They are written as a person would: a backslash, ``u`` and four digits.
    """
    text = json.dumps(value, indent=indent)
    return text if "\\ud" not in text else json.dumps(_whole(value), indent=indent)


def _whole(value: Any) -> Any:
    """``value`` without halves of surrogate pairs."""
    match value:
        case str():
            return as_text(value)
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return [_whole(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def packed(answers: bytes) -> str:
    """The answers of a map: base64 of what zlib makes of them."""
    return base64.b64encode(zlib.compress(answers, 9)).decode("ascii")


def target_as_json(target: str, greeting: Greeting, digest: str) -> dict[str, Any]:
    return {
        "id": target,
        "name": greeting.name,
        "version": greeting.version,
        "language": greeting.language,
        "operations": greeting.operations,
        "units": greeting.units.name,
        "error_mode": greeting.error_mode,
        "traits": greeting.traits,
        "digest": {"sha256": digest},
    }


def finding_as_json(finding: Finding) -> dict[str, Any]:
    expected: dict[str, Any]
    if isinstance(finding.expected, Decoded):
        expected = {"verdict": "accept", "scalars": list(finding.expected.scalars)}
    else:
        expected = {"verdict": "reject", **finding.expected._asdict()}
    return {
        "id": finding.id,
        "vector": finding.vector.id,
        "hex": finding.vector.octets.hex(),
        "chunks": None if finding.vector.chunks is None else list(finding.vector.chunks),
        "earlier": None if finding.vector.earlier is None else [each.hex() for each in finding.vector.earlier],
        "comment": finding.vector.comment,
        "operation": finding.operation,
        "claim": finding.claim,
        "code": finding.code,
        "title": finding.title,
        "section": finding.section,
        "place": finding.place,
        "expected": {**expected, "words": finding.expected_words},
        "observed": {
            "kind": type(finding.observed).__name__.lower(),
            **{name: getattr(finding.observed, name) for name in finding.observed.__slots__},
            "words": finding.observed_words,
        },
    }


def bucket_as_json(bucket: Bucket, target: str | Sequence[str]) -> dict[str, Any]:
    """A bucket, with the command that shows its example again; ``target`` as on the command line."""
    from overlong.conformance.results.invocation import replay_command

    example = bucket.example
    return {
        "code": example.code,
        "place": example.place,
        "claim": example.claim,
        "title": example.title,
        "section": example.section,
        "count": bucket.count,
        "reproduce": replay_command(example.vector, target),
        "example": finding_as_json(example),
    }


def _found_by_sweeps(run: Run) -> list[str]:
    """What sweeps found that no suite shows, in words; nothing else in a file describes these sets of strings."""
    if run.swept is None:
        return []
    return [
        f"{bucket.plan}: {thousands(bucket.found.count)} diverge: {bucket.found.description}"
        for bucket in run.swept.buckets
        if bucket.cause is None
    ]


def suite_as_json(suite: SuiteRun) -> dict[str, Any]:
    return {
        "suite": suite.suite.name,
        "shows": suite.suite.shows,
        "operations": suite.operations,
        "vectors": suite.suite.size,
        "asked": suite.done,
        "set_aside": suite.aside,
        "failing": len(suite.failing),
        "unsupported": dict(sorted(suite.unsupported.items())),
        **({"without_text": suite.without_text} if suite.without_text else {}),
        "vectors_digest": {"sha256": suite.vectors_digest},
    }


def plan_as_json(part: PlanRun) -> dict[str, Any]:
    return {
        "plan": part.plan,
        "shows": part.shows,
        **part.seen._asdict(),
        "expected": part.expected._asdict(),
        "accepted": part.accepted,
        "kinds": {KINDS[kind]: count for kind, count in sorted(part.kinds.items())},
        "digest": {"sha256": part.digest},
    }
