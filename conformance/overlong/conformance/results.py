"""``results.jsonl``: a header, a record for each divergence, suite, sweep and bucket, and a footer.

A file without its footer was cut. Nothing here is read back by the harness yet; the schema is
``schemas/results-1.schema.json``.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.clock import timestamp
from overlong.conformance.sweep.shard import KINDS
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from overlong.conformance.finding import Bucket, Finding
    from overlong.conformance.protocol import Greeting
    from overlong.conformance.runner import Run, SuiteRun
    from overlong.conformance.sweep.sweep import PlanRun

SCHEMA = "overlong/results-1"
RECORDED = 1000
"""Divergences of one bucket that are written out; all are counted."""


@contextlib.contextmanager
def written_whole(path: Path) -> Generator[IO[str]]:
    """A text file that appears under its name only when all of it is written.

    Raises:
        OSError: it cannot be written; then there is nothing of it.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        with unfinished.open("w", encoding="ascii", newline="\n") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


class ResultsWriter:
    """Writes results, record by record."""

    def __init__(self, file: IO[str], *, command: str) -> None:
        self._file = file
        self._command = command
        self._written: Counter[tuple[str, str]] = Counter()

    def header(self, target: str, greeting: Greeting, digest: str) -> None:
        self._write(
            {
                "record": "header",
                "schema": SCHEMA,
                "generator": generator(),
                "time": timestamp(),
                "command": self._command,
                "target": target_as_json(target, greeting, digest),
            }
        )

    def divergence(self, finding: Finding) -> None:
        self._written[finding.bucket] += 1
        if self._written[finding.bucket] <= RECORDED:
            self._write({"record": "divergence", **finding_as_json(finding)})

    def footer(self, run: Run) -> None:
        for suite in run.suites:
            self._write({"record": "suite", **suite_as_json(suite)})
        for part in run.swept.plans if run.swept else ():
            self._write({"record": "sweep", **plan_as_json(part)})
        for bucket in run.ordered_buckets:
            recorded = min(self._written[bucket.example.bucket], RECORDED)
            self._write({"record": "bucket", **bucket_as_json(bucket), "recorded": recorded})
        self._write(
            {
                "record": "footer",
                "conformant": run.conformant,
                "incomplete": run.incomplete,
                "claims": run.claims,
                "vectors": run.vectors,
                "buckets": len(run.buckets),
                "restarts": run.restarts,
                "notes": run.notes,
                "findings_digest": {"sha256": run.findings_digest},
            }
        )

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record) + "\n")


def generator() -> str:
    """``overlong`` and its version."""
    from importlib.metadata import version

    return f"overlong {version('overlong')}"


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


def bucket_as_json(bucket: Bucket) -> dict[str, Any]:
    example = bucket.example
    return {
        "code": example.code,
        "place": example.place,
        "claim": example.claim,
        "title": example.title,
        "section": example.section,
        "count": bucket.count,
        "example": finding_as_json(example),
    }


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
        "vectors_digest": {"sha256": suite.vectors_digest},
    }


def plan_as_json(part: PlanRun) -> dict[str, Any]:
    return {
        "plan": part.plan.name,
        "shows": part.plan.shows,
        **part.seen._asdict(),
        "expected": part.expected._asdict(),
        "accepted": part.accepted,
        "kinds": {KINDS[kind]: count for kind, count in sorted(part.kinds.items())},
        "digest": {"sha256": part.digest},
    }
