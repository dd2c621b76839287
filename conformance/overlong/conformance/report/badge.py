"""The badge, in the form that the endpoint of shields.io takes (https://shields.io/badges/endpoint-badge).

Green means that everything measured holds. A badge is not green if anything was expected to diverge, not measured, set
aside or cut short.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from overlong.conformance.report.wording import faults, is_fault, of_several, swept_short, verdict
from overlong.conformance.results.headline import FAILING
from overlong.conformance.results.model import ReportKind, Standing, State
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from overlong.conformance.results.model import Report, Subject

LABEL = "UTF-8"
GREEN, RED, ORANGE, BLUE, GREY = "brightgreen", "red", "orange", "blue", "lightgrey"


def badge(report: Report) -> str:
    """The badge's JSON on one line; equal reports give equal text."""
    message, colour = _message(report)
    fields = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
    return json.dumps(fields) + "\n"


def _message(report: Report) -> tuple[str, str]:
    subjects, state = report.subjects, report.state
    if report.incomplete or state is State.INCOMPLETE:
        return "incomplete", ORANGE
    if not subjects:
        return "not measured", GREY
    first = subjects[0]
    if report.kind is ReportKind.DIFF:
        return _of_difference(report)
    if state in (State.NOT_MEASURED, State.NOTHING):
        return f"{_of_many(subjects, state)}{state.value}", GREY
    if state in FAILING and len(subjects) > 1:
        return f"{_of_many(subjects, state)}{of_several(state)}", RED
    if state in FAILING and first.sign:
        return "adapter in doubt", RED
    if state is State.EXCEPT:
        return verdict(first, report.kind).lower(), ORANGE
    if number := sum(len(faults(subject)) for subject in subjects):
        return counted(number, "divergence"), RED
    if number := sum(len(subject.stale) for subject in subjects):
        return counted(number, "stale expectation"), RED
    if state is State.DIVERGES:
        return "diverges", RED
    if state is State.EXPECTED:
        return "0 unexpected", BLUE
    if report.kind in (ReportKind.CERTIFY, ReportKind.MATRIX) and any(subject.why for subject in subjects):
        return "no divergences in what was tested", BLUE  # filtered: there is no certificate
    profile = _profile(subjects)
    of_one = {ReportKind.SWEEP: "no divergences", ReportKind.FUZZ: "nothing found"}.get(report.kind, "conformant")
    words = of_one if len(subjects) == 1 else f"{len(subjects)} decoders {of_one}"
    if len(subjects) == 1 and (short := swept_short(first, report.kind)):
        words = f"{words} ({short})"
    words = f"{profile} {words}" if profile else words
    aside = [printable(subject.set_aside, 100) for subject in subjects if subject.set_aside]
    if aside:  # because of limits that the target declares
        return f"{words}, {aside[0] if len(subjects) == 1 else f'{len(aside)} with vectors set aside'}", BLUE
    return words, GREEN


def _of_many(subjects: tuple[Subject, ...], state: State) -> str:
    """``2 of 40 `` if there are several targets."""
    if len(subjects) == 1:
        return ""
    return f"{thousands(sum(subject.state is state for subject in subjects))} of {thousands(len(subjects))} "


def _of_difference(report: Report) -> tuple[str, str]:
    causes = [cause for subject in report.subjects for cause in subject.causes]
    if worse := sum(is_fault(cause) and cause.standing is not Standing.NEW for cause in causes):
        return counted(worse, "regression"), RED
    if report.state is State.NOT_MEASURED:
        return "not measured", GREY
    if any(cause.standing in (Standing.NOT_COMPARABLE, Standing.NEW) for cause in causes):
        return "no regression, not all comparable", BLUE
    return "no regression", GREEN


def _profile(subjects: tuple[Subject, ...]) -> str:
    """The profile of all targets; empty if they differ."""
    profiles = {subject.profile for subject in subjects}
    return printable(profiles.pop(), 40) if len(profiles) == 1 else ""
