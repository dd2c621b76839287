"""Markdown, for the summary of a CI step or an issue. Text of targets and files stays text, and mentions no user.

A forge turns ``@name``, ``#12`` or an address into a link even after a backslash, but not in code. So any text that is
not plain words becomes code: between backticks where possible, else in ``<code>`` with each sign as an entity.

The text for an issue tracker is one divergence, for maintainers of the decoder who may not know overlong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import (
    EARLIEST,
    ENCODER,
    FUNCTIONS,
    KINDS,
    LIMITS,
    MEMORY,
    POSITION,
    REPLACEMENT,
    SCALARS,
    STREAMING,
    VERDICT,
    Code,
)
from overlong.conformance.protocol.wire import ENCODE_UTF16, ENCODING
from overlong.conformance.report.wording import (
    LINE,
    THIS_INPUT,
    command_lines,
    faults,
    given,
    meaning_of,
    observed,
    of_standings,
    of_states,
    prose_lines,
    section_links,
    state_words,
    verdict,
)
from overlong.conformance.results.model import FAILING, FAILS, HOLDS, NOT_MEASURED, ReportKind, Standing, State
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.vectors.expected import SCALARS as SCALAR_VALUES
from overlong.conformance.vectors.expected import UTF16, WIDTHS
from overlong.conformance.vectors.expected import given as numbers_of
from overlong.reference import DEFECTS

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


_BETWEEN = "\n\n---\n\n"
_IN_GENERAL = "RFC 3629 §10"
"""The section on handling ill-formed octets, for a program that fails: no other section says more."""
_TABLE = "Unicode ch. 3, table 3-7"
_FAILS = "denial of service: one input ends the program, or keeps it"
_EFFECTS = {
    Code.REFUSED: "data loss: text that is well-formed is turned away",
    Code.SCALARS: "data loss: the text that comes out is not the text that went in",
    Code.INTERNAL_ERROR: _FAILS,
    Code.CRASHED: _FAILS,
    Code.TIMED_OUT: _FAILS,
    VERDICT: "what is accepted depends on more than the input",
    SCALARS: "data loss: the text that comes out is not the text that went in",
    POSITION: "a caller that resumes at the place loses octets, or lets ill-formed ones pass",
    REPLACEMENT: "data loss: octets around the flaw vanish or change",
    STREAMING: "data loss where text comes in pieces",
    EARLIEST: "a peer waits for what could have come",
    ENCODER: "data loss: what is written is not what was meant",
    MEMORY: "memory outside the input or the output is touched",
    FUNCTIONS: "text is cut, counted or read at a wrong place",
    LIMITS: "callers rely on what is not so",
}
"""The harm of a divergence, by its code, or else by its claim. The text of an accepted defect names its own harm."""


def issues(report: Report) -> str:
    """An issue for each unexpected divergence of each target, with horizontal rules between them."""
    found = [text for subject in report.subjects for text in _issues_of(subject)]
    return _BETWEEN.join(found) + "\n" if found else "Nothing diverges, so there is nothing to report.\n"


def _issues_of(subject: Subject) -> Iterator[str]:
    """The issues of a decoder; if a fault of the adapter explains all divergences, only that fault."""
    if subject.sign and not subject.told:
        yield f"# {text(subject.id)}: look at the adapter first\n\n{text(subject.sign, 1000)}"
    else:
        yield from ("\n\n".join(map(wrapped, issue(subject, cause).split("\n\n"))) for cause in faults(subject))


def issue(subject: Subject, cause: Cause) -> str:
    """One divergence: a title, the observation, how to repeat it, the expected answer, its rule, and why it matters."""
    return "\n\n".join(_parts(subject, cause))


def _parts(subject: Subject, cause: Cause) -> Iterator[str]:
    yield f"# {title(subject, cause.title, cause)}"
    what = text(subject.name or subject.id)
    yield f"Seen with {text(subject.version)} ({what})." if subject.version else f"Seen with {what}."
    facts = {
        "input": code(input_of(cause)),
        "expected": text(cause.expected),
        "observed": text(observed(cause)),
        "how wide": f"{counted(cause.count, 'input')} of the test suites",
        "effect": text(effect_of(cause)),
        "rule": rule_of(cause),
    }
    yield "\n".join(f"- {title}: {words}" for title, words in facts.items() if words)
    if cause.reproduce:
        line = f"To see it: {code(cause.reproduce, LINE)}."
        yield line if len(line) <= LINE else f"To see it:\n\n{command_block(cause.reproduce)}"
    if known := DEFECTS.get(cause.code) or KINDS.get(cause.code):  # a newer version knows more codes
        yield text(known.paragraph, 2000)
    yield f"overlong calls this {text(cause.code)}."


def title(subject: Subject, what: str, cause: Cause) -> str:
    """The title: what is wrong with the decoder, and the shortest input that shows it."""
    return f"{text(printable(subject.id, 80))}: {text(what)} ({code(input_of(cause))})"


def effect_of(cause: Cause) -> str:
    """The harm of a divergence; empty if none is known."""
    defect = DEFECTS.get(cause.code)
    return defect.effect if defect else _EFFECTS.get(cause.code, _EFFECTS.get(cause.claim, ""))


def input_of(cause: Cause) -> str:
    """The input: octets with their chunks; or the code points or code units for an encoder, if they are whole."""
    width = WIDTHS[UTF16 if cause.operation == ENCODE_UTF16 else SCALAR_VALUES]
    if cause.operation not in tuple(ENCODING) or len(cause.octets) % width:
        return given(cause)
    return " ".join(f"U+{number:04X}" for number in numbers_of(cause.operation, cause.octets))


def rule_of(cause: Cause, *more: str) -> str:
    """The sections that define the correct answer, with their addresses if known; ``more``: further ones."""
    sections = DEFECTS[cause.code].section if cause.code in DEFECTS else cause.section or _IN_GENERAL
    if sections.startswith("RFC 3629"):
        sections += f"; {_TABLE}"
    pieces = section_links("; ".join((sections, *more)))
    return ", ".join(f"[{text(words)}]({address})" if address else text(words) for words, address in pieces)
