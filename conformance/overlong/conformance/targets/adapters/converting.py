"""Calls of a converter in C: its text as units, room of exactly so many units, and what it wrote there and around."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.abi import REFUSED, AnswerReading
from overlong.conformance.targets.adapters.asked import numbers_in
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.targets.adapters.bounds import Guarded
    from overlong.reference.questions import Question
    from overlong.reference.reading import Form

_POISON = b"\xaa"
_AROUND = 64
"""Watched octets on both sides of the room."""


def units_of(question: Question, octets: bytes) -> bytes:
    """The text as the function gets it, in the machine's byte order."""
    if question.given == "utf-8":
        return octets
    form = FORMS[question.given]
    return b"".join(unit.to_bytes(form.size, sys.byteorder) for unit in form.units(read(octets)))


def numbers_given(question: Question, operation: str, payload: bytes) -> bytes | None:
    """What an encoder is to encode, in the machine's byte order; None if UTF-16 has no units for it."""
    if question.given == "utf-16" and operation != "F":
        text = numbers_in(operation, payload)
        if text is None:
            return None
        payload, operation = text.encode("utf-16-be", "surrogatepass"), "F"
    units = array("H" if operation == "F" else "I", payload)
    if sys.byteorder == "little":
        units.byteswap()
    return units.tobytes()


def encoded(question: Question, answer: AnswerReading, count: int) -> AnswerReading:
    """The octets, or the size in four, of an encoder that had room for everything. Where it stops, it refuses."""
    if answer.status != "A":
        return answer
    octets = answer.output
    if question.written:
        if (taken := int.from_bytes(octets[:4], "big")) < count:
            return REFUSED._replace(number=taken)
        octets = octets[7::4]  # what was taken, and each octet, in 32 bits
    return AnswerReading("A", len(octets), output=octets)


def converted(
    question: Question, output: Guarded, pad: int, room: int, call: Callable[[int], AnswerReading]
) -> AnswerReading:
    """The answer to one call; what it writes outside its room is a fault.

    Args:
        question: of a converter.
        output: memory for its output.
        pad: the octets before the room there.
        room: units.
        call: calls the function with the address of the room.
    """
    form = FORMS[question.written]
    end = pad + room * form.size
    output.view[pad - _AROUND : end + _AROUND] = _POISON * (end - pad + 2 * _AROUND)
    answer = call(output.start + pad)
    if answer.status != "A":
        return answer
    before, after = output.view[pad - _AROUND : pad], output.view[end : end + _AROUND]
    if stray := len(before.lstrip(_POISON)) or len(after.rstrip(_POISON)):
        side = "before" if before.lstrip(_POISON) else "after"
        return AnswerReading(
            "X", text=f"it writes {stray} octet{'s' * (stray != 1)} {side} its room of {_shown(form, room)}"
        )
    if answer.number > room:
        return AnswerReading("X", text=f"it says that it wrote {answer.number} units into {_shown(form, room)}")
    return numbers_written(question, output.view[pad : pad + answer.number * form.size], answer)


def numbers_written(question: Question, output: bytes | bytearray, answer: AnswerReading) -> AnswerReading:
    """The answer with the numbers of the units that it says are in the output."""
    size = FORMS[question.written].size
    units = (output[place : place + size] for place in range(0, answer.number * size, size))
    numbers = b"".join(int.from_bytes(unit, sys.byteorder).to_bytes(4, "big") for unit in units)
    return AnswerReading("A", 1 + answer.number, output=answer.output + numbers)


def _shown(form: Form, room: int) -> str:
    return f"{room} {form.word}{'s' * (room != 1)}"
