"""Many targets in a table, and two measurements side by side, for a terminal.

The table has a row for each target, a column for each claim, and the causes below. A diff says for each pair of targets
what got worse, what got better, and what cannot be compared.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import (
    CLAIMS,
    EARLIEST,
    LIMITS,
    POSITION,
    REPLACEMENT,
    SEPARATE_VALUES,
    STREAMING,
)
from overlong.conformance.report.wording import (
    Glyphs,
    command_lines,
    given,
    headline,
    observed,
    of_states,
    with_version,
)
from overlong.conformance.results.model import BEFORE, DIFF_ORDER, EXPECTED, FAILING, FAILS, HOLDS, Standing, State
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from overlong.conformance.results.model import Cause, Report, Subject


SHORT = {
    POSITION: "place",
    REPLACEMENT: "mode",
    STREAMING: "stream",
    EARLIEST: "early",
    SEPARATE_VALUES: "values",
    LIMITS: "limits",
}
"""Claims whose names are too long for a column."""
_LEAST = 10
"""The least width of the names of targets. If there is less room, the heads of claims are cut to two letters."""
_CAUSES = 3
"""The number of causes of one target that are written out."""


def columns_of(subjects: Sequence[Subject]) -> list[str]:
    """The claims of any target, in the order of the certificate."""
    return [claim for claim in CLAIMS if any(each.claims.get(claim) in (HOLDS, FAILS) for each in subjects)]


def tally(subjects: Sequence[Subject], width: int) -> list[str]:
    """``10 targets: 4 conform, 6 diverge``: the first lines, above the table."""
    return textwrap.wrap(f"{counted(len(subjects), 'target')}: {of_states(subjects)}", width)


def table(subjects: Sequence[Subject], *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the table, with the failures below it. No line is wider than ``width``."""
    glyphs, claims = Glyphs(encoding), columns_of(subjects)
    words = heads = [SHORT.get(claim, claim) for claim in claims]
    if width - sum(len(head) + 1 for head in heads) < _LEAST:
        heads = [head[:2] for head in heads]
    cut = "~" if glyphs.open == "-" else "…"
    # behind a name stand the cells of its claims or, without claims, its state
    behind = ["".join(f" {head}" for head in heads), *(f" {each.state}" for each in subjects if not each.claims)]
    room = max(width - max(map(len, behind)), _LEAST)
    name = min(max((len(printable(each.id)) for each in subjects), default=6), room)
    yield " ".join([f"{'target':<{name}}", *heads]).rstrip()
    for each in subjects:
        shown = printable(each.id)
        cells = [f"{shown if len(shown) <= name else shown[: name - 1] + cut:<{name}}"]
        if each.claims:
            states = [each.claims.get(claim, "") for claim in claims]
            cells += [f"{glyphs.of(state):^{len(head)}}" for state, head in zip(states, heads, strict=True)]
        else:
            cells.append(each.state)
        yield " ".join(cells).rstrip()
    yield f"{glyphs.holds} holds   {glyphs.fails} fails   {glyphs.open} not measured"
    if heads != words:
        yield from textwrap.wrap(", ".join(words), width)
    for each in subjects:
        yield from _why(each, width)


def _why(subject: Subject, width: int) -> Iterator[str]:
    """The reasons why a target does not pass."""
    if subject.state is State.CONFORMS and not subject.stale and not subject.set_aside:
        return
    yield ""
    yield from with_version(printable(subject.id), subject.version, width)
    if subject.state not in (*FAILING, State.EXPECTED) and not subject.stale and subject.why:
        why = f"{subject.state}: {printable(subject.why)}"
        yield from textwrap.wrap(why, width, initial_indent="  ", subsequent_indent="    ")
    if subject.set_aside:
        yield from textwrap.wrap(printable(subject.set_aside), width, initial_indent="  ", subsequent_indent="    ")
    if subject.sign:
        words = f"look at the adapter first: {printable(subject.sign)}"
        yield from textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="    ")
        yield f"  {counted(len(subject.causes), 'bucket')}"
    unexpected = [cause for cause in subject.told if cause.standing is not Standing.EXPECTED]
    for cause in unexpected[:_CAUSES]:
        more = f" (and {thousands(cause.count - 1)} more)" if cause.count > 1 else ""
        line = (
            f"{cause.code} {cause.title}: {given(cause)}: expected {cause.expected}, observed {observed(cause)}{more}"
        )
        yield from textwrap.wrap(printable(line, 1000), width, initial_indent="  ", subsequent_indent="    ")
    if (others := len(unexpected) - _CAUSES) > 0:
        yield f"  and {counted(others, 'more bucket')}"
    if expected := len(subject.told) - len(unexpected):
        yield f"  {counted(expected, 'bucket')} as expected"
    for cause in subject.stale:
        named = " ".join(filter(None, (cause.code, cause.vector)))
        line = f"stale expectation: {named}: {cause.reason}"
        yield from textwrap.wrap(printable(line, 1000), width, initial_indent="  ", subsequent_indent="    ")


_WRITTEN = 20
"""The number of causes of one standing and one pair that are written out."""
_ALONE = 8
"""The number of targets of one side alone that are named."""


def told(report: Report, *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the report; only commands may be wider than ``width``."""
    arrow = "->" if Glyphs(encoding).dot == "|" else "→"
    for name in ("older", "newer"):
        side = report.extra["sources"][name]
        details = ", ".join(part for part in (side["kind"], side["generator"], side["time"]) if part)
        yield from _wrapped(f"{name}  {side['source'] or side['title']} ({details})", width, after=7)
    for note in (*report.notes, *([f"incomplete: {report.incomplete}"] if report.incomplete else [])):
        yield from _wrapped(note, width, after=2)
    alike, alone = list[str](), {"newer": list[str](), "older": list[str]()}
    of_pair = zip(report.subjects, report.extra["older"], report.extra["newer"], strict=True)
    for subject, before, now in of_pair:
        if not before or not now:
            alone["newer" if before else "older"].append((before or now)["id"])
            continue
        claims = [each for each in report.extra["claims"] if each["subject"] == subject.id]
        lines = [*_claims(claims, arrow, width), *_causes(subject, width)]
        if lines or State.INCOMPLETE in (before["state"], now["state"]):
            yield ""
            yield from _sides(before, now, arrow, width)
            yield from lines
        elif before["version"] != now["version"]:
            alike.append(_named(before, now, arrow))
    for side, names in alone.items():
        if names:
            yield ""
            more = f" and {thousands(len(names) - _ALONE)} more" if len(names) > _ALONE else ""
            yield from _wrapped(f"not on the {side} side: {', '.join(names[:_ALONE])}{more}", width, after=2)
    if alike:
        yield ""
        yield from _wrapped(f"another version, and nothing else changed: {', '.join(alike)}", width, after=2)
    yield ""
    yield from _wrapped(_summary(report), width, after=2)


def _wrapped(text: str, width: int, *, before: int = 0, after: int = 0) -> list[str]:
    """The lines of a text with arbitrary contents, wrapped."""
    return textwrap.wrap(
        printable(text, 2000), width, initial_indent=" " * before, subsequent_indent=" " * (before + after)
    )


def _sides(before: Mapping[str, str], now: Mapping[str, str], arrow: str, width: int) -> Iterator[str]:
    """The two sides of the comparison, and which of them is incomplete."""
    shown = _named(before, now, arrow)
    if before["id"] == now["id"] and before["digest"] != now["digest"]:
        shown += "; its files have changed"
    yield from _wrapped(shown, width, after=2)
    for side, each in (("older", before), ("newer", now)):
        if each["state"] in (State.INCOMPLETE, State.NOT_MEASURED):
            yield from _wrapped(f"the {side} side is {each['state']}: {each['why']}", width, before=2, after=2)


def _named(before: Mapping[str, str], now: Mapping[str, str], arrow: str) -> str:
    """``zlib (1.2) → zlib (1.3)``; only once if name and version are equal."""
    names = [f"{each['id']} ({each['version']})" if each["version"] else each["id"] for each in (before, now)]
    return f" {arrow} ".join(dict.fromkeys(names))


def _claims(claims: Sequence[Mapping[str, str]], arrow: str, width: int) -> Iterator[str]:
    for each in claims:
        if each["older"] != each["newer"]:
            yield from _wrapped(f"{each['claim']}: {each['older']} {arrow} {each['newer']}", width, before=2, after=2)


def _causes(subject: Subject, width: int) -> Iterator[str]:
    for standing in DIFF_ORDER[:-1]:
        found = [cause for cause in subject.causes if cause.standing is standing]
        for cause in found[:_WRITTEN]:
            yield from _cause(cause, width)
        if len(found) > _WRITTEN:
            yield f"  and {thousands(len(found) - _WRITTEN)} more that are {standing}"


def _cause(cause: Cause, width: int) -> Iterator[str]:
    yield from _wrapped(f"{cause.standing.upper()} {headline(cause)}", width, before=2, after=2)
    words = f"{given(cause)}: expected {cause.expected}, observed {observed(cause)}"
    if cause.count > 1:
        words += f" (and {thousands(cause.count - 1)} more)"
    yield from _wrapped(words, width, before=5, after=2)
    if cause.reason:
        yield from _wrapped(f"why: {cause.reason}", width, before=5, after=2)
    for title, text in cause.more:
        if title in (BEFORE, EXPECTED):
            yield from _wrapped(f"{title}: {text}" if text else title, width, before=5, after=2)
    if cause.reproduce and cause.standing in (Standing.REGRESSED, Standing.CHANGED, Standing.NEW):
        yield from command_lines(cause.reproduce, "     reproduce: ")


def _summary(report: Report) -> str:
    counts: Mapping[str, int] = report.extra["counts"]
    told = ", ".join(f"{thousands(number)} {standing}" for standing, number in counts.items() if number)
    return told or "no causes on either side"
