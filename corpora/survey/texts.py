"""A text for an issue tracker: one fault of a decoder, for maintainers who may not know overlong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from printing.markdown import plain, table

from corpora.survey.faults import END, LEADS, NONCHARACTERS, NUMBERS, SIGNATURE, TAILS, VALIDATION, listed
from corpora.survey.kept import HERE, OBTAINED, WHAT
from corpora.survey.records import known
from corpora.survey.records.standalone import by_hand
from overlong.conformance.protocol.observation import KINDS, Code
from overlong.conformance.protocol.wire import VALIDATE
from overlong.conformance.report.markdown import code, effect_of, input_of, rule_of
from overlong.conformance.report.wording import observed
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.targets.adapters.documents import DOCUMENTS
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpora.survey.confirmation import Confirmation
    from corpora.survey.faults import Fault
    from overlong.conformance.results.model import Cause, Subject

_FENCES = {"C#": "csharp", "C++": "cpp", "Common Lisp": "lisp", "Emacs Lisp": "lisp", "JavaScript": "js"}
_OF_DOCUMENTS = {"json": ("RFC 8259 §8.1",), "cbor": ("RFC 8949 §3.1",)}
"""The sections in which formats with an RFC demand UTF-8."""
_OF_FAULTS = {SIGNATURE: ("RFC 3629 §6", "WHATWG")}
_PASSES = "what reads the text next gets octets that are no UTF-8, and has to deal with them"
_NO_UTF8 = "what is written is no UTF-8, and what reads it may refuse it or read something else"
_EFFECTS = {
    VALIDATION: "ill-formed octets vanish or turn into other text, and nothing says so",
    TAILS: "the octet after the lead is swallowed, whatever it is",
    LEADS: "octets that begin no character vanish or become text",
    END: "the end of a text is lost, or its loss is not noticed",
    NONCHARACTERS: "text with these characters cannot pass",
    SIGNATURE: "the text that comes out lacks the first character of the text that went in",
    Code.REFUSED: "text that is well-formed is turned away",
    Code.SCALARS: "the text that comes out is not the text that went in",
    Code.CHUNKING: "what becomes of a text depends on where it is cut into pieces",
    Code.SURROGATE_ENCODED: _NO_UTF8,
    Code.BEYOND_ENCODED: _NO_UTF8,
    Code.ENCODER_REPLACEMENT: "characters that cannot be written are lost, or look like others",
}
_FIXES = {
    VALIDATION: "check strings by RFC 3629 when they are read, and refuse what is ill-formed",
    TAILS: "take an octet after a lead only if it is from 80 to BF",
    LEADS: "refuse 80 to C1 and F5 to FF where a character must begin",
    END: "refuse text of which the last lead announces more octets than there are",
    NONCHARACTERS: "take noncharacters as any other scalar value: Unicode's Corrigendum 9 lets them be interchanged",
    SIGNATURE: "keep U+FEFF: only who knows that a text begins there can know that it is a signature",
    "memory": "run the program under AddressSanitizer or Valgrind, and fix the access that it reports",
    Code.REFUSED: "accept these octets: they are well-formed",
    Code.CHUNKING: "keep the octets of an unfinished character until the next chunk, or the end, tells what they are",
    Code.INTERNAL_ERROR: "refuse the input, as other ill-formed input is refused",
    Code.UNSTABLE: "read no octet that is not part of the input",
    Code.SURROGATE_ENCODED: "refuse surrogates, or write EF BF BD for each",
    Code.BEYOND_ENCODED: "refuse numbers above 10FFFF",
    Code.SIZE: "count the octets that the encoder writes",
    Code.ENCODER_REPLACEMENT: "write EF BF BD for each lone surrogate",
}
"""What mends a fault, by its name."""
_REFUSE = {
    "OV201": "sequences that are longer than their number needs",
    "OV202": "numbers from D800 to DFFF",
    "OV203": "numbers above 10FFFF",
    "OV207": "sequences of more than four octets",
    "OV208": "sequences of more than four octets",
}
"""What to refuse if only numbers are wrong, by the kind that is accepted."""
_SURROGATES, _END = range(0xD800, 0xE000), 0x110000
_TABLE = "decode these octets by the table of RFC 3629, section 3"
_DEFECTS = {TAILS: "OV205", LEADS: "OV206", END: "OV204"}
"""The defect that a fault lets pass, whatever code its example has."""
_OF_VALIDATION = """UTF-8 has rules for which octets may follow which (RFC 3629, section 4), and octets that break them
are no UTF-8. Here such octets are taken as text all the same."""
_PRIVATE = """**Please report this privately first**, by the way that the project's security policy names: a program
that touches memory that is not its own may be open to attack."""


def issue(subject: Subject, fault: Fault, confirmed: Mapping[str, Confirmation], versions: Sequence[str] = ()) -> str:
    """One fault: a title, what was seen, a program that shows it, the rule, why it matters, and what mends it.

    Args:
        subject: the decoder.
        fault: one of its faults; every code of it is confirmed.
        confirmed: by the codes, programs that show the divergences without overlong, and their output.
        versions: the versions that were tried, if there are more than the subject's.
    """
    return "\n\n".join(_parts(subject, fault, confirmed, versions))


def _parts(
    subject: Subject, fault: Fault, confirmed: Mapping[str, Confirmation], versions: Sequence[str]
) -> Iterator[str]:
    example, name, also = fault.example, plain(printable(subject.id, 80)), known(subject.id)
    shown = confirmed[example.code]
    wrong = f"memory fault: {shown.memory}" if shown.memory else fault.title_with(shown.wide)
    yield f"# {name}: {plain(wrong)} ({code(input_of(example))})"
    if shown.memory:
        yield _PRIVATE
    what = plain(printable(subject.recorded.get(WHAT, subject.name or subject.id), 400))
    obtained = subject.recorded.get(OBTAINED, HERE)
    of = f", {plain(printable(obtained, 400))}" if obtained != HERE else ""
    tried = [each for each in dict.fromkeys(versions) if each not in ("", subject.version)]
    yield "Hello, and thank you for your work. A survey of UTF-8 decoders found this; the program below shows it alone."
    yield f"Seen with {plain(printable(subject.version, 400))}{of} ({what})."
    if tried:
        yield f"Versions tried before, with the same result: {', '.join(map(plain, tried))}."
    facts = {
        "input": code(input_of(example)),
        "in the document": _in_document(example, shown),
        "expected": _expected(example),
        "observed": _observed(example),
        "how wide": _wide(example, shown),
        "by experiment": plain(printable(fault.told, 400)),
        "effect": _effect(fault, shown.memory),
        "rule": rule_of(example, *_OF_DOCUMENTS.get(shown.record.document, ()), *_OF_FAULTS.get(fault.name, ())),
        "suggested fix": also.fix or _fix(fault, shown),
        "see also": f"<{also.upstream}>" if also.upstream else "",
    }
    yield "\n".join(f"- {title}: {words}" for title, words in facts.items() if words)
    if also.note:
        yield plain(also.note)
    if len(fault.causes) > 1:
        yield "The same fault explains these, too:"
        others = (each for each in fault.causes if each is not example)
        rows = (
            (code(input_of(each)), _expected(each), _observed(each), _wide(each, confirmed[each.code]))
            for each in others
        )
        yield "\n".join(table(("input", "expected", "observed", "how wide"), rows))
    yield f"A program that shows it prints {code(shown.printed)}:"
    yield _fenced(shown.program, _FENCES.get(shown.record.language.language, shown.record.language.language.lower()))
    yield f"To build and run it, as {code(shown.record.language.source)}:"
    yield _fenced("\n".join(by_hand(shown.record)), "sh")
    if fault.name == VALIDATION:
        yield _OF_VALIDATION
    elif not shown.memory and fault.name not in (NONCHARACTERS, SIGNATURE):
        told = _DEFECTS.get(fault.name, example.code)
        yield plain((DEFECTS.get(told) or KINDS[told]).paragraph)
    yield f"overlong calls this {', '.join(fault.codes)}."


def _in_document(cause: Cause, shown: Confirmation) -> str:
    """The input as the document around it has it, if it is another there, such as U+0000 in a string of JSON."""
    whole = DOCUMENTS[shown.record.document](cause.octets) if shown.record.document else cause.octets
    return "" if cause.octets in whole else code(whole.hex(" ").upper())


def _expected(cause: Cause) -> str:
    if cause.expected.startswith("reject"):
        return "refused"
    if cause.code in DEFECTS:
        return "U+FFFD in place of it"
    return plain(printable(cause.expected, 200))


def _observed(cause: Cause) -> str:
    return plain(printable(observed(cause), 400))


def _wide(cause: Cause, confirmed: Confirmation) -> str:
    """The extent of a divergence: which variants were tried, and how many inputs of the suites show it."""
    suites = f"{counted(cause.count, 'input')} of the test suites"
    return f"{confirmed.wide}; {suites}" if confirmed.wide else suites


def _effect(fault: Fault, memory: str) -> str:
    """The harm of a fault, no larger than its divergences show."""
    if memory:
        return "memory that is not the program's own is touched; what follows from that is not known"
    if fault.name in _EFFECTS and not fault.passes:
        return _EFFECTS[fault.name]
    return "; ".join(dict.fromkeys(map(_effect_of, fault.causes)))


def _effect_of(cause: Cause) -> str:
    if observed(cause).startswith("passes "):
        return _PASSES
    if cause.code in DEFECTS and cause.operation in VALIDATE:
        return "text that is ill-formed passes the check"
    if cause.code not in _REFUSE:
        return effect_of(cause)
    numbers = [int(number, 16) for number in re.findall(r"U\+([0-9A-F]+)", observed(cause))]
    if cause.code == "OV201":
        return "a filter that compares octets does not see the character that comes out"
    if any(number >= _END for number in numbers):
        return "numbers come out that are no code points, and that tables for Unicode do not have"
    if any(number in _SURROGATES for number in numbers):
        return "surrogates come out, which other software refuses or replaces"
    return _EFFECTS[LEADS]


def _fix(fault: Fault, shown: Confirmation) -> str:
    """What mends a fault, in a sentence."""
    if fault.name == NUMBERS:
        accepted = fault.kinds_with(shown.wide) if shown.wide else _REFUSE
        return f"refuse {listed(dict.fromkeys(words for kind, words in _REFUSE.items() if kind in accepted))}"
    return _FIXES.get("memory" if shown.memory else fault.name, _TABLE)


def _fenced(text: str, language: str) -> str:
    """A text as a block of code without empty lines. The fences are longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    lines = "\n".join(line for line in text.splitlines() if line.strip())
    return f"{fence}{language}\n{lines}\n{fence}"
