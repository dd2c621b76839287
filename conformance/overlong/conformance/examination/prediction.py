"""What a condition predicts of an answer to another question or operation: whether that answer is its consequence.

A decoder that refuses a character refuses it in streams, too, reports an offset before the first error of text that
has it, and puts out U+FFFD for it. One that accepts octets reports a later error, if any. Such a decoder is modelled:
the right one, but for the places at which the condition holds. What it gives there is open, and all else is not.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.condition import OFFSETS, Condition
from overlong.conformance.examination.factors import ADDRESS
from overlong.conformance.examination.of_numbers import OfNumbers
from overlong.conformance.examination.of_questions import OfQuestions
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import BREAKDOWNS, EARLIEST, KINDS, MEMORY, Accepted, Code, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    DECODE,
    ENCODING,
    GUARDED,
    OTHER_INPUT,
    REPLACING,
    SEPARATE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.vectors.vector import known_at
from overlong.reference import Decoded, Rejected, WellFormed, segments
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.examination.condition import AnyCondition
    from overlong.conformance.oracle.finding import Finding

_PLACES = (*OFFSETS, Code.STREAM_OFFSET)
_REPLACED = (Code.REPLACEMENT_COUNT, Code.REPLACEMENT_TEXT)
_LONGEST = 1 << 12
"""Longer inputs are judged by the condition alone."""
_REPLACEMENT = chr(REPLACEMENT_CHARACTER)


def predicts(condition: AnyCondition, code: str, finding: Finding) -> bool:
    """True if a finding is what a decoder gives that has the fault which ``condition`` describes.

    Args:
        condition: of an examined divergence.
        code: of that divergence.
        finding: of the same target.
    """
    operation, vector = finding.operation, finding.vector
    if isinstance(condition, OfQuestions):
        return operation == ASK and condition.takes(finding)
    if isinstance(condition, OfNumbers):
        return operation in ENCODING and condition.holds(vector.octets, operation)
    assert isinstance(condition, Condition)
    if operation in OTHER_INPUT + SEPARATE:
        return False
    earlier = () if operation in AGAIN else vector.earlier or ()  # a decoder used before has the faults of a new one
    question = Question(vector.octets, earlier, vector.chunks)
    memory = code in KINDS and KINDS[code].claim == MEMORY
    if finding.code in BREAKDOWNS and not memory:
        return finding.code == code and condition.holds(question)
    if condition.streams:
        return operation in STREAMING + AGAIN and condition.holds(question)
    if condition.reads and vector.chunks is None and isinstance(finding.observed, Accepted | Refused):
        return compare(replace(vector, octets=vector.octets[: condition.reads]), operation, finding.observed) is None
    if memory or condition.carries or condition.reads:
        return condition.holds(question)
    if operation == GUARDED:
        return finding.code == Code.PLACE_IN_MEMORY and _at_some_address(condition, question)
    if condition.symptom in OFFSETS:
        return finding.code in _PLACES and condition.holds(question)
    if condition.symptom in _REPLACED:
        return operation in REPLACING and finding.code in _REPLACED and condition.holds(question)
    if not isinstance(finding.observed, Accepted | Refused):
        return finding.code == code and condition.holds(question)
    whole = isinstance(finding.observed, Accepted) and operation in DECODE + VALIDATE
    if whole and condition.symptom == ACCEPTS and condition.of_any_error and condition.shows_there(question):
        return True  # what reads the first octets alone does not see the rest of an error among them
    return _as_modelled(condition, finding, question)


def _at_some_address(condition: Condition, question: Question) -> bool:
    """True if the condition, which speaks of the address, holds at one of them."""
    depends = any(atom.factor.startswith("address") for atom in condition.rule)
    return depends and any(condition.holds(replace(question, address=address)) for address in range(ADDRESS))


class _Step(NamedTuple):
    """A part of the input, as the modelled decoder reads it."""

    start: int
    end: int
    what: str
    """:data:`_TEXT`, :data:`_FLAW` or :data:`_SITE`."""
    certain: bool = True
    """False for a flaw that a decoder of these words may take to be longer, or shorter."""


_TEXT, _FLAW, _SITE = "text", "flaw", "site"


def _as_modelled(condition: Condition, finding: Finding, question: Question) -> bool:
    """True if the answer is that of a decoder which differs from a right one at the condition's places alone."""
    if len(question.octets) > _LONGEST:
        return condition.holds(question)
    steps = list(_steps(condition, question))
    sites = [each for each in steps if each.what == _SITE]
    unsure = next((each for each in steps if not each.certain), None)
    if not sites and unsure is None:
        return False
    if finding.claim == EARLIEST or finding.code == Code.STREAM_OFFSET:
        return True
    if finding.operation in REPLACING:
        return isinstance(finding.observed, Refused) or _puts_out(condition, finding, steps)
    if condition.symptom == Code.SCALARS:
        return bool(sites) and (finding.code == condition.symptom or _leaves_out(finding, sites))
    return _refuses(condition, finding, steps)


def _refuses(condition: Condition, finding: Finding, steps: list[_Step]) -> bool:
    """True if the model refuses what the decoder refused, and about where; and accepts what that accepted."""
    stops = (_FLAW,) if condition.symptom == ACCEPTS else (_FLAW, _SITE)
    stop = next((each for each in steps if each.what in stops), None)
    observed = finding.observed
    if stop is None or isinstance(observed, Accepted):
        return stop is None and isinstance(observed, Accepted)
    assert isinstance(observed, Refused)
    if isinstance(finding.expected, Decoded):
        return stop.what == _SITE
    if finding.vector.chunks is not None or observed.offset is None or finding.vector.profile.counts != "octets":
        return True
    if finding.code in (Code.LENGTH, Code.INCOMPLETE):  # of a refusal at a site, both are open
        return not stop.certain or (stop.what == _SITE and observed.offset < stop.end)
    return stop.start <= observed.offset <= stop.end


def _leaves_out(finding: Finding, sites: list[_Step]) -> bool:
    """True if the reported offset of an error counts no octets of some places before it, or not all of them."""
    expected, observed = finding.expected, finding.observed
    if finding.code != Code.OFFSET or not isinstance(expected, Rejected) or not isinstance(observed, Refused):
        return False
    octets = sum(each.end - each.start for each in sites if each.start < expected.offset)
    return observed.offset is not None and 0 < expected.offset - observed.offset <= octets


def _puts_out(condition: Condition, finding: Finding, steps: list[_Step]) -> bool:
    """True if the output is that of the model, which puts out anything at the condition's places.

    It does not put out U+FFFD for octets that it accepts. The output is read as an automaton reads it, whose states are
    the bits of a number: those up to which it may have been written. A regular expression may take forever here.
    """
    vector = finding.vector
    assert isinstance(finding.observed, Accepted)
    text = _as_text(finding.observed.values or ())
    replaced = _bits(place for place, each in enumerate(text) if each == _REPLACEMENT)
    every = (1 << len(text)) - 1
    starts = dict[str, int]()
    outputs, offsets, written = list(vector.outputs), [each.offset for each in vector.taken], 1
    for step in steps:
        if step.what == _SITE:
            written = _spread(written, every & ~replaced if condition.symptom == ACCEPTS else every)
            continue
        own = outputs[bisect_left(offsets, step.start) : bisect_left(offsets, step.end)]
        right = "".join(map(_as_text, own))
        if right not in starts:
            starts[right] = _bits(place for place in range(len(text) + 1) if text.startswith(right, place))
        as_is = (written & starts[right]) << len(right)
        written = as_is if step.certain else as_is | _spread((written & replaced) << 1, replaced)
    return bool(written >> len(text) & 1)


def _bits(places: Iterable[int]) -> int:
    """A number with these bits."""
    return sum(1 << place for place in places)


def _spread(places: int, through: int) -> int:
    """The places that are reached from others by any number of steps from a place of ``through`` to the next one.

    A carry runs through as many ones as there are in a row.
    """
    return places | (((places & through) + through) ^ through)


def _as_text(values: tuple[int, ...]) -> str:
    return "".join(chr(min(value, 0x10FFFF)) for value in values)


def _steps(condition: Condition, question: Question) -> Iterator[_Step]:
    """The input in parts, as a decoder reads it that has the fault."""
    octets, place = question.octets, 0
    accepts = condition.symptom == ACCEPTS
    found = condition.places(question)
    if (whole := found.get(0)) is not None and whole.end == 0:  # whatever the octets
        yield _Step(0, len(octets), _SITE)
        return
    for each in segments(octets, spoken=condition.text.spoken):
        if each.offset < place:
            continue
        place = each.offset + each.length
        if (site := found.get(each.offset)) is not None:
            place = max(place, site.end)
            yield _Step(each.offset, place, _SITE)
        elif isinstance(each, WellFormed):
            yield _Step(each.offset, place, _TEXT)
        else:
            begun = condition.begun(octets, each.offset)
            if accepts:
                # a decoder that accepts F5 80 80 80 waits for more after F5
                hopeless = known_at(octets, each, condition.text.spoken) == place
                place = max(place, each.offset + begun)
                certain = begun <= each.length - hopeless
            else:  # a character cut off may be refused as the whole one is
                refused = condition.symptom == Code.REFUSED and begun == each.length
                certain = not (refused and condition.holds_at(question, each))
            yield _Step(each.offset, place, _FLAW, certain=certain)
