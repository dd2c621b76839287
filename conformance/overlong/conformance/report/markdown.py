"""Markdown, for the summary of a CI step or an issue. Text of targets and files stays text, and mentions no user.

A forge turns ``@name``, ``#12`` or an address into a link even after a backslash, but not in code. So any text that is
not plain words becomes code: between backticks where possible, else in ``<code>`` with each sign as an entity.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overlong.conformance.report.lines import LINE, command_lines, prose_lines
from overlong.conformance.report.wording import (
    THIS_INPUT,
    faults,
    given,
    meaning_of,
    observed,
    of_standings,
    of_states,
    state_words,
    verdict,
)
from overlong.conformance.results.headline import FAILING
from overlong.conformance.results.model import ReportKind, Standing, State
from overlong.conformance.results.run import FAILS, HOLDS, NOT_MEASURED
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Cause, Report, Subject

LIMIT = 1 << 20
"""The most octets that GitHub takes as the summary of a step."""
SHOWN = 20
"""The most causes of one target that are written out; the rest are counted."""

_GLYPHS = {HOLDS: "✓", FAILS: "✗"}
_OPEN = "–"  # noqa: RUF001 (the mark for "not measured")
_PLAIN = re.compile(r"""(?:[^\W_]|[ ,.;:()'"/+=…→·§-])*""")
_LINKED = re.compile(r"://|www\.|:[\w+-]+:|GH-\d|\b[0-9a-f]{7,}\b|  ", re.IGNORECASE)
"""Text that a forge or a renderer turns into a link or a mention without any markup."""
_COMMAND = "##["
"""The beginning of old commands to the runner of a CI job, anywhere in a line of a log."""


def text(words: str, limit: int = 400) -> str:
    """Hostile words on one line: unchanged if they have no meaning in Markdown, else as code."""
    shown = printable(words, limit)
    if _PLAIN.fullmatch(shown) and not _LINKED.search(shown):
        return shown.strip()
    return code(words, limit)


def code(words: str, limit: int = 400) -> str:
    """Hostile words as code on one line, also inside a table; empty if there are no words."""
    shown = printable(words, limit)
    if not shown.strip():
        return ""
    if not set(shown) & set("`|\\") and _COMMAND not in shown and shown == shown.strip():
        return f"`{shown}`"
    return f"<code>{_entities(shown)}</code>"


def markdown(report: Report, *, limit: int = LIMIT) -> str:
    """The report in at most ``limit`` octets. If parts have no room, the end of the text says so."""
    room = limit - 400  # room for the sentence below
    kept: list[str] = []
    for block in map(wrapped, _blocks(report)):
        room -= len(block.encode()) + 2
        if room < 0:
            kept.append(
                f"**Cut here:** the rest has no room in {thousands(limit)} octets. The other formats have all of it."
            )
            break
        kept.append(block)
    return "\n\n".join(kept) + "\n"


def claims_table(subjects: Sequence[Subject], kind: ReportKind = ReportKind.MATRIX) -> Iterator[str]:
    """The lines of a table: a row for each target, and a column for each claim of any target."""
    names = dict.fromkeys(claim for subject in subjects for claim in subject.claims)
    claims = [name for name in names if any(subject.claims.get(name) in (HOLDS, FAILS) for subject in subjects)]
    yield _row("target", "version", "state", *map(text, claims))
    yield _rule(3 + len(claims))
    for subject in subjects:
        states = [_GLYPHS.get(subject.claims.get(claim, ""), _OPEN) for claim in claims]
        yield _row(code(subject.id), text(subject.version), state_words(subject.state, kind), *states)


def _blocks(report: Report) -> Iterator[str]:
    """Paragraphs, tables and headings, to be joined by empty lines."""
    if report.kind is ReportKind.MATRIX or (len(report.subjects) != 1 and report.kind is not ReportKind.DIFF):
        yield from _many(report)
    elif report.kind is ReportKind.DIFF:
        yield from _difference(report)
    else:
        (subject,) = report.subjects
        version = f" ({text(subject.version)})" if subject.version else ""
        yield f"## {_mark(subject, report.kind)} {code(subject.id)}{version}: {verdict(subject, report.kind)}"
        yield _measured(report)
        yield from _alarm(report)
        yield from _subject(subject, report.kind)
    yield from _list("Notes", report.notes)


def _many(report: Report) -> Iterator[str]:
    subjects = report.subjects
    yield f"## {counted(len(subjects), 'decoder')}: {of_states(subjects, report.kind) or State.NOT_MEASURED.value}"
    yield _measured(report)
    yield from _alarm(report)
    if subjects:
        yield "\n".join(claims_table(subjects, report.kind))
        yield f"✓ holds, ✗ fails, {_OPEN} not measured"
    for subject in subjects:
        if subject.state is State.CONFORMS and not subject.stale:
            continue
        yield f"### {_mark(subject, report.kind)} {code(subject.id)}: {verdict(subject, report.kind)}"
        if subject.why:
            yield text(subject.why, 1000)
        yield from _sign(subject)
        yield from _table_of_causes(subject.told)
        yield from _stale(subject)
    yield from _list("Not covered", dict.fromkeys(words for subject in subjects for words in subject.not_covered))
    facts = subjects[0].recorded.items() if subjects else ()
    common = [fact for fact in facts if all(fact in subject.recorded.items() for subject in subjects)]
    yield from _list("Also seen", [f"{title}: {words}" for title, words in common])


def _difference(report: Report) -> Iterator[str]:
    causes = [cause for subject in report.subjects for cause in subject.causes]
    yield f"## {text(report.title)}: {of_standings(causes) or 'no difference'}"
    yield _measured(report)
    yield from _alarm(report)
    for standing in (
        *(Standing.REGRESSED, Standing.CHANGED, Standing.NEW, Standing.UNEXPECTED, Standing.FIXED),
        *(Standing.NOT_COMPARABLE, Standing.EXPECTED, Standing.SAME, Standing.DIFFERENCE),
    ):
        found = [(subject, cause) for subject in report.subjects for cause in subject.causes]
        found = [pair for pair in found if pair[1].standing is standing]
        if not found:
            continue
        yield f"### {standing.value.capitalize()}"
        rows: list[tuple[str, ...]] = []
        for subject, cause in found[:SHOWN]:
            why = f" ({text(cause.reason)})" if cause.reason else ""
            cells = code(given(cause)), text(cause.expected), text(observed(cause))
            rows.append((code(subject.id), _headline(cause) + why, *cells))
        yield from _table(("target", "what", "input", "expected", "observed"), rows)
        if len(found) > SHOWN:
            yield f"and {thousands(len(found) - SHOWN)} more"
    for subject in report.subjects:
        if subject.state in (State.INCOMPLETE, State.NOT_MEASURED):
            yield f"**{code(subject.id)}: {subject.state.value}.** {text(subject.why, 1000)}".rstrip()


def _measured(report: Report) -> str:
    """The program that measured, its version, and the time."""
    profiles = dict.fromkeys(subject.profile for subject in report.subjects)
    parts = [text(report.generator), *map(code, profiles), *map(text, report.environment.values()), text(report.time)]
    return "Measured by " + ", ".join(part for part in parts if part)


def _alarm(report: Report) -> Iterator[str]:
    if report.incomplete:
        yield f"**Incomplete:** {text(report.incomplete, 1000)}"


def _subject(subject: Subject, kind: ReportKind) -> Iterator[str]:
    """The blocks of one target."""
    yield from _sign(subject)
    if subject.why:
        yield f"**{'No certificate' if kind is ReportKind.CERTIFY else 'Why'}:** {text(subject.why, 1000)}"
    if subject.claims:
        rows: list[tuple[str, ...]] = []
        for claim, state in subject.claims.items():
            known = state if state in (HOLDS, FAILS, NOT_MEASURED) else text(state)
            what = text(subject.details.get(claim, ""), 1000) or text(meaning_of(subject, claim), 1000)
            rows.append((_GLYPHS.get(state, _OPEN), text(claim), known, what))
        yield from _table(("", "claim", "state", "the decoder"), rows)
    looked_at = [cause for cause in faults(subject) if cause in subject.told]
    for cause in looked_at[:SHOWN]:
        yield from _cause(cause)
    if len(looked_at) > SHOWN:
        yield f"and {thousands(len(looked_at) - SHOWN)} more causes"
    for standing, title in (
        (Standing.EXPECTED, "Expected deviations"),
        (Standing.DIFFERENCE, "Differences that RFC 3629 leaves open"),
    ):
        others = [cause for cause in subject.causes if cause.standing is standing]
        if others:
            yield f"### {title}"
            yield from _table_of_causes(others)
    yield from _stale(subject)
    yield from _asked(subject)
    yield from _list("Not covered", subject.not_covered)
    facts = [f"{title}: {fact}" for title, fact in subject.recorded.items()]
    if subject.behaves_like:
        facts.insert(0, f"behaves like {subject.behaves_like}")
    yield from _list("Also seen", (*facts, *subject.notes))
    if subject.command:
        yield "Measure again:"
        yield command_block(subject.command)


def _sign(subject: Subject) -> Iterator[str]:
    if subject.sign:
        hidden = len(subject.causes) - len(subject.told)
        left = f" {counted(hidden, 'bucket')} not shown here: JSON has them." if hidden else ""
        yield f"**Look at the adapter first:** {text(subject.sign, 1000)}.{left}"


def _cause(cause: Cause) -> Iterator[str]:
    """The blocks of one cause."""
    yield f"### {_standing(cause)}{_headline(cause)}"
    rows = [
        ("input", code(given(cause))),
        ("expected", text(cause.expected, 1000)),
        ("observed", text(observed(cause), 1000)),
        ("refutes", f"{text(cause.claim)}{_after(cause.section)}"),
        (THIS_INPUT, text(cause.comment, 1000)),
        ("divergences", thousands(cause.count)),
        *((text(title), text(more, 1000)) for title, more in cause.more),
        ("reason", text(cause.reason, 1000)),
    ]
    yield from _table(("", ""), [row for row in rows if row[1]])
    if cause.reproduce:
        yield command_block(cause.reproduce)


def _headline(cause: Cause) -> str:
    """The divergence and its place, in pieces, so that only the necessary pieces become code."""
    where = f" ({text(cause.place)})" if cause.place else ""
    return f"{text(cause.code)} {text(cause.title)}{where}"


def _standing(cause: Cause) -> str:
    return "" if cause.standing is Standing.UNEXPECTED else f"{cause.standing.value.capitalize()}: "


def _after(section: str) -> str:
    return f" ({text(section)})" if section else ""


def _table_of_causes(causes: Sequence[Cause]) -> Iterator[str]:
    """A table of causes, one on each line."""
    if not causes:
        return
    reasons = any(cause.reason or cause.link for cause in causes)
    rows: list[tuple[str, ...]] = []
    for cause in causes[:SHOWN]:
        standing = "" if cause.standing in (Standing.UNEXPECTED, Standing.EXPECTED) else f"{cause.standing.value}: "
        reason = [" ".join(filter(None, (text(cause.reason), code(cause.link))))] * reasons
        cells = code(given(cause)), text(cause.expected), text(observed(cause)), thousands(cause.count)
        rows.append((standing + _headline(cause), *cells, *reason))
    yield from _table(("what", "input", "expected", "observed", "divergences", *["reason"] * reasons), rows)
    if len(causes) > SHOWN:
        yield f"and {thousands(len(causes) - SHOWN)} more causes"


def _stale(subject: Subject) -> Iterator[str]:
    if not subject.stale:
        return
    yield "### Expectations gone stale"
    yield from _table_of_causes(subject.stale)


def _asked(subject: Subject) -> Iterator[str]:
    """The suites and plans that ran: how much of each, and what it shows."""
    if not subject.parts:
        return
    rows: list[tuple[str, ...]] = []
    for part in subject.parts:
        many = thousands(part.asked) if part.asked == part.all else f"{thousands(part.asked)} of {thousands(part.all)}"
        aside = f", {thousands(part.set_aside)} set aside" if part.set_aside else ""
        rows.append((text(part.name), many + aside, thousands(part.failing), text(part.shows)))
    yield from _table(("tested", "how many", "wrong", "it shows, if nothing is wrong"), rows)


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {text(item, 1000)}" for item in items if item]
    if lines:
        yield f"**{title}**"
        yield "\n".join(lines)


def _mark(subject: Subject, kind: ReportKind) -> str:
    if subject.state is State.CONFORMS and not subject.stale:
        return "✓"
    if subject.state in FAILING or subject.stale or (kind is not ReportKind.DIFF and faults(subject)):
        return "✗"
    return _OPEN


def command_block(command: str) -> str:
    """A command that a reader can copy."""
    shown = "\n".join(command_lines(command))
    if "`" in shown or _COMMAND in shown or shown.lstrip().startswith("::"):
        lines = "\n".join(map(_entities, command_lines(command, width=LINE // 6)))
        return f"<pre><code>{lines}</code></pre>"
    return f"```sh\n{shown}\n```"


def _entities(shown: str) -> str:
    """Text in which every sign except letters, digits and spaces is an entity, so that Markdown sees no markup."""
    return "".join(each if each.isalnum() or each == " " else f"&#{ord(each)};" for each in shown)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table, and below it the cells for which a line has no room."""
    lines, below = [_row(*titles), _rule(len(titles))], list[str]()
    for row in rows:
        cells = list(row)
        while len(_row(*cells)) > LINE and (place := max(range(1, len(cells)), key=lambda at: len(cells[at]))):
            if len(cells[place]) <= len("below"):
                break
            below.append(f"**{' '.join(filter(None, (cells[0], titles[place])))}:** {cells[place]}")
            cells[place] = "below"
        lines.append(_row(*cells))
    yield "\n".join(lines)
    yield from below


def wrapped(block: str) -> str:
    """A block with no line longer than :data:`LINE`, but for headings, which are one line, and tables and commands."""
    if block.startswith(("|", "#", "```", "<pre>")):
        return block
    return "\n".join(
        part for line in block.split("\n") for part in prose_lines(line, further="  " * line.startswith("- "))
    )


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return f"|{'---|' * columns}"
