"""Records as plain data for all files of results: targets, findings, buckets, suites, plans, expected deviations."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import KINDS
from overlong.conformance.support.printable import as_text
from overlong.conformance.support.provenance import portable
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Bucket, Finding, Why
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.expected_file import Deviation
    from overlong.conformance.results.run import Run, SuiteRun
    from overlong.conformance.results.sweeps import PlanRun


def spelt(value: Any, *, indent: int | None = None) -> str:
    """``value`` as JSON that all parsers read alike.

    Words of a command line may hold lone surrogates, which stand for octets that are not UTF-8 and have no meaning in
    JSON. They become text: a backslash, ``u`` and four digits.
    """
    text = json.dumps(value, indent=indent)
    return text if "\\ud" not in text else json.dumps(_whole(value), indent=indent)


def _whole(value: Any) -> Any:
    """``value`` without lone surrogates."""
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
    """The answers of a map: compressed by zlib, in base64."""
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
    """A bucket, with the command that shows its example again; ``target`` is the name on the command line."""
    from overlong.conformance.results.invocation import reproduced

    example = bucket.example
    return {
        "code": example.code,
        "place": example.place,
        "claim": example.claim,
        "title": example.title,
        "section": example.section,
        "count": bucket.count,
        **why_as_json(bucket.why),
        "reproduce": reproduced(example, target),
        "example": finding_as_json(example),
    }


def why_as_json(why: Why | None) -> dict[str, Any]:
    """What the examiner found of a cause; nothing if it was not examined."""
    if why is None:
        return {}
    return {
        "sentence": why.sentence,
        "condition": {"id": why.id, **why.condition},
        "confirmed": list(why.confirmed),
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
        **({"without_text": suite.without_text} if suite.without_text else {}),
        **({"longest": suite.longest} if suite.longest else {}),
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


def standing_as_json(bucket: Bucket, expected: Expectations | None) -> dict[str, Any]:
    """Whether a bucket is expected, as data; empty if no expectations apply."""
    if expected is None or not expected.all:
        return {}
    deviation = expected.of_bucket(bucket)
    if deviation is None:
        return {"standing": "unexpected", "reason": "", "link": ""}
    return {"standing": "expected", "reason": deviation.reason, "link": deviation.link}


def _deviation_as_json(deviation: Deviation) -> dict[str, Any]:
    return {
        "where": deviation.where.rpartition("/")[2] if deviation.where.startswith("/") else deviation.where,
        "target": portable(deviation.target),
        "vector": deviation.id,
        "code": deviation.code,
        "place": deviation.place or "",
        "operation": deviation.operation,
        "observed": deviation.observed,
        "reason": deviation.reason,
        "link": deviation.link,
        "expires": None if deviation.expires is None else deviation.expires.isoformat(),
    }


def stale_as_json(deviation: Deviation, why: str) -> dict[str, Any]:
    """An entry that no longer holds, and the reason."""
    return {**_deviation_as_json(deviation), "why": why}


def expected_as_json(expected: Expectations | None) -> dict[str, Any]:
    """The data of a certificate: the entries that cover a divergence, and the stale ones."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    return {
        "expected": [
            {**_deviation_as_json(each), "divergences": expected.tally(each).total} for each in expected.occurring
        ],
        "stale": [stale_as_json(each, why) for each, why in expected.stale.items()],
    }


def counts_as_json(expected: Expectations | None, run: Run) -> dict[str, Any]:
    """The numbers of expected buckets, expected divergences, and stale entries of a run."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    buckets = [bucket for bucket in run.buckets.values() if expected.of_bucket(bucket) is not None]
    counts = {
        "buckets": len(buckets),
        "divergences": sum(bucket.count for bucket in buckets),
        "stale": len(expected.stale),
    }
    return {"expected": counts}
