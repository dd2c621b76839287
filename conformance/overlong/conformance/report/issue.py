"""A text for an issue tracker: one divergence, for maintainers of the decoder that need not know overlong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.survey.kept import INTENT, WHAT
from overlong.conformance.report.markdown import code, text
from overlong.conformance.report.wording import faults, given
from overlong.conformance.support.printable import counted, printable
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.certification.survey.confirmation import Confirmation
    from overlong.conformance.results.model import Cause, Report, Subject

_RULE = "\n\n---\n\n"
_FENCES = {"C#": "csharp", "C++": "cpp", "Common Lisp": "lisp", "JavaScript": "js"}


def issues(report: Report) -> str:
    """An issue for each unexpected divergence of each target, with rules between them."""
    found = [text for subject in report.subjects for text in _of(subject)]
    return _RULE.join(found) + "\n" if found else "Nothing diverges, so there is nothing to report.\n"


def _of(subject: Subject) -> Iterator[str]:
    """The issues of a decoder; where a fault of the adapter explains all, that alone."""
    if subject.sign and not subject.told:
        yield f"# {text(subject.id)}: look at the adapter first\n\n{text(subject.sign, 1000)}"
    else:
        yield from (issue(subject, cause) for cause in faults(subject))


def issue(subject: Subject, cause: Cause, confirmed: Confirmation | None = None) -> str:
    """One divergence: a title, a paragraph, how to see it, what is expected and why it matters.

    Args:
        subject: the decoder.
        cause: of its causes.
        confirmed: a program that shows it without overlong, and what it printed.
    """
    return "\n\n".join(_parts(subject, cause, confirmed))


def _parts(subject: Subject, cause: Cause, confirmed: Confirmation | None) -> Iterator[str]:
    defect = DEFECTS.get(cause.code)
    octets = given(cause)
    yield f"# {_title(subject, cause)}"
    version = f" {text(subject.version)}" if subject.version else ""
    what = text(subject.recorded.get(WHAT, subject.name or subject.id))
    yield f"Seen with{version} ({what})."
    yield f"- input: {code(octets)}\n- expected: {text(cause.expected)}\n- observed: {text(cause.observed)}"
    others = cause.count - 1
    if others > 0:
        yield f"{counted(others, 'further input')} of the test suite {'shows' if others == 1 else 'show'} the same."
    if cause.comment:
        yield f"Why this input: {text(cause.comment)}."
    if confirmed is not None and not confirmed.why_not:
        yield "A program that shows it:"
        yield _fenced(confirmed.program, confirmed.language)
        yield f"It prints {code(confirmed.printed)}."
    elif cause.reproduce:
        yield f"To see it: {code(cause.reproduce, 2000)}."
    if defect is not None:
        yield f"{defect.paragraph} ({text(defect.section)})"
        yield f"What it enables: {text(defect.effect)}."
    elif cause.section:
        yield f"The rule: {text(cause.section)}."
    yield f"overlong calls this {cause.code}."
    if intent := subject.recorded.get(INTENT):
        yield f"The documentation says: {text(intent)}. If this is meant, please read this as a question."


def _title(subject: Subject, cause: Cause) -> str:
    name = text(printable(subject.id, 80))
    return f"{name}: {text(cause.title)} ({code(given(cause))})"


def _fenced(program: str, language: str) -> str:
    """A program as a block of code; longer fences than any in it."""
    fence = "```"
    while fence in program:
        fence += "`"
    return f"{fence}{_FENCES.get(language, language.lower())}\n{program.rstrip()}\n{fence}"
