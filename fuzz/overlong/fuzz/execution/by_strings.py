"""Answers judged with the standard library alone: whole columns first; where they differ, string by string."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    DECODE,
    FAILED,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    REFUSED,
    UNITS,
    UNSUPPORTED,
    big_endian,
    read_numbers,
)
from overlong.conformance.results.shard import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    FAULTS,
    LEFT_OUT,
    MISBEHAVED,
    ODD,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    Fault,
    answer_code,
)
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.expectation import NUL
from overlong.conformance.targets.framed import describe
from overlong.fuzz.execution.judged import Came
from overlong.reference import decode_scalars
from overlong.reference.layout import load_layout
from overlong.reference.order import SIGNATURE

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping, Sequence

    from overlong.conformance.protocol.observation import Fault as Observed
    from overlong.conformance.protocol.wire import Answers
    from overlong.conformance.sweep.expectation import Expectation
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.execution.judged import SurveyBatch

_LARGEST_LENGTH = 0xFF
_TEXT = 1 << 10
_KIND_OF_FAULT: dict[type, int] = {Crashed: CRASHED, TimedOut: TIMED_OUT, Misbehaved: MISBEHAVED}
_TOLD = {BROKEN, MISBEHAVED, LEFT_OUT}
"""Kinds of which the answer itself tells something."""
_LETTERS = {ACCEPTED[0]: "A", REFUSED[0]: "R", FAILED[0]: "X"}


class _Right(NamedTuple):
    """What a right target answers to one string."""

    accepted: bool
    number: int
    """Accepted: units put out, 0 where output is not judged; refused: the offset."""
    length: int
    incomplete: bool
    output: bytes


class ByStrings:
    """The same as ``ByColumns`` finds, without NumPy."""

    def __init__(self, expectation: Expectation, profile: Profile, unit_size: int) -> None:
        """Prepare for one target; ``unit_size``: octets in a unit of its output, judged or not."""
        self._expectation = expectation
        self._profile = profile
        self._unit_size = unit_size
        self._decodes = expectation.operation == DECODE
        self._signature = load_layout("rfc3629").encode(SIGNATURE) or b""
        self._last: tuple[bytes, list[_Right]] | None = None

    def right(self, lengths: array[int], octets: bytes) -> bytes:
        rights = self._rights(lengths, octets)
        self._last = octets, rights
        statuses = b"".join(ACCEPTED if right.accepted else REFUSED for right in rights)
        numbers = big_endian("I", [right.number for right in rights])
        lengths_said = bytes(right.length for right in rights)
        incompletes = bytes(right.incomplete for right in rights)
        return b"".join((statuses, numbers, lengths_said, incompletes, *(right.output for right in rights)))

    def came(
        self,
        batch: SurveyBatch,
        answers: Answers,
        first: int,
        faults: Mapping[int, Observed],
    ) -> Came:
        if self._last is not None and self._last[0] is batch.octets:
            rights = self._last[1]
        else:
            rights = self._rights(batch.lengths, batch.octets)
        statuses, numbers = answers.statuses, read_numbers(answers.numbers)
        lengths, incompletes = answers.lengths, answers.incompletes
        outputs = answers.outputs(self._unit_size)
        kinds, told, found = bytearray(len(rights)), Counter[int](), list[Fault]()
        well_formed = accepted = checksum = 0
        for place, (right, octets) in enumerate(zip(rights, _strings(batch.lengths, batch.octets), strict=True)):
            status, number = statuses[place], numbers[place]
            said = status, number, lengths[place], incompletes[place]
            kind = self._kind(right, octets, said, outputs[place])
            text: str | None = None
            if (fault := faults.get(place)) is not None:
                kind, text = _KIND_OF_FAULT.get(type(fault), BROKEN), describe(fault)
            else:
                if kind in _TOLD and told[kind] < FAULTS:
                    text = _text_of(kind, said, outputs[place])
                    told[kind] += 1
                if status in _LETTERS:
                    counted = 0 if status == ACCEPTED[0] and not self._decodes else number
                    code = answer_code(_LETTERS[status], counted) + 1
                    checksum += code * ((first + place) * ODD | 1)
                accepted += status == ACCEPTED[0]
            kinds[place] = kind
            well_formed += right.accepted and kind != LEFT_OUT
            if text is not None:
                found.append(Fault(first + place, kind, _shown(text)))
        octets_of_kinds = bytes(kinds) if any(kinds) else b""
        return Came(well_formed, accepted, checksum % (1 << 64), octets_of_kinds, tuple(found))

    def _rights(self, lengths: Sequence[int], octets: bytes) -> list[_Right]:
        return [self._right(string) for string in _strings(lengths, octets)]

    def _right(self, octets: bytes) -> _Right:
        automaton = self._expectation.automaton
        table, accepting, dead = automaton.table, automaton.accepting, automaton.dead
        state = last = read = 0
        for octet in octets:
            state = table[state][octet]
            if state == dead:
                break
            read += 1
            if accepting[state]:
                last = read
        if not accepting[state]:
            return _Right(False, last, min(max(read - last, 1), _LARGEST_LENGTH), state != dead, b"")  # noqa: FBT003
        if not (self._decodes and self._expectation.units):
            return _Right(True, 0, 0, False, b"")  # noqa: FBT003
        units = UNITS[self._expectation.units]
        scalars = decode_scalars(octets, spoken=self._profile.dialect)
        output = units.write(scalars)
        return _Right(True, len(output) // units.size, 0, False, output)  # noqa: FBT003

    def _kind(self, right: _Right, octets: bytes, said: tuple[int, int, int, int], output: bytes) -> int:
        status, number, length, incomplete = said
        if status == FAILED[0]:
            return BROKEN
        if status == UNSUPPORTED[0]:
            return LEFT_OUT
        signed = self._expectation.strips_signature and octets.startswith(self._signature)
        if status == ACCEPTED[0]:
            if not right.accepted:
                return ACCEPTED_ILL_FORMED
            judged = self._decodes and bool(self._expectation.units) and not signed
            return OTHER_OUTPUT if judged and output != right.output else AGREES
        if right.accepted:
            return REFUSED_WELL_FORMED
        if not self._expectation.offsets or number == NOT_SAID:
            return AGREES
        wrong_word = incomplete not in {INCOMPLETE_NOT_SAID, int(right.incomplete)}
        if wrong_word and incomplete > 1:
            return MISBEHAVED
        if signed or (self._expectation.has_nul_trait and NUL in octets):
            return AGREES
        if number != right.number:
            return OTHER_OFFSET
        if length not in (0, right.length):
            return OTHER_LENGTH
        return OTHER_INCOMPLETE if wrong_word else AGREES


def _strings(lengths: Sequence[int], octets: bytes) -> list[bytes]:
    return [octets[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]


def _text_of(kind: int, said: tuple[int, int, int, int], output: bytes) -> str:
    """What there is to tell of an answer of that kind; empty if nothing."""
    words = output[:_TEXT].decode("ascii", "backslashreplace")
    if kind == MISBEHAVED:
        return describe(Misbehaved(f"said {said[3]:02X} for incomplete; it is 00, 01, or FF for not said"))
    if kind == LEFT_OUT:
        return "it does not offer this" + (f": {words}" if words else "")
    return words if kind == BROKEN else ""


def _shown(text: str) -> str:
    return printable(text).replace("…", "...").encode("ascii", "backslashreplace").decode("ascii")
