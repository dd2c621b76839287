"""Vectors that ask a question about a text, and the answers of a right function.

The ``octets`` of such a vector hold the question's number, its argument as u32, and the text; its category is the
question's name. What is right stands in :mod:`overlong.reference.questions`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import ACCEPTED, NUMBERS, QUESTION, Answers, big_endian
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.vector import IdError, Vector
from overlong.reference.questions import BY_NUMBER, QUESTIONS, Question, Right, right

if TYPE_CHECKING:
    from collections.abc import Iterable


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


def words_of(payload: bytes) -> str:
    """A payload in words; one of a newer version, or of a file that is wrong, in octets."""
    try:
        return Asked.of(payload).words
    except IdError:
        return spaced_hex(payload)


def sample(names: Iterable[str]) -> bytes:
    """The first of some questions, about the letter a; a converter gets more room than it needs."""
    question = QUESTIONS[next(iter(names))]
    return Asked(question, question.asked(b"a")[-1 if question.written else 0], b"a").payload


def question_vector(question: Question, argument: int, text: bytes, comment: str = "") -> Vector:
    """The vector that asks a question."""
    return Vector(question.name, Asked(question, argument, text).payload, comment)


def answers(payloads: Iterable[bytes], mode: str) -> Answers:
    """The answers of a right function to many payloads, in the wire format."""
    found = [Asked.of(payload).right(mode).numbers for payload in payloads]
    count = len(found)
    numbers = big_endian("I", list(map(len, found)))
    return Answers.of(
        ACCEPTED * count, numbers, bytes(count), bytes(count), NUMBERS.write([each for one in found for each in one])
    )
