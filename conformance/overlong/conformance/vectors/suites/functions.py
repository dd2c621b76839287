"""Questions about text: for functions that count, find boundaries, cut and step.

Each text is asked with every argument that has an answer, so a wrong answer anywhere in a short text shows. The texts:
every short string over the grammar's classes of octets, so that no state of a function is left out; every few
characters of each length; the ends of the grammar's ranges; the core's short strings; and text as long as the blocks
of fast paths, of characters of each length, with a character of another length at each place.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.builders import first_and_last
from overlong.conformance.vectors.questions import Asked
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.suites.suite import BATCH, of_questions
from overlong.reference import dialect
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference.questions import Question

CHARACTERS = tuple(character.encode() for character in "aé€😀")
"""A character of each length."""
SHORT = 16
"""The most octets of a text that is asked with every argument whatever it is made of."""
LENGTHS = (17, 24, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 130)
"""Lengths around the blocks of fast paths: words of 8 octets, vectors of 16, 32 and 64."""
FURTHEST = 70
"""The last place of a character that differs from its text."""
_NEAR = 5
"""How far from such a character arguments are asked."""


def _classes(longest: int) -> Iterator[bytes]:
    """Every string over the classes of octets, and longer ones over one class for each length of character."""
    automaton, layout = dialect().automaton, dialect().layout
    classes = sorted(automaton.classes, key=lambda each: -len(each.octets))
    kinds: dict[object, int] = {}
    for each in classes:
        row = layout.announced(each.least) if automaton.table[0][each.least] != automaton.dead else None
        kinds.setdefault((row, layout.is_tail(each.least)), each.least)
    few, all_of_them = sorted(kinds.values()), sorted(each.least for each in classes)
    for length in range(longest + 1):
        yield from map(bytes, product(all_of_them if length < longest else few, repeat=length))


def _characters() -> Iterator[bytes]:
    for count in range(1, 5):
        yield from map(b"".join, product(CHARACTERS, repeat=count))
    for character in first_and_last():
        yield from (character, b"a" + character + b"a", character + character)


@cache
def short_texts() -> tuple[bytes, ...]:
    """Texts that are asked with every argument."""
    core = (vector.octets for vector in core_vectors() if len(vector.octets) <= SHORT)
    return tuple(dict.fromkeys((*_classes(4), *_characters(), *core)))


@cache
def long_texts() -> tuple[tuple[bytes, int], ...]:
    """Longer texts, each with the place around which arguments are asked; -1: everywhere."""
    found: dict[bytes, int] = {}
    for filler in CHARACTERS:
        for length in LENGTHS:
            whole, rest = divmod(length, len(filler))
            found.setdefault(b"a" * rest + filler * whole, -1)
    for character in CHARACTERS[1:]:
        for place in range(FURTHEST + 1):
            found.setdefault((b"a" * place + character).ljust(LENGTHS[-1], b"a"), place)
    return tuple(found.items())


def _payloads(question: Question) -> Iterator[bytes]:
    for text in short_texts():
        for argument in question.asked(text):
            yield Asked(question, argument, text).payload
    for text, place in long_texts():
        arguments = question.asked(text)
        if not arguments:  # a text that no such function takes
            continue
        near = range(max(place - _NEAR, 0), place + 2 * _NEAR) if question.argument and place >= 0 else arguments
        for argument in (*near, arguments[-1]) if near is not arguments else arguments:
            if argument in arguments:
                yield Asked(question, argument, text).payload


@cache
def _batches_of(name: str) -> tuple[Batch, ...]:
    payloads = tuple(dict.fromkeys(_payloads(QUESTIONS[name])))
    return tuple(Batch.of_strings(name, payloads[start : start + BATCH]) for start in range(0, len(payloads), BATCH))


FUNCTIONS = of_questions(
    "functions", "each question is answered as the characters of the text demand, with every argument", _batches_of
)
