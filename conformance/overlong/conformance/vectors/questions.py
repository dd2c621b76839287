"""Vectors that ask a question about a text, and the answers of a right function.

The ``octets`` of such a vector hold the question's number, its argument as u32, and the text; its category is the
question's name. What is right stands in :mod:`overlong.reference.questions`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import ASKING, QUESTION
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.encoding import CATEGORY_OF
from overlong.conformance.vectors.vector import IdError
from overlong.reference.form import FORMS
from overlong.reference.questions import BY_NUMBER, QUESTIONS, Question, Right, right

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
