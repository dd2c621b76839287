"""The two sides of a diff, and links between pages: from ``Report.extra``, whose contents are untrusted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.report.html.verdict import BAD, CLAIM_STATES, GOOD, NOT_SAID, OPEN, STANDINGS, WARN
from overlong.conformance.results.model import ReportKind, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.results.model import Report

_FIELDS = ("id", "name", "version", "state", "why", "profile", "command", "digest")
_SOURCES = ("source", "kind", "generator", "time")
_PAGE = re.compile(r"(?:\.\./){0,4}(?:[A-Za-z0-9_-][A-Za-z0-9_.%+-]*/){0,4}[A-Za-z0-9_-][A-Za-z0-9_.%+-]*\.html")


@dataclass(frozen=True)
class Fact:
    """Facts about both sides."""

    name: str
    older: str
    newer: str

    @property
    def differs(self) -> bool:
        return self.older != self.newer


@dataclass(frozen=True)
class ClaimCell:
    """A claim before and now, each with its tone and glyph."""

    name: str
    older: tuple[str, str, str]
    newer: tuple[str, str, str]
    standing: tuple[str, str, str]


@dataclass(frozen=True)
class BucketPair:
    """The older and the newer value."""

    facts: tuple[Fact, ...]
    claims: tuple[ClaimCell, ...]


@dataclass(frozen=True)
class Change:
    """The change of a claim or a bucket since an older run."""

    tone: str
    glyph: str
    words: str


@dataclass(frozen=True)
class Since:
    """The changes since an older run."""

    source: str
    """The older run's name and time."""
    claims: dict[tuple[str, str], Change]
    """By target and claim, for those that both runs have."""
    causes: dict[tuple[str, str], Change]
    """By target and :attr:`Cause.key`, for those that the newer run has."""
    fixed: dict[str, tuple[str, ...]]
    """For each target the buckets that are gone."""
    counts: tuple[tuple[int, Change], ...]
    """The number of claims for each kind of change."""
    came: tuple[str, ...]
    """Targets that the older run did not have."""
    went: tuple[str, ...]
    """Targets that the newer run does not have."""


CHANGES = {
    Standing.REGRESSED: Change(BAD, "↓", "broke"),
    Standing.NEW: Change(BAD, "↓", "new: the older run did not test it"),
    Standing.CHANGED: Change(WARN, "≠", "changed"),
    Standing.FIXED: Change(GOOD, "↑", "fixed"),
    Standing.NOT_COMPARABLE: Change(OPEN, "?", "not comparable"),
    Standing.SAME: Change(OPEN, "=", "unchanged"),
}
"""How each standing is shown, the most important first."""


def since(report: Report) -> Since | None:
    """The changes of the report's targets; None without a baseline."""
    told = _mapping(report.extra.get("since"))
    if not told:
        return None
    ids = {subject.id for subject in report.subjects}
    older, newer = (_list(told.get(side)) for side in ("older", "newer"))
    claims = [each for each in _each(told, "claims") if each.get("subject") in ids]
    causes = [each for each in _each(told, "causes") if each.get("subject") in ids]
    gone = [each for each in causes if each.get("standing") == Standing.FIXED]
    counts = Counter(_change(each) for each in claims)
    source = _mapping(_mapping(told.get("sources")).get("older"))
    return Since(
        ", ".join(str(source[name]) for name in ("source", "time") if source.get(name)) or "an older run",
        {(str(each["subject"]), str(each["claim"])): _change(each) for each in claims},
        {(str(each["subject"]), str(each["key"])): _change(each) for each in causes if each not in gone},
        {name: tuple(f"{each['code']} {each['title']}" for each in gone if each["subject"] == name) for name in ids},
        tuple((counts[change], change) for change in CHANGES.values() if counts[change]),
        tuple(now["id"] for before, now in zip(older, newer, strict=True) if now and not before and now["id"] in ids),
        tuple(before["id"] for before, now in zip(older, newer, strict=True) if before and not now)
        if report.kind is ReportKind.MATRIX
        else (),
    )


def _change(told: dict[str, Any]) -> Change:
    return CHANGES[Standing(told["standing"])]


def _each(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [_mapping(each) for each in _list(told.get(name))]


def sources(report: Report) -> tuple[Fact, ...]:
    """The files of both sides."""
    told = _mapping(report.extra.get("sources"))
    return _facts(_mapping(told.get("older")), _mapping(told.get("newer")), _SOURCES)


def pairs(report: Report) -> list[BucketPair]:
    """The two sides of each subject of a diff; empty for other reports."""
    if report.kind is not ReportKind.DIFF:
        return [BucketPair((), ()) for _ in report.subjects]
    older, newer = (_list(report.extra.get(side)) for side in ("older", "newer"))
    claims = [_mapping(each) for each in _list(report.extra.get("claims"))]
    return [
        BucketPair(
            _facts(_at(older, place), _at(newer, place), _FIELDS),
            tuple(_claim(each) for each in claims if each.get("subject") == subject.id),
        )
        for place, subject in enumerate(report.subjects)
    ]


def page_among_others(address: object) -> str:
    """The address of a page beside this one, as matrices write it; empty if the address could lead elsewhere."""
    return address if isinstance(address, str) and _PAGE.fullmatch(address) else ""


def pages_of(report: Report) -> dict[str, str]:
    """The addresses of the pages of targets that have one."""
    told = _mapping(report.extra.get("pages"))
    return {name: page for name, address in told.items() if (page := page_among_others(address))}


def _facts(older: dict[str, Any], newer: dict[str, Any], names: Sequence[str]) -> tuple[Fact, ...]:
    told = (Fact(name, str(older.get(name, "")), str(newer.get(name, ""))) for name in names)
    return tuple(fact for fact in told if fact.older or fact.newer)


def _claim(told: dict[str, Any]) -> ClaimCell:
    older, newer, standing = (str(told.get(name, "")) for name in ("older", "newer", "standing"))
    known = next((each for each in Standing if each.value == standing), Standing.NOT_COMPARABLE)
    return ClaimCell(
        str(told.get("claim", "")),
        (*CLAIM_STATES.get(older, NOT_SAID), older),
        (*CLAIM_STATES.get(newer, NOT_SAID), newer),
        (*STANDINGS.get(known, NOT_SAID), standing),
    )


def _at(sides: list[Any], place: int) -> dict[str, Any]:
    return _mapping(sides[place]) if place < len(sides) else {}


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []
