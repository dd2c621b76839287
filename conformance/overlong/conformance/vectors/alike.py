"""Questions about short texts whose octets are of the same classes: a right answer to one is one to all of them.

Two octets are of one class if the automaton takes them to the same states, they announce as many octets, and both or
neither may continue a character: no mode tells them apart. So the readable oracle answers once for each class of texts.
Only scalar values differ, and they are read from the text.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.answers import Answers
from overlong.conformance.protocol.units import NUMBERS, big_endian
from overlong.conformance.protocol.wire import ACCEPTED, QUESTION
from overlong.conformance.vectors.questions import Asked
from overlong.reference import dialect
from overlong.reference.questions import BY_NUMBER, QUESTIONS
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference.questions import Numbers

SHORT = 3
"""The most octets of such a text: of longer ones, few are of a class that was asked before."""
_TEXT = QUESTION.size
_STEPS = bytes(QUESTIONS[name].number for name in ("next", "previous"))
_CONVERTERS = bytes(question.number for question in QUESTIONS.values() if question.written)


@cache
def classes() -> bytes:
    """For each octet the number of its class."""
    automaton, layout = dialect().automaton, dialect().layout
    keys = [
        (tuple(row[octet] for row in automaton.table), layout.announced(octet), layout.is_tail(octet))
        for octet in range(0x100)
    ]
    found = list(dict.fromkeys(keys))
    return bytes(map(found.index, keys))


def pattern(payload: bytes) -> bytes | None:
    """What a question has in common with others that have the same answer; None if that is nothing."""
    if len(payload) > _TEXT + SHORT or payload[0] in _CONVERTERS:
        return None
    return payload[:_TEXT] + payload[_TEXT:].translate(classes())


def right_numbers(payload: bytes, mode: str) -> Numbers:
    """The right answer to a question; ``mode``: the declared modes."""
    key = pattern(payload)
    if key is None:
        return Asked.of(payload).right(mode).numbers
    known = _RIGHT.get((key, mode))
    if known is None:
        found = Asked.of(payload).right(mode)
        known = _RIGHT[key, mode] = found.numbers, payload[0] in _STEPS and found.of_character
    numbers, is_character = known
    return (_scalar(payload, numbers[-1]), numbers[-1]) if is_character else numbers


_RIGHT = dict[tuple[bytes, str], tuple["Numbers", bool]]()
"""For each class of questions, by the mode: the answer, and whether its first number is a character's."""


def _scalar(payload: bytes, width: int) -> int:
    """The scalar value that a step goes over."""
    argument = int.from_bytes(payload[1:_TEXT], "big")
    start = argument - width if BY_NUMBER[payload[0]] is QUESTIONS["previous"] else argument
    return _value(payload[_TEXT + start : _TEXT + start + width])


@lru_cache(1 << 12)
def _value(character: bytes) -> int:
    return read(character).pieces[0].scalar


def answers(payloads: Iterable[bytes], mode: str) -> Answers:
    """The answers of a right function to many payloads, in the wire format."""
    found = [right_numbers(payload, mode) for payload in payloads]
    count = len(found)
    numbers = big_endian("I", list(map(len, found)))
    return Answers.of(
        ACCEPTED * count, numbers, bytes(count), bytes(count), NUMBERS.write([each for one in found for each in one])
    )
