"""Records of results as plain data for all files of results: targets, findings, buckets, suites and plans."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.kinds import KINDS
from overlong.conformance.support.printable import as_text
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Bucket, Finding, Why
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.run import SuiteRun
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
