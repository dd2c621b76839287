"""Judges a stream beyond its result: when output and refusals come, a refusal's offset, and what state was lost.

A decoder that withholds certain output still yields the right text, but a program that answers its peer waits for
text that has long arrived. So timing is a separate claim, :data:`~.kind.EARLIEST`. A state that was lost shows, as far
as octets show it, where a chunk cuts a character.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.answers import marks_of
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.units import read_numbers
from overlong.conformance.protocol.wire import INCOMPLETE_NOT_SAID, NOT_SAID, REFUSED, REPLACING
from overlong.conformance.vectors.expected import certainty
from overlong.reference import MaximalSubpart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Outcome


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
        place = _segment_at(vector, min(mark, least), greeting)
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


def _segment_at(vector: Vector, units: int, greeting: Greeting) -> str:
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
