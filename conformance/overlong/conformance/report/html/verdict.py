"""The verdict of a report in words, a glyph and a tone, and how each claim and cause of it compares with an older run.

A reader sees the verdict first, and must not misread it. The two sides of a diff, changes since an older run, and links
between pages come from ``Report.extra``: its texts are untrusted, its form is that of the schema, or of what this
process has made.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.report.wording import extent_of, faults, of_state, verdict
from overlong.conformance.results.model import FAILS, HOLDS, MORE, ReportKind, Standing, State
from overlong.conformance.support.printable import counted, thousands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from overlong.conformance.results.model import Report, Subject


GOOD, BAD, WARN, OPEN = "good", "bad", "warn", "open"
"""Tones: classes of the style sheet."""
STATES = {
    State.CONFORMS: (GOOD, "✓"),
    State.EXPECTED: (WARN, "≈"),
    State.EXCEPT: (WARN, "✗"),
    State.DIVERGES: (BAD, "✗"),
    State.INCOMPLETE: (WARN, "◐"),
    State.NOT_MEASURED: (OPEN, "–"),  # noqa: RUF001
    State.NOTHING: (OPEN, "–"),  # noqa: RUF001
}
STANDINGS = {
    Standing.UNEXPECTED: (BAD, "✗"),
    Standing.EXPECTED: (WARN, "≈"),
    Standing.REGRESSED: (BAD, "✗"),
    Standing.NEW: (BAD, "+"),
    Standing.CHANGED: (WARN, "≠"),
    Standing.NOT_COMPARABLE: (OPEN, "?"),
    Standing.DIFFERENCE: (OPEN, "≠"),
    Standing.SAME: (OPEN, "="),
    Standing.FIXED: (GOOD, "✓"),
}
"""The most important first."""
CLAIM_STATES = {HOLDS: (GOOD, "✓"), FAILS: (BAD, "✗")}
NOT_SAID = (OPEN, "–")  # noqa: RUF001


@dataclass(frozen=True)
class Verdict:
    """The verdict in large type, and the sentence below it."""

    tone: str
    glyph: str
    words: str
    detail: str = ""


def verdict_of(report: Report) -> Verdict:
    """The verdict of the whole report."""
    if report.incomplete:
        return Verdict(*STATES[State.INCOMPLETE], "INCOMPLETE", f"{report.incomplete}. What is shown is not the whole.")
    if report.kind is ReportKind.DIFF:
        return _of_diff(report)
    if len(report.subjects) == 1:
        return verdict_of_subject(report.subjects[0], report.kind)
    if not report.subjects:
        return Verdict(*STATES[State.NOT_MEASURED], "NOT MEASURED", "The report has no target.")
    return _of_many(report)


def verdict_of_subject(subject: Subject, kind: ReportKind) -> Verdict:
    """The verdict of one target."""
    tone, glyph = STATES[subject.state]
    words, detail = verdict(subject, kind), subject.why
    match subject.state:
        case State.CONFORMS | State.EXPECTED if subject.stale:
            tone, glyph = STATES[State.DIVERGES]
            detail = "An expectation that is no longer met counts like an unexpected divergence."
        case State.CONFORMS if kind is ReportKind.FUZZ:
            detail = "A campaign can find faults, but cannot show that there are none."
        case State.CONFORMS if kind is ReportKind.SWEEP:
            detail = f"The decoder conforms as far as these strings go. {_counted(subject)}".rstrip()
        case State.CONFORMS:
            detail = detail or "Every claim that was measured holds."
        case State.EXPECTED:
            detail = "The decoder does not conform; each of its divergences was expected and recorded."
        case State.DIVERGES | State.EXCEPT:
            detail = _counted(subject)
            if subject.sign:
                detail = f"Look at the adapter first: {subject.sign}. {detail}"
        case State.INCOMPLETE:
            detail = f"{subject.why or 'The run did not come to its end'}. What is shown is not the whole."
        case State.NOT_MEASURED | State.NOTHING:
            pass
    return Verdict(tone, glyph, words, detail)


def _counted(subject: Subject) -> str:
    """How much of what was asked the verdict rests on."""
    if not subject.causes:
        return ""
    if any(part.failing for part in subject.parts if part.is_sweep):  # a bucket does not count all strings of a sweep
        return f"{extent_of(subject)}."
    divergences = counted(sum(cause.count for cause in subject.causes), "divergence")
    return f"{extent_of(subject)}; {divergences} in all."


def _of_many(report: Report) -> Verdict:
    """The verdict of a matrix or a campaign: how many targets are in each state."""
    states = Counter(subject.state for subject in report.subjects)
    total = thousands(len(report.subjects))
    what = "targets" if report.kind is ReportKind.FUZZ else "decoders"
    each = ", ".join(of_state(states[of], of, report.kind) for of in STATES if states[of])
    told = f"{total} {what}: {each}." if report.kind is not ReportKind.MATRIX else ""  # tiles count those of a matrix
    if states[State.INCOMPLETE]:
        return Verdict(*STATES[State.INCOMPLETE], "INCOMPLETE", f"{told} What is shown is not the whole.".lstrip())
    if number := states[State.DIVERGES]:
        words = f"{thousands(number)} of {total} NOT CONFORMANT"
        if report.kind is ReportKind.FUZZ:
            told = f"{counted(sum(len(faults(each)) for each in report.subjects), 'finding')}. {told}"
        return Verdict(*STATES[State.DIVERGES], words, told)
    if number := states[State.EXCEPT]:
        in_part = "fail in part" if report.kind is ReportKind.FUZZ else "conformant with exceptions"
        return Verdict(*STATES[State.EXCEPT], f"{thousands(number)} of {total} {in_part.upper()}", told)
    worst = next(each for each in (State.NOT_MEASURED, State.NOTHING, State.EXPECTED, State.CONFORMS) if states[each])
    if worst is not State.CONFORMS:
        return Verdict(*STATES[worst], f"{thousands(states[worst])} of {total} {worst.upper()}", told)
    if report.kind is ReportKind.FUZZ:
        words, told = "NOTHING FOUND", f"{told} A campaign can find faults, but cannot show that there are none."
    else:
        words = f"{total} of {total} CONFORMANT"
    return Verdict(*STATES[worst], words, told)


def _of_diff(report: Report) -> Verdict:
    """The verdict of a diff; regressions come first."""
    counts = standings_of(report)
    told = f"{', '.join(f'{thousands(number)} {each.value}' for each, number in counts.items()) or 'no divergence'}."
    more = sum(MORE in dict(cause.more) for subject in report.subjects for cause in subject.causes)
    if number := counts.get(Standing.REGRESSED, 0):
        return Verdict(*STANDINGS[Standing.REGRESSED], f"{thousands(number)} REGRESSED", told)
    if more:
        return Verdict(*STANDINGS[Standing.REGRESSED], f"{thousands(more)} WORSE THAN BEFORE", told)
    for standing in (Standing.NEW, Standing.CHANGED, Standing.NOT_COMPARABLE):
        if number := counts.get(standing, 0):
            words = f"{thousands(number)} {standing.upper()}"
            return Verdict(*STANDINGS[standing], words, f"No regression is known: {told}")
    if State.INCOMPLETE in {subject.state for subject in report.subjects}:
        return Verdict(*STATES[State.INCOMPLETE], "INCOMPLETE", f"A side is incomplete: {told}")
    return Verdict(GOOD, "✓", "NOTHING REGRESSED", told)


def standings_of(report: Report) -> dict[Standing, int]:
    """The number of causes of each standing, in the order of :data:`STANDINGS`."""
    seen = Counter(cause.standing for subject in report.subjects for cause in subject.causes)
    return {standing: seen[standing] for standing in STANDINGS if seen[standing]}


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
