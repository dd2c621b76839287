"""The two sides of a diff, changes since an older run, and links between pages: from ``Report.extra``.

Its texts are untrusted. Its form is that of the schema, or of what this process has made.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.report.html.verdict import BAD, CLAIM_STATES, GOOD, NOT_SAID, OPEN, STANDINGS, WARN
from overlong.conformance.results.model import ReportKind, Standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from overlong.conformance.results.model import Report

Fact = tuple[str, str, str]
"""What is said of both sides: its name, the older and the newer words."""
Mark = tuple[str, str, str]
"""A tone, a glyph and words."""

_FIELDS = ("id", "name", "version", "state", "why", "profile", "command", "digest")
_SOURCES = ("source", "kind", "generator", "time")
_PAGE = re.compile(r"(?:\.\./){0,4}(?:[A-Za-z0-9_-][A-Za-z0-9_.%+-]*/){0,4}[A-Za-z0-9_-][A-Za-z0-9_.%+-]*\.html")


@dataclass(frozen=True)
class Since:
    """The changes since an older run."""

    source: str
    """The older run's name and time."""
    claims: dict[tuple[str, str], Mark]
    """By target and claim, for those that both runs have."""
    causes: dict[tuple[str, str], Mark]
    """By target and :attr:`Cause.key`, for those that the newer run has."""
    fixed: dict[str, tuple[str, ...]]
    """For each target the buckets that are gone."""
    counts: tuple[tuple[int, Mark], ...]
    """The number of claims for each kind of change."""
    came: tuple[str, ...]
    """Targets that the older run did not have."""
    went: tuple[str, ...]
    """Targets that the newer run does not have."""


CHANGES: dict[str, Mark] = {
    Standing.REGRESSED: (BAD, "↓", "broke"),
    Standing.NEW: (BAD, "↓", "new: the older run did not test it"),
    Standing.CHANGED: (WARN, "≠", "changed"),
    Standing.FIXED: (GOOD, "↑", "fixed"),
    Standing.NOT_COMPARABLE: (OPEN, "?", "not comparable"),
    Standing.SAME: (OPEN, "=", "unchanged"),
}
"""How each standing is shown, the most important first."""


def since(report: Report) -> Since | None:
    """The changes of the report's targets; None without a baseline."""
    if "since" not in report.extra:
        return None
    told = report.extra["since"]
    ids = {subject.id for subject in report.subjects}
    sides = list(zip(told["older"], told["newer"], strict=True))
    claims = [each for each in told["claims"] if each["subject"] in ids]
    causes = [each for each in told["causes"] if each["subject"] in ids]
    gone = [each for each in causes if each["standing"] == Standing.FIXED]
    counts = Counter(each["standing"] for each in claims)
    source = told["sources"]["older"]
    return Since(
        ", ".join(source[name] for name in ("source", "time") if source[name]) or "an older run",
        {(each["subject"], each["claim"]): CHANGES[each["standing"]] for each in claims},
        {(each["subject"], each["key"]): CHANGES[each["standing"]] for each in causes if each not in gone},
        {name: tuple(f"{each['code']} {each['title']}" for each in gone if each["subject"] == name) for name in ids},
        tuple((counts[standing], change) for standing, change in CHANGES.items() if counts[standing]),
        tuple(now["id"] for before, now in sides if now and not before and now["id"] in ids),
        tuple(before["id"] for before, now in sides if before and not now) if report.kind is ReportKind.MATRIX else (),
    )


def sources(report: Report) -> list[Fact]:
    """The files of both sides of a diff."""
    if report.kind is not ReportKind.DIFF:
        return []
    told = report.extra["sources"]
    return _facts(told["older"], told["newer"], _SOURCES)


def pairs(report: Report) -> list[tuple[list[Fact], list[tuple[str, Mark, Mark, Mark]]]]:
    """For each subject of a diff what is said of its sides, and each claim before, now, and its standing."""
    if report.kind is not ReportKind.DIFF:
        return [([], []) for _ in report.subjects]
    sides = zip(report.subjects, report.extra["older"], report.extra["newer"], strict=True)
    return [
        (
            _facts(older, newer, _FIELDS),
            [
                (
                    each["claim"],
                    (*CLAIM_STATES.get(each["older"], NOT_SAID), each["older"]),
                    (*CLAIM_STATES.get(each["newer"], NOT_SAID), each["newer"]),
                    (*STANDINGS[Standing(each["standing"])], each["standing"]),
                )
                for each in report.extra["claims"]
                if each["subject"] == subject.id
            ],
        )
        for subject, older, newer in sides
    ]


def page_among_others(address: str) -> str:
    """The address of a page beside this one, as matrices write it; empty if the address could lead elsewhere."""
    return address if _PAGE.fullmatch(address) else ""


def pages_of(report: Report) -> dict[str, str]:
    """The addresses of the pages of targets that have one."""
    return {
        name: page for name, address in report.extra.get("pages", {}).items() if (page := page_among_others(address))
    }


def _facts(older: Mapping[str, str], newer: Mapping[str, str], names: Sequence[str]) -> list[Fact]:
    told = [(name, older.get(name, ""), newer.get(name, "")) for name in names]
    return [fact for fact in told if any(fact[1:])]
