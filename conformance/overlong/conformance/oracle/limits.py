"""Declared limits: unavoidable limits that a target states in its greeting, and the strings judged separately for them.

A C string ends at octet 00; a parser strips a signature; XML excludes most controls. Such a limit is shown and tested
as a trait: the affected strings are not asked with the others; those of the core and of ``complete-0`` are asked
afterwards and judged by the limit. So a limit cannot hide a fault, and a decoder without the declared limit is noticed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare, compare_batch, expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.own_mode import is_open
from overlong.conformance.protocol.kind import POSITION, UNDECLARED
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import ASK, ASKING, DECODE, ENCODING, QUESTION, REPLACING
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.batch import Batch
from overlong.reference import Decoded, Rejected
from overlong.reference.layout import load_layout
from overlong.reference.order import SIGNATURE
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Outcome

NUL = b"\0"
_SIGNATURE = load_layout("rfc3629").encode(SIGNATURE) or b""
_NO_CHARACTER = rb"[\x00-\x08\x0B\x0C\x0E-\x1F]|\xEF\xBF[\xBE\xBF]"
"""Code points that XML 1.0 forbids (section 2.2)."""
_LINE_END = re.compile(rb"\r\n?")
"""The line ends that XML reads as LF (section 2.11), unless the adapter writes CR as ``&#13;``."""

JUDGED = ("core", "complete-0")
"""The suites whose set-aside strings test the declared limit."""


@dataclass(frozen=True)
class DeclaredLimit:
    """A member of the greeting, one of its words, and their meaning."""

    member: str
    word: str
    strings: str
    """The affected strings, in words."""
    pattern: re.Pattern[bytes]
    """A pattern that such strings contain."""
    at_start: bool = False
    """True if the pattern must be at the string's start."""
    readings: tuple[Callable[[bytes], bytes], ...] = ()
    """The part of such a string that the decoder sees; several if the adapter may choose one."""
    refused: re.Pattern[bytes] | None = None
    """Octets that the decoder refuses anywhere in such a string."""

    def touches(self, octets: bytes) -> bool:
        """True if the limit affects a string."""
        found = self.pattern.match(octets) if self.at_start else self.pattern.search(octets)
        return found is not None

    @property
    def line(self) -> str:
        """``nul: refused; strings with octet 00 are set aside``."""
        return f"{self.member}: {self.word}; {self.strings} are set aside"


_LIMITS = (
    DeclaredLimit("nul", "ends the string", "strings with octet 00", re.compile(NUL),
          readings=(lambda octets: octets.partition(NUL)[0],)),
    DeclaredLimit("nul", "refused", "strings with octet 00", re.compile(NUL), refused=re.compile(NUL)),
    DeclaredLimit("bom", "strips", "strings that begin with EF BB BF", re.compile(_SIGNATURE), at_start=True,
          readings=(lambda octets: octets.removeprefix(_SIGNATURE),)),
    DeclaredLimit("wrapper", "xml", "strings with what XML 1.0 has no character for, or with CR",
          re.compile(_NO_CHARACTER + rb"|\r"), refused=re.compile(_NO_CHARACTER),
          readings=(bytes, lambda octets: _LINE_END.sub(b"\n", octets))),
)  # fmt: skip


def limits_of(greeting: Greeting) -> tuple[DeclaredLimit, ...]:
    """The limits that a target declares and that affect some strings."""
    return _declared(greeting.traits)


def _declared(said: Mapping[str, str]) -> tuple[DeclaredLimit, ...]:
    return tuple(limit for limit in _LIMITS if said.get(limit.member) == limit.word)


def aside_in_words(said: Mapping[str, str], numbers: Iterable[int]) -> str:
    """``4 785 vectors set aside (wrapper: xml)``: for every headline; empty if nothing is set aside.

    Args:
        said: the limits that a greeting declares, possibly from a file of results.
        numbers: the number of vectors set aside in each suite.
    """
    number = sum(numbers)
    if not number:
        return ""
    declared = ", ".join(f"{limit.member}: {limit.word}" for limit in _declared(said)) or "no trait is declared"
    return f"{thousands(number)} vector{'' if number == 1 else 's'} set aside ({declared})"


def affected(octets: bytes, operation: str, limits: tuple[DeclaredLimit, ...]) -> bool:
    """True if a limit affects the text in an operation's input; numbers for an encoder are no such text."""
    if operation in ENCODING:
        return False
    text = octets[QUESTION.size :] if operation in ASKING else octets
    return any(limit.touches(text) for limit in limits)


def without(batch: Batch, limits: tuple[DeclaredLimit, ...]) -> tuple[Batch, list[Vector]]:
    """The batch without the strings that a limit affects, possibly empty; and these strings."""
    if not any(limit.pattern.search(batch.octets) for limit in limits):  # no further cost for most batches
        return batch, []
    operation = ASK if batch.category in QUESTIONS else DECODE
    aside = [place for place, vector in enumerate(batch) if affected(vector.octets, operation, limits)]
    if not aside:
        return batch, []
    gone = set(aside)
    kept = [vector for place, vector in enumerate(batch) if place not in gone]
    touched = [batch[place] for place in aside]
    if not kept:
        return batch.part(0, 0), touched
    return replace(Batch.of(kept), suite=batch.suite), touched


def expected_under(vector: Vector, operation: str, limits: tuple[DeclaredLimit, ...]) -> tuple[Outcome, ...]:
    """The right answers of a decoder with these limits, the likeliest first; empty if the limits leave them open."""
    touching = [limit for limit in limits if limit.touches(vector.octets)]
    if not touching:
        return (expected_of(vector, operation),)
    refused = [found for limit in touching if limit.refused and (found := limit.refused.search(vector.octets))]
    if len(refused) == len(touching):
        if operation in REPLACING:
            return ()
        start, end = min(found.span() for found in refused)
        sooner = vector.flaw is not None and vector.flaw.offset < start
        return (vector.strict if sooner else Rejected(start, end - start, incomplete=False),)
    if len(touching) > 1:  # the combined effect of two limits is not declared
        return ()
    readings = dict.fromkeys(read(vector.octets) for read in touching[0].readings)
    read_as = [replace(vector, octets=octets) for octets in readings]
    if any(is_open(each, operation) for each in read_as):
        return ()
    return tuple(expected_of(each, operation) for each in read_as)


def judged(vector: Vector, operation: str, observed: Observation, limits: tuple[DeclaredLimit, ...]) -> Finding | None:
    """The fault in an answer to a string that a limit affects; None if there is none or the limits leave it open.

    Verdict and text are judged. The error offset is not, because the target does not declare whether stripped
    octets count; and no answer to a question is, as what it counts of such a text is undeclared.
    """
    if not isinstance(observed, Accepted | Refused):
        return compare(vector, operation, observed)
    if operation in ASKING:
        return None
    expected = expected_under(vector, operation, limits)
    if not expected or any(_same(each, observed) for each in expected):
        return None
    line = next(limit.line for limit in limits if limit.touches(vector.octets))
    undeclared = compare(vector, operation, observed)
    if undeclared is None or undeclared.claim == POSITION:  # the declaration is wrong, not the decoder
        return Finding(vector, operation, UNDECLARED, expected[0], observed, line)
    line += "; the answer is wrong without the declaration, too"
    return Finding(vector, operation, UNDECLARED, expected[0], observed, line, refutes=undeclared.claim)


def judged_alone(answered: Answered, greeting: Greeting) -> tuple[Observation, Finding | None]:
    """The answer to a string that was asked alone, and its fault: by the declared limits if one affects the string."""
    operation, (vector,), limits = answered.operation, answered.batch.vectors, limits_of(greeting)
    (observed,) = answered.observed(greeting)
    if affected(vector.octets, operation, limits):
        return observed, judged(vector, operation, observed, limits)
    return observed, next(compare_batch(answered, greeting), None)


def _same(expected: Outcome, observed: Observation) -> bool:
    match expected, observed:
        case Rejected(), Refused():
            return True
        case Decoded(scalars), Accepted(values):
            return values is None or values == scalars
        case _:
            return False


def to_be_judged(aside: list[Vector], operations: str) -> Iterator[tuple[Batch, str]]:
    """The questions for the strings that were set aside."""
    for operation in operations:
        for vector in aside:
            yield Batch.of([vector]), operation
