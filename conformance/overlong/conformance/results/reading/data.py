"""``report.json``, written and read: a report as ``schemas/report-1.schema.json`` has it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.model import (
    Cause,
    Drawing,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
    failing_claims,
)
from overlong.conformance.results.reading.documents import checked
from overlong.conformance.results.reading.recorded import MOST_MAPS, agreeing, map_of
from overlong.conformance.results.records import packed, spelt
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "overlong/report-1"
_CLEAN = (State.CONFORMS, State.NOTHING)
"""The states of a target in which nothing fails."""
_MOST_MAPS = 128 * MOST_MAPS
"""The most maps of all targets together: 128 MiB."""


def data(report: Report) -> str:
    """The report as a JSON document."""
    return spelt(as_json(report), indent=2) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data; only a diff has changes."""
    extra = {name: value for name, value in report.extra.items() if name != "since"}
    return {"schema": SCHEMA, "state": report.state.value, **plain(replace(report, extra=extra))}


def plain(value: Any) -> Any:
    """The parts of a report as plain data."""
    match value:
        case Map():
            return {"name": value.name, "answers": packed(value.answers)}
        case Report() | Subject() | Cause() | ReportPart() | Drawing() | Moment():
            return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        case bytes():
            return value.hex()
        case ReportKind() | State() | Standing():
            return value.value
        case list() | tuple():
            return [plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {name: plain(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def of_data(read: dict[str, Any], path: Path) -> Report:
    """The report that was written so.

    Raises:
        ReportError: it is not as the schema has it.
        ValueError: a map in it is none, or the sides of a diff do not match.
    """
    checked(read, "report-1", path, part="report")
    extra = read["extra"]
    pairs = {len(read["subjects"]), *(len(extra.get(side, ())) for side in ("older", "newer"))}
    if (read["kind"] == ReportKind.DIFF) != bool(extra) or (extra and len(pairs) > 1):
        raise ValueError("extra: a diff has it, with both sides of each subject, and nothing else")
    if sum(len(each["maps"]) for each in read["subjects"]) > _MOST_MAPS:
        raise ValueError(f"subjects: more than {_MOST_MAPS} maps")
    members: dict[str, Any] = _members(read, Report)
    members |= {
        "kind": ReportKind(read["kind"]),
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
        "parts": tuple(ReportPart(**each) for each in read["parts"]),
        "causes": tuple(map(_cause, read["causes"])),
        "stale": tuple(map(_cause, read["stale"])),
        "not_covered": tuple(read["not_covered"]),
        "notes": tuple(read["notes"]),
        "categories": {name: (asked, failing) for name, (asked, failing) in read["categories"].items()},
        "maps": tuple(map_of(each["name"], each["answers"]) for each in read["maps"]),
        "automaton": None if automaton is None else Drawing(**automaton),
    }
    subject = Subject(**members)
    if looks_clean(subject):
        agreeing(f"the state of {printable(subject.id)}", subject.state, State.DIVERGES)
    return subject


def looks_clean(subject: Subject) -> bool:
    """True if a target's state says that nothing fails, and its claims or causes say that something does."""
    return subject.state in _CLEAN and bool(failing_claims(subject.claims, subject.causes))


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
    return {each.name: read[each.name] for each in fields(of) if each.name in read}  # some are younger than the file
