"""Results and findings as JSON, and back: what a campaign's file holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.finding import Finding, Why
from overlong.conformance.protocol.observation import (
    Accepted,
    Crashed,
    Failed,
    Misbehaved,
    Observation,
    Refused,
    TimedOut,
    Unsupported,
)
from overlong.conformance.results.reading.campaign import place_of_stored
from overlong.conformance.results.reading.documents import ReportError, checked
from overlong.conformance.results.records import why_as_json
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import loads
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.stored import StoredFinding
from overlong.fuzz.execution.divergence import Divergence, Fingerprint
from overlong.fuzz.execution.engine import UnitResult, WorkUnit
from overlong.reference import Decoded, Outcome, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

FINDING_SCHEMA = "overlong/finding-1"
_OBSERVATIONS: dict[str, Callable[..., Observation]] = {
    each.__name__: each for each in (Accepted, Refused, Failed, Unsupported, Crashed, TimedOut, Misbehaved)
}


def result_as_text(result: UnitResult) -> str:
    """All of a result but for its unit, which the text's place tells."""
    return json.dumps(
        {
            "executions": result.executions,
            "octets": result.octets,
            "divergences": [_divergence_as_json(each) for each in result.divergences],
            "counts": [[*fingerprint, count] for fingerprint, count in result.counts.items()],
            "reached": sorted(result.reached),
            "interesting": [octets.hex() for octets in result.interesting],
            "coverage": result.coverage,
            "seconds": result.seconds,
            "notes": list(result.notes),
            "asked": [[*of, count] for of, count in result.asked.items()],
            "covering": [octets.hex() for octets in result.covering],
            "starting": result.starting,
        }
    )


def result_of_text(text: str, unit: WorkUnit) -> UnitResult:
    """The result that was written.

    Raises:
        ValueError, TypeError, LookupError: it is none.
    """
    read: dict[str, Any] = json.loads(text)
    return UnitResult(
        unit,
        int(read["executions"]),
        int(read["octets"]),
        tuple(map(_divergence_of, read["divergences"])),
        Counter({Fingerprint(*words): int(count) for *words, count in read["counts"]}),
        frozenset(map(int, read["reached"])),
        tuple(map(bytes.fromhex, read["interesting"])),
        int(read["coverage"]),
        float(read["seconds"]),
        tuple(map(str, read["notes"])),
        Counter({(str(target), str(operation)): int(count) for target, operation, count in read["asked"]}),
        tuple(map(bytes.fromhex, read["covering"])),
        float(read["starting"]),
    )


def _divergence_as_json(divergence: Divergence) -> list[Any]:
    return [
        divergence.target,
        _finding_as_json(divergence.finding),
        list(divergence.fingerprint),
        divergence.index,
        divergence.peer,
    ]


def _divergence_of(read: list[Any]) -> Divergence:
    target, finding, fingerprint, index, peer = read
    return Divergence(str(target), _finding_of(finding), Fingerprint(*fingerprint), int(index), str(peer))


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    vector, expected, observed = finding.vector, finding.expected, finding.observed
    return {
        "category": vector.category,
        "octets": vector.octets.hex(),
        "chunks": vector.chunks,
        "earlier": pieces_as_json(vector.earlier),
        "profile": asdict(vector.profile),
        "operation": finding.operation,
        "code": finding.code,
        "expected": [list(expected.scalars)] if isinstance(expected, Decoded) else list(expected),
        "observed": [type(observed).__name__, [getattr(observed, name) for name in observed.__slots__]],
        "place": finding.place,
        "detail": finding.detail,
    }


def _finding_of(read: dict[str, Any]) -> Finding:
    vector = Vector(
        read["category"],
        bytes.fromhex(read["octets"]),
        chunks=numbers_of(read["chunks"]),
        earlier=pieces_of(read["earlier"]),
        profile=Profile(**read["profile"]),
    )
    first, second = read["detail"]
    return Finding(
        vector, read["operation"], read["code"], _outcome_of(read["expected"]), _observation_of(*read["observed"]),
        read["place"], (first, second),
    )  # fmt: skip


def _outcome_of(read: list[Any]) -> Outcome:
    if len(read) == 1:
        return Decoded(tuple(read[0]))
    offset, length, incomplete = read
    return Rejected(offset, length, incomplete)


def _observation_of(kind: str, fields: list[Any]) -> Observation:
    return _OBSERVATIONS[kind](*(tuple(cast("list[int]", each)) if isinstance(each, list) else each for each in fields))


def finding_as_json(finding: StoredFinding) -> dict[str, Any]:
    """A finding as plain data; octets as hexadecimal digits."""
    plain = {each.name: getattr(finding, each.name) for each in fields(finding) if each.name not in ("why", "telling")}
    return {
        **plain,
        "octets": finding.octets.hex(),
        "chunks": None if finding.chunks is None else list(finding.chunks),
        "earlier": pieces_as_json(finding.earlier),
        **why_as_json(finding.why),
        **({"telling": finding.telling.hex()} if finding.telling else {}),
    }


def finding_of_text(name: str, text: str, count: int, path: Path) -> StoredFinding:
    """The finding that was written so.

    Args:
        name: its id in the campaign's file.
        text: the finding as JSON.
        count: the number of inputs that showed it.
        path: of the campaign's file, for messages.

    Raises:
        ValueError: it is none, or another; the message names the file and the place.
    """
    read: Any = loads(text.encode(), f"{path}: finding {name}")
    if isinstance(read, dict):
        read = {"schema": FINDING_SCHEMA, **cast("dict[str, Any]", read), "count": count}
    checked(read, FINDING_SCHEMA.removeprefix("overlong/"), path)
    if read["id"] != name:
        raise ReportError(f"{printable(str(path))}: finding {printable(name, 40)}: it says that it is {read['id']}")
    wanted: dict[str, Any] = {each.name: read[each.name] for each in fields(StoredFinding) if each.name in read}
    wanted["octets"] = bytes.fromhex(wanted["octets"])
    wanted["chunks"] = numbers_of(wanted["chunks"])
    wanted["earlier"] = pieces_of(wanted["earlier"])
    wanted["place"] = place_of_stored(read)
    wanted["telling"] = bytes.fromhex(read.get("telling", ""))
    if "sentence" in read:
        condition = dict(read["condition"])
        predicted, asked = read["confirmed"]
        wanted["why"] = Why(read["sentence"], condition.pop("id"), condition, (predicted, asked))
    return StoredFinding(**wanted)


def numbers_of(read: Sequence[int] | None) -> tuple[int, ...] | None:
    """Lengths of chunks, if there are any."""
    return None if read is None else tuple(map(int, read))


def pieces_as_json(pieces: tuple[bytes, ...] | None) -> list[str] | None:
    """Chunks as hexadecimal digits."""
    return None if pieces is None else [piece.hex() for piece in pieces]


def pieces_of(read: Sequence[str] | None) -> tuple[bytes, ...] | None:
    """The chunks that were written as hexadecimal digits.

    Raises:
        ValueError: they are none.
    """
    return None if read is None else tuple(map(bytes.fromhex, read))
