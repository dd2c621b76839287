"""The two sides of a diff, and where a page lies among others: what ``Report.extra`` holds, whatever it holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.report.html.verdict import CLAIM_STATES, NOT_SAID, STANDINGS
from overlong.conformance.results.model import ReportKind, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.results.model import Report

_FIELDS = ("id", "name", "version", "state", "why", "profile", "command", "digest")
_SOURCES = ("source", "kind", "generator", "time")
_PAGE = re.compile(r"(?:\.\./){0,4}(?:[A-Za-z0-9_-][A-Za-z0-9_.%+-]*/){0,4}[A-Za-z0-9_-][A-Za-z0-9_.%+-]*\.html")


@dataclass(frozen=True)
class Fact:
    """What is told of both sides."""

    name: str
    older: str
    newer: str

    @property
    def differs(self) -> bool:
        return self.older != self.newer


@dataclass(frozen=True)
class ClaimCell:
    """A claim, before and now: each with its tone and glyph."""

    name: str
    older: tuple[str, str, str]
    newer: tuple[str, str, str]
    standing: tuple[str, str, str]


@dataclass(frozen=True)
class BucketPair:
    """What was older, and what is newer."""

    facts: tuple[Fact, ...]
    claims: tuple[ClaimCell, ...]


def sources(report: Report) -> tuple[Fact, ...]:
    """The files of both sides."""
    told = _mapping(report.extra.get("sources"))
    return _facts(_mapping(told.get("older")), _mapping(told.get("newer")), _SOURCES)


def pairs(report: Report) -> list[BucketPair]:
    """For each subject of a diff, its sides; nothing of other reports."""
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
    """A page beside this one, as matrices write them; nothing if the address could lead elsewhere."""
    return address if isinstance(address, str) and _PAGE.fullmatch(address) else ""


def pages_of(report: Report) -> dict[str, str]:
    """For targets that have a page of their own, where it is."""
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
