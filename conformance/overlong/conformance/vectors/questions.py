"""Vectors that ask a question about a text, and the answers of a right function: one by one, and in bulk.

The ``octets`` of such a vector hold the question's number, its argument as u32, and the text; its category is the
question's name. What is right stands in :mod:`overlong.reference.questions`.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import ACCEPTED, ASKING, NUMBERS, QUESTION, Answers, big_endian
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.encoding import CATEGORY_OF
from overlong.conformance.vectors.vector import IdError
from overlong.reference import dialect
from overlong.reference.questions import BY_NUMBER, QUESTIONS, Question, Right, right
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.reference.questions import Numbers
    from overlong.reference.reading import Reading


class Asked(NamedTuple):
    """What a payload asks."""

    question: Question
    argument: int
    text: bytes

    @classmethod
    def of(cls, payload: bytes) -> Asked:
        """Raises: IdError: it holds no question that this version knows, or an argument that has no answer."""
        try:
            number, argument = QUESTION.unpack_from(payload)
            found = cls(BY_NUMBER[number], argument, payload[QUESTION.size :])
        except (struct.error, KeyError):
            found = None
        if found is None or found.argument not in found.question.asked(found.text):
            raise IdError(
                "no question: write its number in 2 digits, its argument in 8, and the octets of the text, as in "
                "truncate/0600000003e282ac; 'overlong docs functions' lists them"
            )
        return found

    @property
    def payload(self) -> bytes:
        return QUESTION.pack(self.question.number, self.argument) + self.text

    def right(self, mode: str) -> Right:
        """What is right; ``mode``: the declared one."""
        return right(self.question, self.text, self.argument, mode)

    @property
    def words(self) -> str:
        """``F0 9F 92 A9, limit 3``."""
        argument = f", {self.question.argument} {self.argument}" if self.question.argument else ""
        return spaced_hex(self.text) + argument


def units_of(question: Question, reading: Reading) -> Sequence[int]:
    """The units of the argument before each character, and in all: octets, unless the question says otherwise."""
    if question.written:
        return FORMS[question.written].ends(reading)
    match question.name.removeprefix("truncate-").removeprefix("offset-of-"):
        case "scalars" | "scalar":
            return reading.counts
        case "utf16":
            return reading.units
        case _:
            return reading.ends


def question_of(payload: bytes) -> str:
    """The name of the question that a payload asks; empty if it asks none."""
    try:
        return Asked.of(payload).question.name
    except IdError:
        return ""


def words_of(payload: bytes) -> str:
    """A payload in words; one of a newer version, or of a file that is wrong, in octets."""
    try:
        return Asked.of(payload).words
    except IdError:
        return spaced_hex(payload)


def category_of(operation: str, octets: bytes, other: str) -> str:
    """The category of the vector that holds an operation's input; ``other`` if that is a text to decode."""
    if operation in ASKING and (name := question_of(octets)):
        return name
    return CATEGORY_OF.get(operation, other)


def sample(names: Iterable[str]) -> bytes:
    """The first of some questions, about the letter a; a converter gets more room than it needs."""
    question = QUESTIONS[next(iter(names))]
    return Asked(question, question.asked(b"a")[-1 if question.written else 0], b"a").payload


# Questions about short texts whose octets are of the same classes: a right answer to one is one to all of them.
#
# Two octets are of one class if the automaton takes them to the same states, they announce as many octets, and both or
# neither may continue a character: no mode tells them apart. So the readable oracle answers once for each class of
# texts. Only scalar values differ, and they are read from the text.

SHORT = 3
"""The most octets of such a text: of longer ones, few are of a class that was asked before."""
_HEAD = QUESTION.size
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
    if len(payload) > _HEAD + SHORT or payload[0] in _CONVERTERS:
        return None
    return payload[:_HEAD] + payload[_HEAD:].translate(classes())


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
    argument = int.from_bytes(payload[1:_HEAD], "big")
    start = argument - width if BY_NUMBER[payload[0]] is QUESTIONS["previous"] else argument
    return _value(payload[_HEAD + start : _HEAD + start + width])


@lru_cache(1 << 12)
def _value(character: bytes) -> int:
    return read(character).pieces[0].scalar


def answers_to(payloads: Iterable[bytes], mode: str) -> Answers:
    """The answers of a right function to many payloads, in the wire format."""
    found = [right_numbers(payload, mode) for payload in payloads]
    count = len(found)
    numbers = big_endian("I", list(map(len, found)))
    return Answers.of(
        ACCEPTED * count, numbers, bytes(count), bytes(count), NUMBERS.write([each for one in found for each in one])
    )
