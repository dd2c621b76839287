"""A report as JSON, ``overlong/report-1``: the same members as in ``results/model.py``.

``results/reading/data.py`` reads this JSON.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from overlong.conformance.results.model import (
    Cause,
    Drawn,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
)
from overlong.conformance.results.records import packed, spelt

SCHEMA = "overlong/report-1"


def data(report: Report) -> str:
    """The report as a JSON document."""
    return spelt(as_json(report), indent=2) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data, in the form of ``schemas/report-1.schema.json``; only a diff has changes."""
    extra = {name: value for name, value in report.extra.items() if name != "since"}
    return {"schema": SCHEMA, "state": report.state.value, **plain(replace(report, extra=extra))}


def plain(value: Any) -> Any:
    """The parts of a report as plain data."""
    match value:
        case Map():
            return {"name": value.name, "answers": packed(value.answers)}
        case Report() | Subject() | Cause() | ReportPart() | Drawn() | Moment():
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
