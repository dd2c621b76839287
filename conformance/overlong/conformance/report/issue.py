"""A text for an issue tracker: one divergence, for maintainers of the decoder who may not know overlong."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from overlong.conformance.report.markdown import code, command_block, text, wrapped
from overlong.conformance.report.wording import faults, given, observed, section_links
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.vectors.expected import SCALARS as SCALAR_VALUES
from overlong.conformance.vectors.expected import UTF16, WIDTHS
from overlong.conformance.vectors.expected import given as numbers_of
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.results.model import Cause, Report, Subject

_RULE = "\n\n---\n\n"
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
    found = [text for subject in report.subjects for text in _of(subject)]
    return _RULE.join(found) + "\n" if found else "Nothing diverges, so there is nothing to report.\n"


def _of(subject: Subject) -> Iterator[str]:
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
