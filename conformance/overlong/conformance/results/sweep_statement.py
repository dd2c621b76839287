"""``sweep.json``: what a sweep asked and what it found, for machines.

It holds no time, no engine, no number of jobs: the same questions to the same target give the same octets. The schema
is in ``schemas/results-1.schema.json``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import KINDS
from overlong.conformance.results.records import finding_as_json, plan_as_json, spelt, target_as_json, why_as_json
from overlong.conformance.support.provenance import generator

if TYPE_CHECKING:
    from overlong.conformance.results.sweeps import SweepBucket, SweepRun

RESULTS = "sweep.json"
SCHEMA = "overlong/results-1"


def as_json(run: SweepRun) -> dict[str, Any]:
    """A sweep that came to its end, as plain data."""
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "profile": run.profile.name,
        "command": run.command,
        "target": target_as_json(run.target, run.greeting, run.identity.digest),
        "operation": run.operation,
        "conformant": run.conformant,
        "plans": [plan_as_json(part) for part in run.plans],
        "buckets": [_bucket(bucket) for bucket in run.buckets],
        "digest": {"sha256": run.digest},
    }


def to_json(run: SweepRun) -> str:
    """The same, as it is written to a file."""
    return spelt(as_json(run), indent=2) + "\n"


def _bucket(bucket: SweepBucket) -> dict[str, Any]:
    found = bucket.found
    return {
        "plan": bucket.plan,
        "kind": KINDS[found.kind],
        "count": found.count,
        "strings": found.strings,
        "defect": found.defect,
        "dialects": list(found.dialects),
        "shows_alone": bucket.alone,
        **why_as_json(bucket.why.why if bucket.why is not None else None),
        "cause": None if bucket.cause is None else finding_as_json(bucket.cause),
        "earlier": None if found.where.earlier is None else found.where.earlier.hex(),
        "place": {"grid": found.where.grid, "index": found.where.index},
        "example": finding_as_json(bucket.finding),
    }
