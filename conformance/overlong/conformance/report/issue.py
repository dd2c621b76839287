"""A text for an issue tracker: one divergence, for maintainers of the decoder who may not know overlong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overlong.conformance.certification.survey.kept import HERE, OBTAINED, WHAT, announced
from overlong.conformance.protocol.kind import (
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
from overlong.conformance.report.lines import LINE
from overlong.conformance.report.links import section_links
from overlong.conformance.report.markdown import code, command_block, text, wrapped
from overlong.conformance.report.wording import faults, given
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.vectors.encoding import SCALARS as SCALAR_VALUES
from overlong.conformance.vectors.encoding import UTF16, WIDTHS
from overlong.conformance.vectors.encoding import given as numbers_of
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.certification.survey.confirmation import Confirmation
    from overlong.conformance.results.model import Cause, Report, Subject

_RULE = "\n\n---\n\n"
_FENCES = {"C#": "csharp", "C++": "cpp", "Common Lisp": "lisp", "Emacs Lisp": "lisp", "JavaScript": "js"}
_IN_GENERAL = "RFC 3629 §10"
"""The section on handling ill-formed octets, for a program that fails: no other section says more."""
_TABLE = "Unicode ch. 3, table 3-7"
_OF_DOCUMENTS = {"json": "RFC 8259 §8.1", "cbor": "RFC 8949 §3.1"}
"""The sections in which formats with an RFC demand UTF-8."""
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
_PASSED_ON = re.compile(r"accepted(?: U\+00[0-7][0-9A-F]| U\+DC[89A-F][0-9A-F])+")


def issues(report: Report) -> str:
    """An issue for each unexpected divergence of each target, with horizontal rules between them."""
    found = [text for subject in report.subjects for text in _of(subject)]
    return _RULE.join(found) + "\n" if found else "Nothing diverges, so there is nothing to report.\n"


def _of(subject: Subject) -> Iterator[str]:
    """The issues of a decoder; if a fault of the adapter explains all divergences, only that fault."""
    if subject.sign and not subject.told:
        yield f"# {text(subject.id)}: look at the adapter first\n\n{text(subject.sign, 1000)}"
    else:
        yield from ("\n\n".join(map(wrapped, issue(subject, cause).split("\n\n"))) for cause in faults(subject))


def issue(subject: Subject, cause: Cause, confirmed: Confirmation | None = None) -> str:
    """One divergence: a title, the observation, how to repeat it, the expected answer, its rule, and why it matters.

    Args:
        subject: the decoder.
        cause: one of its causes.
        confirmed: a program that shows the divergence without overlong, and its output.
    """
    return "\n\n".join(_parts(subject, cause, confirmed))


def _parts(subject: Subject, cause: Cause, confirmed: Confirmation | None) -> Iterator[str]:
    defect, shown = DEFECTS.get(cause.code), confirmed is not None and not confirmed.why_not
    yield f"# {_title(subject, cause)}"
    what = text(subject.recorded.get(WHAT, subject.name or subject.id))
    obtained = subject.recorded.get(OBTAINED, HERE)
    of = f", {text(obtained)}" if obtained != HERE else ""
    yield f"Seen with {text(subject.version)}{of} ({what})." if subject.version else f"Seen with {what}."
    facts = {
        "input": code(_input(cause)),
        "expected": text(cause.expected),
        "observed": text(cause.observed),
        "how wide": _wide(cause, confirmed),
        "effect": text(defect.effect if defect else _EFFECTS.get(cause.code, _EFFECTS.get(cause.claim, ""))),
        "rule": _rule(cause, confirmed),
    }
    yield "\n".join(f"- {title}: {words}" for title, words in facts.items() if words)
    if defect is not None and _PASSED_ON.fullmatch(cause.observed) and "U+DC" in cause.observed:
        yield "The ill-formed octets are passed on as they came: what reads the text next has to deal with them."
    if shown and confirmed is not None:
        yield f"A program that shows it prints {code(confirmed.printed)}:"
        yield _fenced(confirmed.program, confirmed.language)
    elif cause.reproduce:
        line = f"To see it: {code(cause.reproduce, LINE)}."
        yield line if len(line) <= LINE else f"To see it:\n\n{command_block(cause.reproduce)}"
    if known := defect or KINDS.get(cause.code):  # a newer version knows more codes
        yield text(known.paragraph, 2000)
    yield f"overlong calls this {text(cause.code)}."
    if intent := announced(subject, cause.code):
        yield f"The documentation says: {text(intent)}. If this is meant, please read this as a question."


def _title(subject: Subject, cause: Cause) -> str:
    name = text(printable(subject.id, 80))
    return f"{name}: {text(cause.title)} ({code(_input(cause))})"


def _input(cause: Cause) -> str:
    """The input: octets with their chunks; or the code points or code units for an encoder, if they are whole."""
    width = WIDTHS[UTF16 if cause.operation == ENCODE_UTF16 else SCALAR_VALUES]
    if cause.operation not in tuple(ENCODING) or len(cause.octets) % width:
        return given(cause)
    return " ".join(f"U+{number:04X}" for number in numbers_of(cause.operation, cause.octets))


def _wide(cause: Cause, confirmed: Confirmation | None) -> str:
    """The extent of the divergence: which variants were tried, and how many inputs of the suites show it."""
    suites = f"{counted(cause.count, 'input')} of the test suites"
    wide = confirmed.wide if confirmed is not None else ""
    return f"{wide}; {suites}" if wide else suites


def _rule(cause: Cause, confirmed: Confirmation | None) -> str:
    """The sections that define the correct answer, with their addresses if known."""
    sections = DEFECTS[cause.code].section if cause.code in DEFECTS else cause.section or _IN_GENERAL
    if sections.startswith("RFC 3629"):
        sections += f"; {_TABLE}"
    if confirmed is not None and confirmed.document in _OF_DOCUMENTS:
        sections += f"; {_OF_DOCUMENTS[confirmed.document]}"
    pieces = section_links(sections) if sections else []
    return ", ".join(f"[{text(words)}]({address})" if address else text(words) for words, address in pieces)


def _fenced(program: str, language: str) -> str:
    """A program as a block of code without empty lines. The fences are longer than any in the program."""
    fence = "```"
    while fence in program:
        fence += "`"
    lines = "\n".join(line for line in program.splitlines() if line.strip())
    return f"{fence}{_FENCES.get(language, language.lower())}\n{lines}\n{fence}"
