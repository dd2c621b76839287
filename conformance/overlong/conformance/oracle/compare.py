"""Compares an answer with that of the reference, and gives the divergence its code.

Other modules call this one for each answer that they cannot settle by themselves (``divergences`` in columns,
``apart``); encoders and questions are judged in ``faults``.

A decoder with an unknown error mode is judged as far as possible without knowing the mode. Well-formed text needs no
error mode: it is judged as usual. For ill-formed octets any output may be intended, except:

- Another dialect accepts the octets, and the output is their meaning there: C0 AF became U+002F. So they were
  accepted, not replaced. A replacement may happen to be that very character (C0 BF, and a question mark), so a
  control decides: similar octets with another value in that dialect (C0 BE). If their output is the same, it is a
  replacement.
- The output does not begin with the ASCII characters at the input's start. Octets before the first error are no
  error. Only ASCII counts, because a mode may take the whole text for another encoding; and empty output is allowed.

The mode determines how much is lost after an error, and when output comes.

A stream is judged beyond its result: when output and refusals come, a refusal's offset, and what state was lost. A
decoder that withholds certain output still yields the right text, but a program that answers its peer waits for text
that has long arrived. So timing is a separate claim, :data:`~.observation.EARLIEST`. A state that was lost shows, as
far as octets show it, where a chunk cuts a character.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, compress, count, pairwise, takewhile
from operator import ne
from typing import TYPE_CHECKING

from overlong.conformance.oracle.faults import encoder_fault, function_fault, is_tolerated, shape_fault
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.observation import (
    Accepted,
    Code,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
    memory_fault,
)
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    ASKING,
    ENCODING,
    IN_MEMORY,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    OPERATIONS,
    OTHER_INPUT,
    REFUSED,
    REPLACING,
    SEPARATE,
    STREAMING,
    VALIDATE,
    marks_of,
    read_numbers,
)
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import Asked, certainty, encoded
from overlong.conformance.vectors.vector import Vector, form_at
from overlong.reference import (
    DEFECTS,
    DIALECTS,
    Decoded,
    Dialect,
    MaximalSubpart,
    Rejected,
    WellFormed,
    dialect,
    is_well_formed,
    segments,
)
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.oracle.target import Answered, Target
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

    In an unknown error mode, a code of a defect is a suspicion: see :mod:`overlong.conformance.oracle.compare`.
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


ASCII = 0x80
_SWALLOWED = Code.REPLACEMENT_TEXT


def is_open(vector: Vector, operation: str) -> bool:
    """True if more than one answer is right, and only some wrong ones are known."""
    return operation in REPLACING and bool(vector.profile.own_mode) and vector.flaw is not None


def own_mode_fault(vector: Vector, observed: Observation) -> tuple[str, str] | None:
    """The code and place of a fault in an answer to ill-formed octets; None if no fault is known.

    A code of a defect is a suspicion, which a control must confirm: see :func:`control_of`.
    """
    flaw = vector.flaw
    assert flaw is not None
    if not isinstance(observed, Accepted) or not observed.values:
        return None
    if _reading(vector, observed.values) is not None:
        return flaw.defect.code, ""
    before = takewhile(lambda found: isinstance(found, WellFormed) and found.length == 1, vector.segments)
    ascii_before = tuple(found.scalar for found in before if isinstance(found, WellFormed) and found.scalar < ASCII)
    if observed.values[: len(ascii_before)] != ascii_before:
        return _SWALLOWED, flaw.defect.title
    return None


def control_of(finding: Finding) -> Vector | None:
    """The control that must confirm a finding, which is a suspicion until then; None if it needs none."""
    vector = finding.vector
    if finding.code not in DEFECTS or not is_open(vector, finding.operation):
        return None
    assert isinstance(finding.observed, Accepted)
    reading = _reading(vector, finding.observed.values or ())
    assert reading is not None
    return _control(vector, reading)


def confirms(finding: Finding, observed: Observation) -> bool:
    """True if the answer to its control confirms a finding: a verdict that differs in itself or in its output."""
    return isinstance(observed, Accepted | Refused) and observed != finding.observed


def confirmed(suspected: Sequence[tuple[Finding, Vector]], target: Target) -> Iterator[Finding]:
    """The findings that remain after their controls: if the target answers a control alike, it replaces.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    waiting = iter(suspected)  # separate, because requests run ahead of answers
    for answered in target.observe((Batch.of([control]), finding.operation) for finding, control in suspected):
        (said,) = answered.observed(target.greeting)
        finding, _ = next(waiting)
        if confirms(finding, said):
            yield finding


def _reading(vector: Vector, values: tuple[int, ...]) -> Dialect | None:
    """A dialect that accepts the octets with these values, and for which there is a control."""
    for name in DIALECTS:
        spoken = dialect(name)
        if not spoken.automaton.accepts(vector.octets):
            continue
        found = segments(vector.octets, spoken=spoken)
        read = tuple(scalar for each in found if isinstance(each, WellFormed) for scalar in each.scalars)
        if read == values and _control(vector, spoken).flaw is not None:
            return spoken
    return None


def _control(vector: Vector, spoken: Dialect) -> Vector:
    """The vector with a changed last octet in each character that only another dialect accepts."""
    octets = bytearray(vector.octets)
    for found in segments(vector.octets, spoken=spoken):
        end = found.offset + found.length
        if not vector.profile.dialect.automaton.accepts(vector.octets[found.offset : end]):
            octets[end - 1] ^= 1
    other = bytes(octets)
    if other == vector.octets or not spoken.automaton.accepts(other):
        other = b""  # nothing ill-formed to compare with
    return Vector(
        "input", other, chunks=vector.chunks if other else None, earlier=vector.earlier, profile=vector.profile
    )


def suspects(answered: Answered, greeting: Greeting) -> list[int]:
    """The indices of a batch's streams whose answers differ from the expected ones in any respect.

    It reads columns only: if they are right, it returns without reading single answers.
    """
    batch, operation, answers = answered.batch, answered.operation, answered.answers
    units, marked = greeting.units_of(operation), greeting.marks_refusals
    expected = batch.expected(operation, units)
    right_marks = batch.expected_marks(operation, units, marked=marked)
    judges_offsets = bool(greeting.stream_offsets) and operation not in REPLACING
    numbers = read_numbers(answers.numbers)
    offsets = batch.expected_offsets(units, greeting.stream_offsets) if judges_offsets else [None] * len(batch)

    def wrong_offset(place: int) -> bool:
        return numbers[place] != NOT_SAID and offsets[place] is not None and numbers[place] != offsets[place]

    strange = set(answers.incompletes) - {0, 1, INCOMPLETE_NOT_SAID}
    if (answers.statuses, answers.units, answers.marks) == (expected.statuses, expected.units, right_marks) and (
        not strange
    ):
        right = read_numbers(expected.numbers)
        refused = [status == REFUSED[0] for status in answers.statuses]
        return [
            place
            for place, is_refused in enumerate(refused)
            if (wrong_offset(place) if is_refused else numbers[place] != right[place])
        ]
    marks = list(marks_in(answers.statuses, answers.marks, batch.chunk_counts(operation) or (), marked=marked))
    right_each = list(marks_in(expected.statuses, right_marks, batch.chunk_counts(operation) or (), marked=marked))
    output, right_output = (each.outputs(units.size) for each in (answers, expected))
    return [
        place
        for place, (status, right_status) in enumerate(zip(answers.statuses, expected.statuses, strict=True))
        if place in answered.faults
        or status != right_status
        or output[place] != right_output[place]
        or marks[place] != right_each[place]
        or answers.incompletes[place] in strange
        or (status == REFUSED[0] and wrong_offset(place))
    ]


def marks_in(statuses: bytes, marks: bytes, chunk_counts: Sequence[int], *, marked: bool) -> Iterator[bytes]:
    """Each stream's marks, in the wire format."""
    counts = marks_of(statuses, chunk_counts, marked=marked)
    return (marks[4 * start : 4 * end] for start, end in pairwise(accumulate(counts, initial=0)))


def judge(
    vector: Vector, operation: str, expected: Outcome, observed: Observation, marks: Sequence[int], greeting: Greeting
) -> Iterator[Finding]:
    """The fault of a stream with the right result: the time of its output or refusal, or its offset."""
    if isinstance(observed, Accepted):
        yield from _output(vector, operation, expected, observed, marks, greeting)
    elif isinstance(observed, Refused):
        yield from _refusal(vector, operation, expected, observed, marks, greeting)


def _output(
    vector: Vector, operation: str, expected: Outcome, observed: Accepted, marks: Sequence[int], greeting: Greeting
) -> Iterator[Finding]:
    sure = certainty(vector.octets, greeting.units.name, vector.profile)
    chunks = vector.pieces
    known = [sure.out(read) for read in accumulate(chunks)]
    most = [*known[:-1], sure.total]  # at the end, output that depends on the end may have come or not
    for chunk, (mark, least, limit) in enumerate(zip(marks, known, most, strict=True)):
        if least <= mark <= limit:
            continue
        code = Code.HELD_BACK if mark < least else Code.EARLY
        place = _segment_after(vector, min(mark, least), greeting)
        detail = f"out after chunk {chunk + 1}: {least}", f"out after chunk {chunk + 1}: {mark}"
        yield Finding(vector, operation, code, expected, observed, place, detail)
        return


def _refusal(
    vector: Vector, operation: str, expected: Outcome, observed: Refused, marks: Sequence[int], greeting: Greeting
) -> Iterator[Finding]:
    flaw = vector.flaw
    assert flaw is not None
    title = flaw.defect.title
    sure, chunks = certainty(vector.octets, greeting.units.name, vector.profile), vector.pieces
    first = sure.refused_in(chunks)
    said = marks[0] if marks else first
    if said != first and not (sure.shown is None and said > first):  # a call after the last chunk signals the end
        detail = f"in chunk {first}", f"in chunk {said}"
        yield Finding(vector, operation, Code.LATE if said > first else Code.EARLY, expected, observed, title, detail)
    if not greeting.stream_offsets or observed.offset is None:
        return
    offset = sure.offset(chunks, min(max(said, 1), len(chunks)), greeting.stream_offsets)
    if offset is not None and observed.offset != offset:
        whence = {
            "stream": "the start of the stream", "chunk": "the start of its chunk", "kept": "the first octet kept",
        }[greeting.stream_offsets]  # fmt: skip
        detail = f"at {offset} from {whence}", ""
        yield Finding(vector, operation, Code.STREAM_OFFSET, expected, observed, title, detail)


def _segment_after(vector: Vector, units: int, greeting: Greeting) -> str:
    """The segment after that many units of output: its defect, or a character."""
    out = 0
    for found, scalars in zip(vector.taken, vector.outputs, strict=True):
        out += greeting.units.count(scalars)
        if out > units:
            return found.defect.title if isinstance(found, MaximalSubpart) else "a character"
    return "the end"


def lost_states(vector: Vector, wrong: range | None = None) -> tuple[str, ...]:
    """The possibly lost states, in words; the likeliest first: that of the first cut character at its last cut.

    Args:
        vector: a vector with chunks.
        wrong: the segments at which the output can be wrong first; if some of them are cut, no other state can be
            lost.
    """
    held = certainty(vector.octets, "utf-32", vector.profile).held
    cut: dict[int, list[int]] = {}  # for each cut character, its octets read at each cut
    for boundary in accumulate(vector.pieces[:-1]):
        if held(boundary) < boundary:
            cut.setdefault(held(boundary), []).append(boundary - held(boundary))
    if wrong is not None and vector.taken:
        starts = [vector.taken[place].offset for place in wrong]
        inside = {start: read for start, read in cut.items() if start in starts}
        cut = inside or {start: read for start, read in cut.items() if start < starts[-1]}
    return tuple(dict.fromkeys(_words(vector, start, count) for start, read in cut.items() for count in reversed(read)))


def _words(vector: Vector, start: int, read: int) -> str:
    row = vector.profile.dialect.layout.announced(vector.octets[start])
    assert row is not None, "only a lead octet begins what may become a character"
    return f"state lost after {read} of {len(row.templates)} octets, at the end of a chunk"


def ended_how(earlier: tuple[bytes, ...], vector: Vector) -> str:
    """The end of an earlier stream of ``vector``, in words."""
    octets = b"".join(earlier)
    stream = type(vector)("", octets, profile=vector.profile)
    if not octets:
        return "was empty"
    if stream.flaw is None:
        return "ended well"
    return "ended early" if stream.flaw.incomplete else "is ill-formed"
