"""Questions about text: for functions that count, find boundaries, cut and step.

A text is asked with every argument that has an answer, so a wrong answer anywhere in it shows; a longer one only with
arguments near the place where it has something to show.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, partial
from itertools import chain, groupby, product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import GUARDED_ASK
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.expected import Asked, classes, units_of
from overlong.conformance.vectors.families.family import CHARACTERS, filled, first_and_last
from overlong.conformance.vectors.suites.suite import BATCH, batched, core_vectors, memory_vectors, of_questions
from overlong.reference import dialect
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.vectors.suites.suite import Suite
    from overlong.reference.questions import Question

# Short texts: every short string over the grammar's classes of octets, so that no state of a function is left out;
# every few characters of each length; the ends of the grammar's ranges; the core's short strings. And text as long as
# the blocks of fast paths, of characters of each length, with a character of another length at each place.

SHORT = 16
"""The most octets of a text that is asked with every argument whatever it is made of."""
LENGTHS = (17, 24, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 130)
"""Lengths around the blocks of fast paths: words of 8 octets, vectors of 16, 32 and 64."""
FURTHEST = 70
"""The last place of a character that differs from its text."""
_NEAR = 5
"""How far from such a character arguments are asked."""


def _over_classes(longest: int) -> Iterator[bytes]:
    """Every string over the classes of octets, and longer ones over one class for each length of character."""
    automaton, layout = dialect().automaton, dialect().layout
    every = sorted(automaton.classes, key=lambda each: -len(each.octets))
    kinds: dict[object, int] = {}
    for each in every:
        row = layout.announced(each.least) if automaton.table[0][each.least] != automaton.dead else None
        kinds.setdefault((row, layout.is_tail(each.least)), each.least)
    few, all_of_them = sorted(kinds.values()), sorted(each.least for each in every)
    for length in range(longest + 1):
        yield from map(bytes, product(all_of_them if length < longest else few, repeat=length))


def _few_characters() -> Iterator[bytes]:
    for count in range(1, 5):
        yield from map(b"".join, product(CHARACTERS, repeat=count))
    for character in first_and_last():
        yield from (character, b"a" + character + b"a", character + character)


@cache
def short_texts() -> tuple[bytes, ...]:
    """Texts that are asked with every argument."""
    core = (vector.octets for vector in core_vectors() if len(vector.octets) <= SHORT)
    return tuple(dict.fromkeys((*_over_classes(4), *_few_characters(), *core)))


@cache
def long_texts() -> tuple[tuple[bytes, int], ...]:
    """Longer texts, each with the place around which arguments are asked; -1: everywhere."""
    found: dict[bytes, int] = {}
    for filler in CHARACTERS:
        for length in LENGTHS:
            found.setdefault(filled(length, filler), -1)
    for character in CHARACTERS[1:]:
        for place in range(FURTHEST + 1):
            found.setdefault((b"a" * place + character).ljust(LENGTHS[-1], b"a"), place)
    return tuple(found.items())


def _asked(question: Question) -> Iterator[bytes]:
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


FUNCTIONS = of_questions(
    "functions",
    "each question is answered as the characters of the text demand, with every argument",
    lambda question: batched(dict.fromkeys(_asked(question)), BATCH),
)

# Every octet, and every text of two octets, with every argument. A function that is wrong about one octet, through a
# table's entry or the bound of a comparison, shows it beside an octet of each class; one that is wrong about a
# character of two octets, in that. Only one that compares other pairs as numbers needs all texts of two octets. These
# are exhaustive, with longer ones over the ends of the grammar's ranges. Also each lead, or none, before up to eight
# tails: more than any character has.

_MOST_TAILS = 8
_WIDEST = 4
"""The octets of the longest character."""


def _ends() -> bytes:
    """The first and last octet of each range whose octets are of one class."""
    ranges = (list(some) for _, some in groupby(range(0x100), classes().__getitem__))
    return bytes(chain.from_iterable(dict.fromkeys((each[0], each[-1])) for each in ranges))


def _of_each_class() -> bytes:
    return bytes(map(classes().index, sorted(set(classes()))))


def _tails() -> bytes:
    return bytes(octet for octet in _of_each_class() if dialect().layout.is_tail(octet))


def _many_tails() -> Iterator[bytes]:
    for lead in (b"", *(bytes([octet]) for octet in _of_each_class())):
        yield from (lead + bytes([_tails()[0]]) * count for count in range(_WIDEST, _MOST_TAILS + 1))


@cache
def _with_every_octet() -> tuple[bytes, ...]:
    """Each octet alone and beside one of each class; every character of two octets."""
    octets = [bytes([octet]) for octet in range(0x100)]
    before = (b"a", *(bytes([octet]) for octet in _of_each_class() if dialect().layout.announced(octet)))
    after = (b"a", *(bytes([octet]) for octet in _tails()))
    pairs = chain(product(octets, after), product(before, octets))
    characters = (chr(scalar).encode() for scalar in range(0x80, 0x800))
    return tuple(dict.fromkeys((*octets, *map(b"".join, pairs), *characters, *_many_tails())))


@cache
def _of_two_octets() -> tuple[bytes, ...]:
    """All texts of one and of two octets, and longer ones."""
    layout, octets, each = dialect().layout, range(0x100), _of_each_class()
    rows = {octet: layout.announced(octet) for octet in each}
    longest = [octet for octet, row in rows.items() if row and len(row.templates) == _WIDEST]
    few = (map(bytes, product(octets, repeat=1)), map(bytes, product(octets, repeat=2)))
    more = (map(bytes, product(_ends(), repeat=3)), map(bytes, product(longest, each, each, each)))
    return tuple(dict.fromkeys(chain(*few, *more, _many_tails())))


def _with_every_argument(question: Question, texts: Iterable[bytes]) -> Iterator[bytes]:
    heads = [Asked(question, argument, b"").payload for argument in range(_MOST_TAILS * _WIDEST)]
    for text in texts:
        yield from (heads[argument] + text for argument in question.asked(text))


FUNCTIONS_OCTETS = of_questions(
    "functions-octets",
    "each question is answered as the characters demand whatever a single octet is, and in each character of two",
    lambda question: batched(_with_every_argument(question, _with_every_octet()), BATCH),
)
FUNCTIONS_EXHAUSTIVE = of_questions(
    "functions-exhaustive",
    "each question is answered as the characters demand for every text of one or two octets, with every argument",
    lambda question: batched(_with_every_argument(question, _of_two_octets()), BATCH),
    remembered=4,  # megabytes each
)

# Questions that may make a function leave its memory: about the inputs that decoders get, at their ends and edges.

_AT_ONCE = 16
"""So few that a request is answered in time even if each costs several processes."""
_SHORT = 3
"""The most octets of a text that is asked with every argument."""


def _in_memory(question: Question) -> Iterator[bytes]:
    """Of a longer text one argument: in turn one of the last three or first two. The adapter gives converters room."""
    for number, vector in enumerate(memory_vectors()):
        every = question.asked(vector.octets)
        if question.written:
            chosen: Sequence[int] = every[-1:]
        elif len(vector.octets) <= _SHORT:
            chosen = every
        else:
            few = [*every[-3:], *every[:2]]
            chosen = [few[number % len(few)]] if few else ()
        yield from (Asked(question, each, vector.octets).payload for each in chosen)


FUNCTIONS_IN_MEMORY = of_questions(
    "functions-in-memory",
    "the function stays within its memory, at every address, whatever it is asked",
    lambda question: batched(_in_memory(question), _AT_ONCE),
    GUARDED_ASK,
)

# Texts of up to 65 607 octets, of characters of one length, asked around a power of two. Fast loops keep sums in a few
# bits and add them up now and then, keep marks at every so many octets, or hold a limit in 16 bits: all right in short
# text. A character lies across each power of two, if it has more than one octet. Three suites have them, because a
# function whose time grows with the square of the length would take minutes for the last.

SIZES = {"functions-long": (1 << 8, 1 << 10), "functions-longer": (1 << 12,), "functions-longest": (1 << 16,)}
"""The lengths in each suite, in octets."""
_MORE = 71
"""The octets behind a power of two: no multiple of a block, and of no character's octets."""
_ONLY_BETWEEN = ("next", "previous")
"""What is asked about offsets between characters alone: no other has one right answer."""


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


def _around(question: Question, size: int) -> Iterator[bytes]:
    for text in (filled(size + _MORE, character) for character in CHARACTERS):
        every = question.asked(text)
        if question.argument and every:
            for argument in dict.fromkeys(_arguments(question, size, text)):
                if argument in every:
                    yield Asked(question, argument, text).payload
        elif every:
            yield Asked(question, every[0], text).payload


def _of_sizes(sizes: Sequence[int], question: Question) -> Iterator[tuple[bytes, ...]]:
    """A batch for each size."""
    return filter(None, (tuple(_around(question, size)) for size in sizes))


def _long(name: str) -> Suite:
    sentence = (
        f"each question is answered as the characters demand in texts of {thousands(SIZES[name][-1] + _MORE)} octets"
    )
    return of_questions(name, sentence, partial(_of_sizes, SIZES[name]))


FUNCTIONS_LONG = tuple(map(_long, SIZES))
"""In this order: a function that would take too long for the longer texts is spared them."""
