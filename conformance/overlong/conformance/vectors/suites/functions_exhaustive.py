"""Questions about every octet, and about every text of two octets, with every argument.

A function that is wrong about one octet, through a table's entry or the bound of a comparison, shows it beside an octet
of each class; one that is wrong about a character of two octets, in that. Only one that compares other pairs as numbers
needs all texts of two octets. These are exhaustive, with longer ones over the ends of the grammar's ranges. Also each
lead, or none, before up to eight tails: more than any character has.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain, groupby, product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.alike import classes
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.questions import Asked
from overlong.conformance.vectors.suites.suite import BATCH, of_questions
from overlong.reference import dialect
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.reference.questions import Question

_MOST_TAILS = 8
_WIDEST = 4
"""The octets of the longest character."""


def _ends() -> bytes:
    """The first and last octet of each range whose octets are of one class."""
    ranges = (list(some) for _, some in groupby(range(0x100), classes().__getitem__))
    return bytes(chain.from_iterable(dict.fromkeys((each[0], each[-1])) for each in ranges))


def _of_each_class() -> bytes:
    return bytes(map(classes().index, sorted(set(classes()))))


def _many_tails() -> Iterator[bytes]:
    for lead in (b"", *(bytes([octet]) for octet in _of_each_class())):
        yield from (lead + bytes([_tails()[0]]) * count for count in range(_WIDEST, _MOST_TAILS + 1))


def _tails() -> bytes:
    return bytes(octet for octet in _of_each_class() if dialect().layout.is_tail(octet))


def _characters() -> Iterator[bytes]:
    """Every character of two octets."""
    return (chr(scalar).encode() for scalar in range(0x80, 0x800))


@cache
def _some_texts() -> tuple[bytes, ...]:
    octets = [bytes([octet]) for octet in range(0x100)]
    before = (b"a", *(bytes([octet]) for octet in _of_each_class() if dialect().layout.announced(octet)))
    after = (b"a", *(bytes([octet]) for octet in _tails()))
    pairs = chain(product(octets, after), product(before, octets))
    return tuple(dict.fromkeys((*octets, *map(b"".join, pairs), *_characters(), *_many_tails())))


@cache
def _all_texts() -> tuple[bytes, ...]:
    layout, octets, each = dialect().layout, range(0x100), _of_each_class()
    rows = {octet: layout.announced(octet) for octet in each}
    longest = [octet for octet, row in rows.items() if row and len(row.templates) == _WIDEST]
    few = (map(bytes, product(octets, repeat=1)), map(bytes, product(octets, repeat=2)))
    more = (map(bytes, product(_ends(), repeat=3)), map(bytes, product(longest, each, each, each)))
    return tuple(dict.fromkeys(chain(*few, *more, _many_tails())))


def _payloads(question: Question, texts: Iterable[bytes]) -> Iterator[bytes]:
    heads = [Asked(question, argument, b"").payload for argument in range(_MOST_TAILS * _WIDEST)]
    for text in texts:
        yield from (heads[argument] + text for argument in question.asked(text))


def _batched(name: str, texts: Iterable[bytes]) -> tuple[Batch, ...]:
    payloads = tuple(_payloads(QUESTIONS[name], texts))
    return tuple(Batch.of_strings(name, payloads[start : start + BATCH]) for start in range(0, len(payloads), BATCH))


@cache
def _some_of(name: str) -> tuple[Batch, ...]:
    return _batched(name, _some_texts())


@lru_cache(maxsize=4)  # megabytes each
def _all_of(name: str) -> tuple[Batch, ...]:
    return _batched(name, _all_texts())


FUNCTIONS_OCTETS = of_questions(
    "functions-octets",
    "each question is answered as the characters demand whatever a single octet is, and in each character of two",
    _some_of,
)
FUNCTIONS_EXHAUSTIVE = of_questions(
    "functions-exhaustive",
    "each question is answered as the characters demand for every text of one or two octets, with every argument",
    _all_of,
)
