"""Questions about texts of up to 65 607 octets, of characters of one length, asked around a power of two.

Fast loops keep sums in a few bits and add them up now and then, keep marks at every so many octets, or hold a limit in
16 bits: all right in short text. A character lies across each power of two, if it has more than one octet. Three
suites have them, because a function whose time grows with the square of the length would take minutes for the last.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, partial
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.questions import Asked, units_of
from overlong.conformance.vectors.suites.functions import CHARACTERS
from overlong.conformance.vectors.suites.suite import of_questions
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.suites.suite import Suite
    from overlong.reference.questions import Question

SIZES = {"functions-long": (1 << 8, 1 << 10), "functions-longer": (1 << 12,), "functions-longest": (1 << 16,)}
"""The lengths in each suite, in octets."""
_MORE = 71
"""The octets behind a power of two: no multiple of a block, and of no character's octets."""
_ONLY_BETWEEN = ("next", "previous")
"""What is asked about offsets between characters alone: no other has one right answer."""


def _texts(size: int) -> Iterator[bytes]:
    """Texts that are a little longer."""
    for character in CHARACTERS:
        whole, rest = divmod(size + _MORE, len(character))
        yield b"a" * rest + character * whole


def _arguments(question: Question, size: int, text: bytes) -> Iterator[int]:
    """Those of a few characters around a size, in octets and in the units of the argument, and the last."""
    reading, every = read(text), question.asked(text)
    ends = units_of(question, reading)
    at = bisect_right(reading.ends, size) - 1
    few = ends[at - 1 : at + 3]
    yield from few if question.name in _ONLY_BETWEEN else range(few[0], few[-1] + 1)
    if question.name not in _ONLY_BETWEEN:
        yield from range(size - 1, size + 2)
    yield every[-1]


def _payloads(question: Question, size: int) -> Iterator[bytes]:
    for text in _texts(size):
        every = question.asked(text)
        if question.argument and every:
            for argument in dict.fromkeys(_arguments(question, size, text)):
                if argument in every:
                    yield Asked(question, argument, text).payload
        elif every:
            yield Asked(question, every[0], text).payload


@cache
def _batches_of(suite: str, name: str) -> tuple[Batch, ...]:
    """A batch for each size."""
    sizes = (tuple(_payloads(QUESTIONS[name], size)) for size in SIZES[suite])
    return tuple(Batch.of_strings(name, payloads) for payloads in sizes if payloads)


def _suite(name: str) -> Suite:
    sentence = (
        f"each question is answered as the characters demand in texts of {thousands(SIZES[name][-1] + _MORE)} octets"
    )
    return of_questions(name, sentence, partial(_batches_of, name))


FUNCTIONS_LONG = tuple(map(_suite, SIZES))
"""In this order: a function that would take too long for the longer texts is spared them."""
