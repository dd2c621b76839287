"""A report as JSON, ``overlong/report-1``: the same members as in ``report/model.py``, and back again."""

from __future__ import annotations

import base64
import zlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from overlong.conformance.report.documents import checked
from overlong.conformance.report.model import (
    Cause,
    Drawn,
    Kind,
    Map,
    Moment,
    Part,
    Report,
    Standing,
    State,
    Subject,
)
from overlong.conformance.report.recorded import map_of
from overlong.conformance.results import spelt

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "overlong/report-1"


def data(report: Report) -> str:
    """The report as a JSON document."""
    return spelt(as_json(report), indent=2) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data, in the form of ``schemas/report-1.schema.json``."""
    return {"schema": SCHEMA, "state": report.state.value, **_plain(report)}


def _plain(value: Any) -> Any:
    """Plain data of what a report is made of."""
    match value:
        case Map():
            return {"name": value.name, "answers": packed(value.answers)}
        case Report() | Subject() | Cause() | Part() | Drawn() | Moment():
            return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        case bytes():
            return value.hex()
        case Kind() | State() | Standing():
            return value.value
        case list() | tuple():
            return [_plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {name: _plain(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def packed(answers: bytes) -> str:
    """The answers of a map, for a file: base64 of what zlib makes of them."""
    return base64.b64encode(zlib.compress(answers, 9)).decode("ascii")


def of_data(read: dict[str, Any], path: Path) -> Report:
    """The report that was written so.

    Raises:
        ReportError: it is not as the schema has it.
        ValueError: a map in it is none, or the sides of a diff do not match.
    """
    checked(read, "report-1", path)
    extra = read["extra"]
    pairs = {len(read["subjects"]), *(len(extra.get(side, ())) for side in ("older", "newer"))}
    if (read["kind"] == Kind.DIFF) != bool(extra) or (extra and len(pairs) > 1):
        raise ValueError("extra: a diff has it, with both sides of each subject, and nothing else")
    members: dict[str, Any] = _members(read, Report)
    members |= {
        "kind": Kind(read["kind"]),
        "subjects": tuple(_subject(each) for each in read["subjects"]),
        "discovery": tuple(Moment(**each) for each in read["discovery"]),
        "notes": tuple(read["notes"]),
    }
    return Report(**members)


def _subject(read: dict[str, Any]) -> Subject:
    automaton = read["automaton"]
    members: dict[str, Any] = _members(read, Subject)
    members |= {
        "state": State(read["state"]),
        "parts": tuple(Part(**each) for each in read["parts"]),
        "causes": tuple(map(_cause, read["causes"])),
        "stale": tuple(map(_cause, read["stale"])),
        "not_covered": tuple(read["not_covered"]),
        "notes": tuple(read["notes"]),
        "categories": {name: (asked, failing) for name, (asked, failing) in read["categories"].items()},
        "maps": tuple(map_of(each["name"], each["answers"]) for each in read["maps"]),
        "automaton": None if automaton is None else Drawn(**automaton),
    }
    return Subject(**members)


def _cause(read: dict[str, Any]) -> Cause:
    chunks, earlier = read["chunks"], read["earlier"]
    members: dict[str, Any] = _members(read, Cause)
    members |= {
        "octets": bytes.fromhex(read["octets"]),
        "chunks": None if chunks is None else tuple(chunks),
        "earlier": None if earlier is None else tuple(map(bytes.fromhex, earlier)),
        "standing": Standing(read["standing"]),
        "more": tuple((title, text) for title, text in read["more"]),
    }
    return Cause(**members)


def _members(read: dict[str, Any], of: type[Any]) -> dict[str, Any]:
    """The members that ``of`` has fields for."""
    return {each.name: read[each.name] for each in fields(of)}
