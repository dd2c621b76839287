"""What CI servers and pages of projects show: JUnit XML, and a badge.

The XML is in the subset that Jenkins' schema (junit-10.xsd), GitLab and junitparser take. A suite for each target. A
case for each claim, for each category of vectors if they were counted, and for each cause; never one for each vector.
Names hold no numbers that change between runs, so that CI servers can show a history.

An expected deviation is *skipped*, with its reason, as pytest reports a failure under ``xfail``. A stale one *fails*,
as a test under ``xfail(strict=True)`` does when it passes.

The badge is in the form that the endpoint of shields.io takes (https://shields.io/badges/endpoint-badge). Green means
that everything measured holds. It is not green if anything was expected to diverge, not measured, set aside or cut
short.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from overlong.conformance.report.wording import (
    LINE,
    THIS_INPUT,
    command_lines,
    faults,
    given,
    headline,
    is_fault,
    observed,
    of_several,
    prose_lines,
    swept_short,
    verdict,
)
from overlong.conformance.results.model import FAILING, FAILS, HOLDS, ReportKind, Standing, State
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.results.model import Cause, Report, Subject


_LONG = 1 << 17
"""The number of characters of a value that are shown; no command of a run has more."""
_NAME, _MESSAGE = 180, 150
"""Those of a name, and of a message; a longer message stands whole in its element."""
_BETWEEN = re.compile(r'" (?=[a-z]+=")')
"""Between two attributes."""


def junit(report: Report) -> str:
    """The report as an XML document."""
    root = ET.Element("testsuites", {"name": f"overlong {report.kind.value}"})
    for subject in report.subjects:
        suite = ET.SubElement(root, "testsuite", {"name": _line(subject.id) or "?"})
        _properties(suite, report, subject)
        suite.extend(_cases(report, subject))
        _count(suite)
        if subject.seconds > 0:
            suite.set("time", f"{subject.seconds:.3f}")
    if report.incomplete or not report.subjects:
        suite = ET.SubElement(root, "testsuite", {"name": "overlong"})
        case = _case("overlong", "measured wholly")
        _outcome(case, "error", State.INCOMPLETE.value, report.incomplete or "the report has no target")
        suite.append(case)
        _count(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    # a runner of CI jobs takes "##[" anywhere in a line of a log for a command
    text = "\n".join(map(_broken, ET.tostring(root, encoding="unicode").split("\n"))).replace("##[", "&#35;#[")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _broken(line: str) -> str:
    """A line of XML; if it is a tag, and long, each attribute has a line. Text has no such character as ``<``."""
    if len(line) <= LINE or not line.lstrip().startswith("<"):
        return line
    return _BETWEEN.sub('"\n      ', line)


def _properties(suite: ET.Element, report: Report, subject: Subject) -> None:
    properties = ET.SubElement(suite, "properties")
    known = {
        "profile": subject.profile,
        "name": subject.name,
        "version": subject.version,
        "language": subject.language,
        "digest": subject.digest,
        "findings digest": subject.findings_digest,
        "verdict": verdict(subject, report.kind),
        "command": subject.command,
        "generator": report.generator,
    }
    for name, value in known.items():
        if value:
            ET.SubElement(properties, "property", {"name": name, "value": _line(value, _LONG)})


def _cases(report: Report, subject: Subject) -> Iterator[ET.Element]:
    yield _whole(subject)
    if report.kind is not ReportKind.DIFF:  # the claims of a diff may fail on both sides
        yield from _claims(subject)
        yield from _categories(subject)
    names: dict[str, int] = {}
    if subject.sign:
        case = _case(subject.id, "the adapter is sound", ".divergences")
        _outcome(case, "failure", "adapter", f"look at the adapter first: {subject.sign}")
        yield case
    for cause in subject.told:
        name = f"{headline(cause)} [{cause.claim}]"
        names[name] = names.get(name, 0) + 1
        yield _of_cause(subject, cause, name if names[name] == 1 else f"{name} #{names[name]}")
    for cause in subject.stale:
        case = _case(subject.id, f"{headline(cause)}: {cause.vector}", ".expected")
        _outcome(case, "failure", "stale expectation", f"expected, but no longer seen: {cause.reason}", _told(cause))
        yield case


def _whole(subject: Subject) -> ET.Element:
    """A case that passes if the target was measured, and to the end."""
    case = _case(subject.id, "measured wholly")
    if subject.state in (State.INCOMPLETE, State.NOT_MEASURED):
        _outcome(case, "error", subject.state.value, subject.why or subject.state.value)
    elif subject.state is State.NOTHING:
        _outcome(case, "skipped", subject.state.value, subject.why or subject.state.value)
    return case


def _claims(subject: Subject) -> Iterator[ET.Element]:
    refuted = {cause.claim for cause in faults(subject)}
    excused = {cause.claim for cause in subject.causes} - refuted
    for claim, state in subject.claims.items():
        case = _case(subject.id, claim, ".claims")
        if state == FAILS and claim in excused:
            _outcome(case, "skipped", Standing.EXPECTED.value, "fails only as expected")
        elif state == FAILS:
            codes = ", ".join(
                dict.fromkeys(cause.code for cause in subject.told if cause.claim == claim and is_fault(cause))
            )
            _outcome(case, "failure", "claim", f"{claim} fails: {codes}" if codes else f"{claim} fails")
        elif state != HOLDS:
            _outcome(case, "skipped", State.NOT_MEASURED.value, subject.details.get(claim) or state)
        yield case


def _categories(subject: Subject) -> Iterator[ET.Element]:
    for name, (asked, failing) in subject.categories.items():
        case = _case(subject.id, name, ".categories")
        if not asked:
            _outcome(case, "skipped", State.NOT_MEASURED.value, "nothing of it was tested")
        elif failing and faults(subject):
            _outcome(case, "failure", "category", f"{failing} of {asked} vectors go wrong")
        elif failing:
            _outcome(case, "skipped", Standing.EXPECTED.value, f"{failing} of {asked} vectors go wrong, as expected")
        yield case


def _of_cause(subject: Subject, cause: Cause, name: str) -> ET.Element:
    case = _case(subject.id, name, ".divergences")
    message = f"{given(cause)}: expected {cause.expected}, observed {observed(cause)}"
    if is_fault(cause):
        _outcome(case, "failure", cause.code, message, _told(cause))
    elif cause.standing is not Standing.FIXED:
        reason = f"{cause.standing.value}: {cause.reason}" if cause.reason else cause.standing.value
        _outcome(case, "skipped", cause.standing.value, reason, _told(cause))
    return case


def _told(cause: Cause) -> str:
    """All facts about a cause, one on each line; no line begins with text of the target."""
    lines = [
        ("input", given(cause)),
        ("expected", cause.expected),
        ("observed", observed(cause)),
        ("section", cause.section),
        (THIS_INPUT, cause.comment),
        ("divergences", str(cause.count)),
        *(("also", f"{title}: {words}") for title, words in cause.more),
        ("standing", cause.standing.value),
        ("reason", cause.reason),
        ("link", cause.link),
    ]
    shown = [line for name, words in lines if words for line in _row(name, words)]
    again = command_lines(cause.reproduce, f"  {'reproduce':<12}") if cause.reproduce else []
    return "\n".join(("", *shown, *again, ""))


def _row(name: str, words: str) -> list[str]:
    return prose_lines(_line(words, 2000), f"  {name:<12}", " " * 14)


def _case(owner: str, name: str, group: str = "") -> ET.Element:
    """A case of a target; ``group`` stays whole behind the target's name, however long that is."""
    classname = _line(owner, _NAME - len(group)) + group
    return ET.Element("testcase", {"classname": classname or "?", "name": _line(name) or "?"})


def _outcome(case: ET.Element, outcome: str, kind: str, message: str, told: str = "") -> None:
    shown = _line(message, _MESSAGE)
    element = ET.SubElement(case, outcome, {"type": f"overlong.{_line(kind)}", "message": shown})
    whole = "\n".join(("", *_row("message", message), "")) if len(message) > _MESSAGE else ""
    element.text = told or whole or None


def _line(words: str, limit: int = _NAME) -> str:
    """Words in characters that XML allows; noncharacters and control characters are written as escapes."""
    return printable(words, limit)


def _count(suite: ET.Element) -> None:
    """The counts that readers of JUnit expect before the cases."""
    counts = {name: len(suite.findall(f"testcase/{outcome}")) for name, outcome in _COUNTED.items()}
    for name, number in {"tests": len(suite.findall("testcase")), **counts}.items():
        suite.set(name, str(number))


_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


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
