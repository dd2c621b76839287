"""``results.jsonl``: a header, a record for each divergence, suite, sweep and bucket, and a footer.

A file without its footer was cut. ``results/reading/results.py`` reads it back; the schema is
``schemas/results-1.schema.json``.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.results.records import (
    bucket_as_json,
    counts_as_json,
    finding_as_json,
    packed,
    plan_as_json,
    spelt,
    stale_as_json,
    standing_as_json,
    suite_as_json,
    target_as_json,
)
from overlong.conformance.support.provenance import environment, generator, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Map

RESULTS = "results.jsonl"
SCHEMA = "overlong/results-1"
RECORDED = 100
"""Divergences of one bucket that are written out; all are counted."""


class ResultsWriter:
    """Writes results, record by record."""

    def __init__(self, file: IO[str], *, command: str) -> None:
        self._file = file
        self._command = command
        self._written: Counter[tuple[str, str]] = Counter()
        self._failure: OSError | None = None

    def header(self, target: str, greeting: Greeting, digest: str, profile: str) -> None:
        self._write(header_as_json(target, greeting, digest, profile, self._command))

    def divergence(self, finding: Finding) -> None:
        self._written[finding.bucket] += 1
        if self._written[finding.bucket] <= RECORDED:
            self._write({"record": "divergence", **finding_as_json(finding)})

    def diverged(self, found: Divergences) -> None:
        """Write divergences in columns; all are counted, and the first of each bucket are written out."""
        for finding in found.first(lambda bucket: RECORDED - self._written[bucket]):
            self._write({"record": "divergence", **finding_as_json(finding)})
        self._written += found.counts

    def portrait(self, maps: Sequence[Map]) -> None:
        """What the target makes of every pair of octets, compressed: most of it is runs of the same answer."""
        for each in maps:
            self._write({"record": "portrait", "name": each.name, "answers": packed(each.answers)})

    def footer(self, certificate: Certificate) -> None:
        """All that is known when a run has ended.

        Raises:
            OSError: this, or a record before it, could not be written.
        """
        for record in closing_records(certificate, self._written):
            self._write(record)
        if self._failure is not None:
            raise self._failure

    def _write(self, record: dict[str, Any]) -> None:
        if self._failure is not None:
            return
        try:
            self._file.write(spelt(record) + "\n")
        except OSError as error:
            self._failure = error  # the run goes on, and :meth:`footer` tells


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
    notes = [] if certificate.expected is None else certificate.expected.notes
    if run.behaves_like or run.automaton is not None:  # without a drawing where it was not learned wholly
        title, svg = ("", "") if run.automaton is None else (run.automaton.title, run.automaton.svg)
        yield {"record": "automaton", "title": title, "svg": svg, "behaves_like": run.behaves_like}
    for suite in run.suites:
        yield {"record": "suite", **suite_as_json(suite)}
    for part in run.swept.plans if run.swept else ():
        yield {"record": "sweep", **plan_as_json(part)}
    for category, (asked, failing) in run.categories.items():
        yield {"record": "category", "category": category, "asked": asked, "failing": failing}
    for bucket in run.ordered_buckets:
        recorded = min(sum(written.get(kind, 0) for kind in bucket.kinds), RECORDED)
        standing = standing_as_json(bucket, certificate.expected)
        yield {"record": "bucket", **bucket_as_json(bucket, target), "recorded": recorded, **standing}
    for each, why in certificate.stale.items():
        yield {"record": "stale", **stale_as_json(each, why)}
    yield {
        "record": "footer",
        "conformant": run.conformant,
        "incomplete": run.incomplete,
        "claims": run.claims,
        "vectors": run.vectors,
        "buckets": len(run.buckets),
        "restarts": run.restarts,
        "notes": [*(run.swept.words if run.swept else ()), *run.notes, *notes],
        "not_covered": certificate.not_covered,
        "refused": certificate.refused,
        "isolation": run.isolation,
        **({"sign": run.sign} if run.sign else {}),
        **counts_as_json(certificate.expected, run),
        "findings_digest": {"sha256": run.findings_digest},
    }
