"""The verdict of a report in words, a glyph and a tone. A reader sees it first, and must not misread it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.report.wording import extent_of, faults, of_state, verdict
from overlong.conformance.results.model import MORE, ReportKind, Standing, State
from overlong.conformance.results.run import FAILS, HOLDS
from overlong.conformance.support.printable import counted, thousands

if TYPE_CHECKING:
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
