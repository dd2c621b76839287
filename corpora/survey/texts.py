"""A text for an issue tracker: one divergence, for maintainers of the decoder who may not know overlong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from corpora.survey.kept import HERE, OBTAINED, WHAT
from overlong.conformance.protocol.kind import KINDS
from overlong.conformance.report.issue import effect_of, input_of, rule_of, title
from overlong.conformance.report.markdown import code, text
from overlong.conformance.support.printable import counted
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.survey.confirmation import Confirmation
    from overlong.conformance.results.model import Cause, Subject

_FENCES = {"C#": "csharp", "C++": "cpp", "Common Lisp": "lisp", "Emacs Lisp": "lisp", "JavaScript": "js"}
_OF_DOCUMENTS = {"json": ("RFC 8259 §8.1",), "cbor": ("RFC 8949 §3.1",)}
"""The sections in which formats with an RFC demand UTF-8."""
_PASSED_ON = re.compile(r"accepted(?: U\+00[0-7][0-9A-F]| U\+DC[89A-F][0-9A-F])+")


def issue(subject: Subject, cause: Cause, confirmed: Confirmation) -> str:
    """One divergence: a title, the observation, a program that shows it, the rule, and why it matters.

    Args:
        subject: the decoder.
        cause: one of its causes.
        confirmed: a program that shows the divergence without overlong, and its output.
    """
    return "\n\n".join(_parts(subject, cause, confirmed))


def _parts(subject: Subject, cause: Cause, confirmed: Confirmation) -> Iterator[str]:
    yield f"# {title(subject, cause.title, cause)}"
    what = text(subject.recorded.get(WHAT, subject.name or subject.id))
    obtained = subject.recorded.get(OBTAINED, HERE)
    of = f", {text(obtained)}" if obtained != HERE else ""
    yield f"Seen with {text(subject.version)}{of} ({what})." if subject.version else f"Seen with {what}."
    suites = f"{counted(cause.count, 'input')} of the test suites"
    facts = {
        "input": code(input_of(cause)),
        "expected": text(cause.expected),
        "observed": text(cause.observed),
        "how wide": f"{confirmed.wide}; {suites}" if confirmed.wide else suites,
        "effect": text(effect_of(cause)),
        "rule": rule_of(cause, *_OF_DOCUMENTS.get(confirmed.document, ())),
    }
    yield "\n".join(f"- {title}: {words}" for title, words in facts.items() if words)
    if cause.code in DEFECTS and _PASSED_ON.fullmatch(cause.observed) and "U+DC" in cause.observed:
        yield "The ill-formed octets are passed on as they came: what reads the text next has to deal with them."
    yield f"A program that shows it prints {code(confirmed.printed)}:"
    yield _fenced(confirmed.program, confirmed.language)
    yield text((DEFECTS.get(cause.code) or KINDS[cause.code]).paragraph, 2000)
    yield f"overlong calls this {text(cause.code)}."


def _fenced(program: str, language: str) -> str:
    """A program as a block of code without empty lines. The fences are longer than any in the program."""
    fence = "```"
    while fence in program:
        fence += "`"
    lines = "\n".join(line for line in program.splitlines() if line.strip())
    return f"{fence}{_FENCES.get(language, language.lower())}\n{lines}\n{fence}"
