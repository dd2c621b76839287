"""Compares an answer with that of the reference, and gives the divergence its code.

What is judged elsewhere is called from here (``stream_fault``, ``encoder_fault``, ``own_mode``), or calls this module
for each answer that it cannot settle by itself (``divergences`` in columns, ``limits``, ``again``).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, compress, count
from operator import ne
from typing import TYPE_CHECKING

from overlong.conformance.oracle.encoder_fault import encoder_fault
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.function_fault import function_fault, is_tolerated, shape_fault
from overlong.conformance.oracle.own_mode import is_open, own_mode_fault
from overlong.conformance.oracle.stream_fault import ended_how, judge, lost_states, marks_in, suspects
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import (
    Accepted,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
    memory_fault,
)
from overlong.conformance.protocol.units import read_numbers
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    ASKING,
    ENCODING,
    IN_MEMORY,
    OPERATIONS,
    OTHER_INPUT,
    REPLACING,
    SEPARATE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.vectors.expected import Asked, encoded
from overlong.conformance.vectors.vector import Vector, form_at
from overlong.reference import Decoded, MaximalSubpart, Rejected, WellFormed, is_well_formed
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.reference import Outcome, Segment

FAULTS = {Failed: Code.INTERNAL_ERROR, Crashed: Code.CRASHED, TimedOut: Code.TIMED_OUT, Misbehaved: Code.MISBEHAVED}
"""The codes of answers that are none."""
_SILENT = Refused()


def compare_batch(answered: Answered, greeting: Greeting) -> Iterator[Finding]:
    """Every divergence in a batch's answers.

    Columns that equal the reference's octet for octet, or report nothing, have none; nor have such answers in columns
    that differ. Only others are examined.
    """
    batch, operation, answers = answered.batch, answered.operation, answered.answers
    units = greeting.units_of(operation)
    if operation in STREAMING + AGAIN:
        yield from _compare_streams(answered, greeting)
        return
    expected = batch.expected(operation, units)
    if not answered.faults and answers.agrees(expected):
        return
    wanted = expected.observations(units, verdict_only=operation in VALIDATE + SEPARATE)
    for place, (observation, right) in enumerate(zip(answered.observed(greeting), wanted, strict=True)):
        if observation == right or (observation == _SILENT and isinstance(right, Refused)):
            continue
        if operation == ASK and is_tolerated(batch.vectors[place], observation):
            continue
        finding = compare(batch.vectors[place], operation, observation)
        if finding is not None:
            yield finding


def _compare_streams(answered: Answered, greeting: Greeting) -> Iterator[Finding]:
    """Divergences in streams: in the result, or else in its time, or in a refusal's offset."""
    batch, operation, answers = answered.batch, answered.operation, answered.answers
    places = suspects(answered, greeting)
    if not places:
        return
    observations = answered.observed(greeting)
    counts = batch.chunk_counts(operation) or ()
    marks = list(marks_in(answers.statuses, answers.marks, counts, marked=greeting.marks_refusals))
    for place in places:
        vector, observed = batch[place], observations[place]
        finding = compare(vector, operation, observed)
        if finding is not None:
            yield finding
        elif not is_open(vector, operation):
            yield from judge(
                vector, operation, expected_of(vector, operation), observed, read_numbers(marks[place]), greeting
            )


def expected_of(vector: Vector, operation: str) -> Outcome:
    """The reference's answer to an operation; where RFC 3629 leaves it open, Unicode's recommendation."""
    if operation in ENCODING:
        return encoded(operation, vector.octets, vector.profile.dialect, vector.profile.encodes)
    if operation == ASK:
        return Decoded(Asked.of(vector.octets).right(vector.profile.divides).numbers)
    if operation in IN_MEMORY:
        return Decoded(())
    if operation == SEPARATE:
        return Decoded(()) if vector.flawed_value is None else _in_a_list(vector, vector.flawed_value)
    return vector.replaced if operation in REPLACING else vector.strict


def compare(vector: Vector, operation: str, observed: Observation) -> Finding | None:
    """The divergence in an answer, or None. Details that a target does not report are not judged.

    In an unknown error mode, a code of a defect is a suspicion: see :mod:`overlong.conformance.oracle.own_mode`.
    """
    expected = expected_of(vector, operation)

    def finding(code: str, place: str = "") -> Finding:
        return Finding(vector, operation, code, expected, observed, place)

    if operation in ENCODING and isinstance(observed, Accepted | Refused):
        fault = encoder_fault(vector, operation, expected, observed)
        return None if fault is None else finding(*fault)
    if operation == ASK and isinstance(observed, Accepted | Refused):
        misshapen = shape_fault(vector, observed)
        if misshapen is not None:
            return Finding(vector, operation, Code.MISBEHAVED, expected, misshapen, vector.category)
        fault = function_fault(vector, observed)
        return None if fault is None else finding(*fault)
    if operation in IN_MEMORY and isinstance(observed, Refused):
        code = memory_fault(observed)
        return finding(code) if isinstance(code, str) else Finding(vector, operation, Code.MISBEHAVED, expected, code)
    if operation == SEPARATE and isinstance(observed, Accepted | Refused):
        return _compare_list(vector, finding, accepted=isinstance(observed, Accepted))
    flaw = vector.flaw
    match expected, observed:
        case _, Unsupported():
            return None
        case _, Failed() | Crashed() | TimedOut() | Misbehaved():
            return finding(
                FAULTS[type(observed)], vector.category if operation in ASKING else place_of_fault(operation)
            )
        case _ if is_open(vector, operation):
            fault = own_mode_fault(vector, observed)
            return None if fault is None else finding(*fault)
        case Decoded(scalars), Accepted(values):
            if values is None or values == scalars:
                return None
            if flaw is None:
                return _chunked(
                    vector, operation, finding(Code.SCALARS, _form(vector, first_difference(scalars, values)))
                )
            return _chunked(vector, operation, finding(*_replacement_fault(vector, scalars, values)))
        case Decoded(), Refused(offset=offset):
            if flaw is not None:
                return _chunked(vector, operation, finding(Code.REPLACEMENT_TEXT, flaw.defect.title))
            return _chunked(vector, operation, finding(Code.REFUSED, _form_at_offset(vector, offset)))
        case Rejected(), Accepted():
            assert flaw is not None
            return _chunked(vector, operation, finding(flaw.defect.code))
        case Rejected(offset, length, incomplete), Refused() if operation not in STREAMING + AGAIN:
            assert flaw is not None
            if observed.offset is None:
                return None
            if observed.offset != offset:
                return finding(Code.OFFSET, flaw.defect.title)
            if observed.length is not None and observed.length != length:
                return finding(Code.LENGTH, flaw.defect.title)
            if observed.incomplete is not None and observed.incomplete != incomplete:
                return finding(Code.INCOMPLETE)
            return None
        case _:
            return None


def _in_a_list(vector: Vector, index: int) -> Rejected:
    """The refusal of a list: the index of the refused value, and that value's defect."""
    flaw = Vector(vector.category, vector.values[index], profile=vector.profile).flaw
    assert flaw is not None
    return Rejected(index, flaw.length, flaw.incomplete)


def _compare_list(vector: Vector, finding: Callable[[str], Finding], *, accepted: bool) -> Finding | None:
    """For a list, only the verdict is judged, no other detail of a refusal.

    If the joined values are ill-formed too, their acceptance is no fault specific to lists.
    """
    if accepted == (vector.flawed_value is None):
        return None
    if not accepted:
        return finding(Code.LIST_REFUSED)
    if is_well_formed(vector.octets, vector.profile.dialect):
        return finding(Code.JOINED_VALUES)
    assert vector.flaw is not None
    return finding(vector.flaw.defect.code)


def place_of_fault(operation: str) -> str:
    """The place, separate for encoders and questions: their faults refute other claims, so they share no bucket."""
    return OPERATIONS[operation] if operation in OTHER_INPUT else ""


def _chunked(vector: Vector, operation: str, whole: Finding) -> Finding:
    """A finding of a stream: it refutes that chunks do not matter, and its place keeps the original code."""
    if operation in AGAIN:
        return used_before(whole)
    if operation not in STREAMING:
        return whole
    lost = lost_in(whole)
    flaw = vector.flaw
    return replace(whole, code=Code.CHUNKING, place=lost[0] if lost else flaw.defect.title if flaw else whole.place)


def used_before(finding: Finding) -> Finding:
    """The finding, marked as an effect of an earlier stream."""
    how = ended_how(finding.vector.earlier or (), finding.vector)
    return replace(finding, code=Code.EARLIER_STREAM, place=f"after a stream that {how}")


def lost_in(finding: Finding) -> tuple[str, ...]:
    """The states that a decoder may have lost in a wrong stream, the likeliest first."""
    vector, wrong = finding.vector, None
    if isinstance(finding.expected, Decoded) and isinstance(finding.observed, Accepted):
        scalars = finding.expected.scalars
        first = last = first_difference(scalars, finding.observed.values or ())
        while 0 < first <= len(scalars) and scalars[first - 1] == REPLACEMENT_CHARACTER:
            first -= 1  # the missing one of several U+FFFD in a row is unknown
        wrong = range(_segment_at(vector, first), _segment_at(vector, last) + 1)
    return lost_states(vector, wrong)


def first_difference(expected: Sequence[int], observed: Sequence[int]) -> int:
    """The first index at which outputs differ."""
    return next(compress(count(), map(ne, expected, observed)), min(len(expected), len(observed)))


def _replacement_fault(vector: Vector, scalars: tuple[int, ...], values: tuple[int, ...]) -> tuple[str, str]:
    """The kind, and the defect at which the outputs first differ."""
    index = _segment_at(vector, first_difference(scalars, values))
    flaws = [each for each in vector.taken[: index + 1] if isinstance(each, MaximalSubpart)]
    blamed = flaws[-1] if flaws else vector.flaw
    assert blamed is not None
    same_but_for_count = _squeezed(scalars) == _squeezed(values)
    return (Code.REPLACEMENT_COUNT if same_but_for_count else Code.REPLACEMENT_TEXT), blamed.defect.title


def _segment_at(vector: Vector, index: int) -> int:
    """The place in the input that produced the output at an index; beyond the output's end, the last place."""
    ends = accumulate(map(len, vector.outputs))
    return next((place for place, end in enumerate(ends) if index < end), len(vector.taken) - 1)


def _squeezed(values: tuple[int, ...]) -> list[int]:
    """The values with each run of U+FFFD reduced to one."""
    return [
        value
        for index, value in enumerate(values)
        if value != REPLACEMENT_CHARACTER or index == 0 or values[index - 1] != REPLACEMENT_CHARACTER
    ]


def _form(vector: Vector, index: int) -> str:
    """The grammar's alternative of the character at an index of the output."""
    if not vector.segments:
        return vector.profile.dialect.grammar.start.name
    return _form_of(vector, vector.segments[_segment_at(vector, index)])


def _form_of(vector: Vector, found: Segment) -> str:
    return str(form_at(vector.octets, found.offset, vector.profile.dialect))


def _form_at_offset(vector: Vector, offset: int | None) -> str:
    """The alternative of the refused character: the one at the reported offset, or the first non-ASCII one."""
    for found in vector.segments:
        assert isinstance(found, WellFormed)
        if found.offset <= offset < found.offset + found.length if offset is not None else found.length > 1:
            return _form_of(vector, found)
    return _form(vector, 0)
