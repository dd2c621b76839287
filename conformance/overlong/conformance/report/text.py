"""Plain text of any report, as ``overlong report`` shows it in a terminal.

``report/terminal.py`` shows a run that has just ended: fewer of these lines, and facts that only the run knows. If the
place of the flaw matters, the input of a finding of a campaign is long, and mostly filler: it is abbreviated.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.protocol.wire import OPERATIONS
from overlong.conformance.report.compared import table, tally
from overlong.conformance.report.wording import (
    THIS_INPUT,
    Glyphs,
    command_lines,
    extent_of,
    faults,
    given,
    observed,
    passed_through,
    verdict,
    verdict_of_campaign,
    with_version,
)
from overlong.conformance.results.model import (
    AFTER,
    BECAUSE,
    HOLDS,
    MINIMAL,
    NOT_MEASURED,
    PEER,
    PEER_ANSWERS,
    PLAN,
    PREDICTS,
    SENTENCE,
    STABLE,
    STRINGS,
    TELLING,
    ReportKind,
    Standing,
)
from overlong.conformance.support.printable import counted, printable, runs, spaced_hex, thousands, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Cause, Moment, Report, Subject
    from overlong.conformance.vectors.vector import Vector


_HEADS = {
    Standing.UNEXPECTED: "FAIL",
    Standing.EXPECTED: "EXPECTED",
    Standing.DIFFERENCE: "DIFFERENCE",
    Standing.NOT_COMPARABLE: "NOT COMPARABLE",
}
"""The first word of a cause; for other standings it is the standing in capitals."""
_INDENT = "     "
_NAME = 400
"""Characters of a target's name that are shown."""


def block(cause: Cause, target: str, width: int, further: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """The lines about one finding.

    Args:
        cause: of a campaign's report.
        target: that has the finding.
        width: columns.
        further: more commands: title and words of each.
    """
    more = dict(cause.more)
    yield from head_of(cause, cause.id, printable(cause.section), width)
    asked = printable(OPERATIONS.get(cause.operation, cause.operation))
    name, expected = printable(target, _NAME), printable(cause.expected)
    observed = printable(passed_through(cause.observed, cause.octets))
    if is_difference(cause):
        name += f", and {printable(more.get(PEER, ''), _NAME)}"
        answers = [f"the first {observed}", f"the second {printable(more.get(PEER_ANSWERS, cause.expected))}"]
    else:
        answers = [f"expected {expected}", f"observed {observed}"]
    parts = [
        f"target {name}",
        *(f"{title} {printable(more[title], _NAME)}" for title in (SENTENCE, PREDICTS) if title in more),
        f"input {given(cause)}",
        *answers,
        *(f"{title} {printable(more[title])}" for title in (TELLING,) if title in more),
        f"where {printable(cause.place)}, {asked}" if cause.place else f"operation {asked}",
        f"{inputs(cause.count)}, {_stability(more)}{', perhaps not the shortest input' * (MINIMAL in more)}",
    ]
    for part in parts:
        yield from textwrap.wrap(part, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")
    for title, command in (("reproduce", cause.reproduce), *further):
        if command:
            yield from command_lines(command, f"{_INDENT}{title}: ")


def is_difference(cause: Cause) -> bool:
    """True if RFC 3629 leaves the answer open, so that the finding is no fault."""
    return cause.standing is Standing.DIFFERENCE


def head_of(cause: Cause, name: str, where: str, width: int) -> Iterator[str]:
    """``FAIL D-7f3a0c19  OV201 overlong form accepted``; if there is room, at its end the section that demands it.

    Args:
        cause: may hold hostile text.
        name: of its example.
        where: the section, safe to show.
        width: columns.
    """
    begins = _HEADS.get(cause.standing, cause.standing.value.upper())
    code = "" if is_difference(cause) else f"{printable(cause.code)} "
    head = f"{begins} {printable(name)}  {code}{printable(cause.title)}"
    if len(head) + len(where) + 2 <= width:
        yield f"{head}{where:>{width - len(head)}}" if where else head
    else:
        yield from textwrap.wrap(head, width, subsequent_indent=_INDENT)
        yield from textwrap.wrap(where, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")


def inputs(count: int) -> str:
    """``1 input``, ``18 441 inputs``."""
    return "1 input" if count == 1 else f"{thousands(count)} inputs"


def _stability(more: dict[str, str]) -> str:
    """How often the finding recurred when it was repeated."""
    shown, _, asked = more.get(STABLE, "").partition(" of ")
    times = f"{printable(shown)}/{printable(asked)}"
    return f"stable {times}" if shown == asked else f"UNSTABLE {times} in fresh processes"


def core(vector: Vector) -> tuple[int, int]:
    """The offsets of the part between the repetitions at both ends, in whole characters."""
    pieces, start, end = list(runs(vector.octets)), 0, len(vector.octets)
    if len(pieces) > 1 and pieces[0].repeats:
        start = max((each.offset for each in vector.segments if each.offset <= pieces[0].size), default=0)
    if len(pieces) > 1 and pieces[-1].repeats:
        behind = max(end - pieces[-1].size, start + 1)
        end = min((each.offset for each in vector.segments if each.offset >= behind), default=end)
    return start, end


_LONG = 2000
"""The number of characters shown of hostile text."""
_CLAIM = 18
"""The columns for the name of a claim."""
SHOWN = 20
"""The number of buckets that are written out; the rest are counted."""


def text(report: Report, width: int = 80, *, encoding: str = "utf-8") -> str:
    """The report as lines, none of them styled, none (but commands) wider than ``width``.

    Args:
        report: of any kind.
        width: columns.
        encoding: of the terminal; if it cannot show the marks, plainer marks replace them.
    """
    glyphs = Glyphs(encoding)
    if report.kind is ReportKind.DIFF:
        from overlong.conformance.report.compared import told

        return "".join(f"{line}\n" for line in told(report, width=width, encoding=encoding))
    lines = [*_conclusion(report, width), *_head(report, glyphs, width)]
    if len(report.subjects) == 1:
        lines += _single(report, report.subjects[0], glyphs, width)
    elif report.kind is ReportKind.FUZZ:
        lines += _campaign(report, width)
    else:
        lines += ["", *table(report.subjects, width=width, encoding=encoding)]
    for moment in report.discovery[-1:]:
        lines += _wrapped(_discovered(report.discovery, moment), width)
    for note in report.notes:
        lines += _wrapped(f"note: {printable(note, _LONG)}", width)
    if report.incomplete:
        lines += _wrapped(f"incomplete: {printable(report.incomplete, _LONG)}", width)
    return "".join(f"{line}\n" for line in lines)


def _wrapped(words: str, width: int, indent: str = "", further: str = "  ") -> list[str]:
    return textwrap.wrap(words, width, initial_indent=indent, subsequent_indent=indent + further)


def in_rows(items: Sequence[str], width: int, *, indent: str = "  ", between: str = "   ") -> Iterator[str]:
    """Items side by side, none of them broken."""
    row = ""
    for item in items:
        if row and len(row) + len(between) + len(item) > width:
            yield row
            row = ""
        row += (between if row else indent) + item
    yield row


def _rows(items: Sequence[str], width: int, glyphs: Glyphs) -> Iterator[str]:
    """Items side by side, none of them broken unless it needs more than a line."""
    short = [item for item in items if len(item) <= width]
    if short:
        yield from in_rows(short, width, indent="", between=f" {glyphs.dot} ")
    for item in items:
        if len(item) > width:
            yield from _wrapped(item, width)


def _head(report: Report, glyphs: Glyphs, width: int) -> Iterator[str]:
    """The report's subject and its origin."""
    if len(report.subjects) == 1:
        yield from title(report.subjects[0], glyphs, width)
    else:
        yield from _wrapped(printable(report.title), width)
    where = " ".join(printable(text) for text in report.environment.values())
    parts = [part for part in (report.kind.value, printable(report.generator), printable(report.time), where) if part]
    yield from _rows(parts, width, glyphs)


def title(subject: Subject, glyphs: Glyphs, width: int) -> Iterator[str]:
    """``rfc3629@1 · cpython (CPython 3.11.7)``."""
    named = f"{printable(subject.profile)} {glyphs.dot} {printable(subject.id)}"
    yield from with_version(named, subject.version, width)


def _conclusion(report: Report, width: int) -> Iterator[str]:
    """The verdict, or the number of targets of a matrix with each verdict."""
    if report.kind is ReportKind.FUZZ:
        yield from _wrapped(verdict_of_campaign(report), width)
    elif len(report.subjects) == 1:
        yield from verdict_lines(report, width)
    else:
        yield from tally(report.subjects, width)


def _single(report: Report, subject: Subject, glyphs: Glyphs, width: int) -> Iterator[str]:
    """The lines about one target."""
    if subject.sign:
        yield from sign_lines(subject.sign, width)
    if subject.why:
        yield from _wrapped(printable(subject.why, _LONG), width, "  ")
    for claim, state in subject.claims.items():
        meaning = {HOLDS: CLAIMS.get(claim, ""), NOT_MEASURED: NOT_MEASURED}.get(state, "")
        yield from claim_lines(subject, claim, glyphs, width, meaning)
    yield ""
    yield from blocks(report, subject.told, width)
    if hidden := len(subject.causes) - min(len(subject.told), SHOWN):
        what = counted(hidden, "bucket" if subject.sign else "more bucket")
        yield from _wrapped(f"{'' if subject.sign else 'and '}{what}: overlong report --format json has all", width)
        yield ""
    for cause in subject.stale:
        yield from _stale(cause, width)
        yield ""
    yield from _remarks(subject, width)
    if subject.parts:
        ran = [
            f"{'swept ' if part.is_sweep else ''}{printable(part.name)} {thousands(part.asked)}"
            + (f" of {thousands(part.all)}" if part.asked + part.set_aside != part.all else "")
            for part in subject.parts
        ]
        yield from _rows(ran, width, glyphs)
    if subject.recorded:
        known = [f"{printable(title)} {printable(words, _LONG)}" for title, words in subject.recorded.items()]
        yield from _rows(known, width, glyphs)


def sign_lines(sign: str, width: int) -> Iterator[str]:
    """The sign that the adapter is wrong: read it first."""
    yield from textwrap.wrap(f"LOOK AT THE ADAPTER FIRST: {printable(sign, 1000)}", width, subsequent_indent="  ")


def blocks(report: Report, causes: Sequence[Cause], width: int) -> Iterator[str]:
    """The first causes of a report of one target, each followed by an empty line."""
    profile = report.subjects[0].profile if report.kind is ReportKind.CERTIFY else ""
    for cause in causes[:SHOWN]:
        if report.kind is ReportKind.SWEEP:
            yield from _lines_of_set(cause, width)
        elif report.kind is ReportKind.FUZZ:
            yield from block(cause, report.subjects[0].id, width)
        else:
            yield from lines_of_cause(cause, width, profile)
        yield ""


def verdict_lines(report: Report, width: int) -> Iterator[str]:
    """The verdict and its extent, on one line if both fit."""
    subject = report.subjects[0]
    if report.kind is ReportKind.SWEEP:
        yield from _wrapped(verdict_of_sweep(subject), width)
        return
    words = verdict(subject, report.kind)
    told = extent_of(subject) if faults(subject) else ""
    if told and len(words) + 2 + len(told) <= width:
        yield f"{words}  {told}"
        return
    yield from _wrapped(words, width)
    if told:
        yield from _wrapped(told, width, "  ")


def verdict_of_sweep(subject: Subject) -> str:
    """The verdict of a sweep, in a line."""
    return f"{verdict(subject, ReportKind.SWEEP)}  {extent_of(subject, ReportKind.SWEEP)}"


def claim_lines(subject: Subject, claim: str, glyphs: Glyphs, width: int, meaning: str = "") -> Iterator[str]:
    """A claim and its remark; ``meaning`` is the remark if the report has none."""
    what = printable(subject.details.get(claim, ""), _LONG) or meaning
    line = f"{glyphs.of(subject.claims[claim])} {printable(claim):<{_CLAIM}} {what}".rstrip()
    yield from textwrap.wrap(line, width, initial_indent="  ", subsequent_indent=" " * (_CLAIM + 5))


def _remarks(subject: Subject, width: int) -> Iterator[str]:
    """Further remarks on a target: the basis of its result, and its limits."""
    if subject.behaves_like:
        yield from _wrapped(f"behaves like: {printable(subject.behaves_like)}", width)
    for name, words in subject.traits.items():
        yield from _wrapped(f"trait {printable(name)}: {printable(words)}", width)
    if subject.parts:
        yield "tested:"
        for part in subject.parts:
            wrong = f"; {thousands(part.failing)} of {thousands(part.asked)} diverge" if part.failing else ""
            aside = f"; {thousands(part.set_aside)} set aside" if part.set_aside else ""
            yield from _wrapped(f"{printable(part.name)}: {printable(part.shows, _LONG)}{wrong}{aside}", width, "  ")
    if subject.categories and any(failing for _, failing in subject.categories.values()):
        yield "vectors that diverge, by category:"
        rows = [
            f"{printable(name)} {thousands(failing)} of {thousands(asked)}"
            for name, (asked, failing) in subject.categories.items()
            if failing
        ]
        yield from _wrapped(", ".join(rows), width, "  ")
    if subject.not_covered:
        yield "not covered:"
        for each in subject.not_covered:
            yield from _wrapped(printable(each, _LONG), width, "  ")
    if subject.restarts:
        yield f"restarted {times(subject.restarts)} after a failure"
    for note in subject.notes:
        yield from _wrapped(f"note: {printable(note, _LONG)}", width)
    if subject.command:
        yield from command_lines(subject.command, "again: ")
    for title, digest in (("target", subject.digest), ("findings", subject.findings_digest)):
        if digest:
            yield from _wrapped(f"{title} sha256 {printable(digest)}", width)


def lines_of_cause(cause: Cause, width: int, profile: str = "") -> Iterator[str]:
    """``FAIL core/c080  OV201 overlong form accepted``, and all of it below.

    Args:
        cause: may hold hostile text.
        width: columns.
        profile: of the measurement; it decides whether an earlier stream ended well.
    """
    where = ", ".join(printable(each, _LONG) for each in (cause.section, cause.place) if each)
    yield from head_of(cause, cause.vector or cause.id, where, width)
    parts = [
        f"input {given(cause, profile)}",
        f"expected {printable(cause.expected)}",
        f"observed {printable(observed(cause))}",
    ]
    line = "     " + "    ".join(parts)
    if len(line) <= width:
        yield line
    else:
        for part in parts:
            yield from _wrapped(part, width, "     ")
    told = dict(cause.more)
    if SENTENCE in told:
        yield from _wrapped(f"{SENTENCE}: {printable(told[SENTENCE], _LONG)}", width, "     ")
    others = ((title, words) for title, words in cause.more if title != SENTENCE)
    for title, words in ((THIS_INPUT, cause.comment), ("because", cause.reason), ("see", cause.link), *others):
        if words:
            yield from _wrapped(f"{printable(title)}: {printable(words, _LONG)}", width, "     ")
    if cause.count > 1:
        yield f"     and {counted(cause.count - 1, 'more divergence')} like it"
    if cause.reproduce:
        yield from command_lines(cause.reproduce, "     reproduce: ")


def _lines_of_set(cause: Cause, width: int) -> Iterator[str]:
    """Strings of a plan that diverge alike: their description, and the least string."""
    more = dict(cause.more)
    yield from head_of(cause, more.get(PLAN, cause.vector), printable(cause.section, _LONG), width)
    for part in (
        f"{more.get(SENTENCE) or more.get(STRINGS, cause.place)}: {thousands(cause.count)}",
        f"input {spaced_hex(cause.octets)}",
        *(f"{title} {more[title]}" for title in (AFTER,) if title in more),
        f"expected {cause.expected}",
        f"observed {observed(cause)}",
        *(f"{title} {more[title]}" for title in (BECAUSE,) if title in more),
    ):
        yield from _wrapped(printable(part, _LONG), width, "     ")
    if cause.reproduce:
        yield from command_lines(cause.reproduce, "     reproduce: ")


def _stale(cause: Cause, width: int) -> Iterator[str]:
    """An expectation that no longer holds."""
    named = " ".join(printable(each) for each in (cause.vector, cause.code, cause.title, cause.place) if each)
    yield from _wrapped(f"STALE {named}".rstrip(), width, further="     ")
    expected = f"expected {printable(cause.observed)}" if cause.observed else ""
    for words in (expected, cause.reason, cause.link):
        if words:
            yield from _wrapped(printable(words, _LONG), width, "     ")
    yield from _wrapped(f"in {printable(cause.id)}", width, "     ")


def _campaign(report: Report, width: int) -> Iterator[str]:
    """Each target of a campaign and its findings."""
    yield ""
    for subject in report.subjects:
        version = f" ({printable(subject.version)})" if subject.version else ""
        yield from _wrapped(f"{printable(subject.id)}{version}: {verdict(subject, ReportKind.FUZZ)}", width)
        if subject.why:
            yield from _wrapped(printable(subject.why, _LONG), width, "  ")
        yield ""
        for cause in subject.causes[:SHOWN]:
            yield from block(cause, subject.id, width)
            yield ""
        if (more := len(subject.causes) - SHOWN) > 0:
            yield f"and {counted(more, 'more bucket')}"
            yield ""


def _discovered(moments: Sequence[Moment], last: Moment) -> str:
    """The times of the findings in a campaign."""
    first = next((moment for moment in moments if moment.findings), None)
    found = f", the first after {first.seconds:.1f} s" if first else ""
    newest = next((moment for moment in moments if moment.findings == last.findings), last)
    ended = f", the last after {newest.seconds:.1f} s" if first and newest is not first else ""
    return (
        f"discovered: {counted(last.findings, 'finding')}{found}{ended}; nothing new since {last.seconds:.1f} s, "
        f"{thousands(last.executions)} executions"
    )
