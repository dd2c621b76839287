"""Long texts for encoders: each length of character and each flaw at the ends of blocks, in each kind of text.

Encoders have other code for texts from 21, 32, 64 or 1024 numbers on: blocks, tables for ASCII, buffers of a fixed
size. A text has its characters and flaws where such a block or buffer ends, and nothing or as much text again behind.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.units import big_endian
from overlong.conformance.protocol.wire import ANNOUNCE, ENCODE, ENCODE_UTF16
from overlong.conformance.vectors.encoding import SCALARS as CATEGORY
from overlong.conformance.vectors.encoding import UTF16, WIDTHS, halves, in_units
from overlong.conformance.vectors.suites.encoding import once
from overlong.conformance.vectors.suites.suite import Suite, in_requests
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.vectors.batch import Batch


LETTERS: tuple[int, ...] = (0x61, 0xE9, 0x431, 0x4E2D, 0x1F6B2)
"""What texts are made of: ASCII, Latin-1, other characters of two octets, of three, and of four."""
_USUAL = (0x61, 0x4E2D)
"""The letters of texts in which everything is asked at every index; in the others a flaw and a letter."""
_BEYOND_BMP = LETTERS[-1]
_LEAD, _TRAIL = halves(_BEYOND_BMP)
SURROGATES = ((_LEAD,), (_TRAIL,), (_TRAIL, _LEAD))
"""A lone surrogate of each kind, and a pair in the wrong order."""
FLAWS = (*SURROGATES, (0x110000,))

EVERYWHERE = 107
"""The length of a text in which everything is asked at every index: blocks of 16, 32 and 64, each with a rest."""
BLOCKS = (16, 32, 64)
"""The ends of which everything is asked, and ..."""
LARGE = (128, 256, 512, 1000, 1024, 2048, 4096)
"""... those of which as much is asked as a second allows, ..."""
LARGEST = 1 << 16
"""... and little."""
_BEHIND = 20
"""The numbers behind a place, if there are not as many as before."""

_Text = tuple[tuple[int, ...], int, int, int]
"""What is asked; its index; the letter that the rest of the text has, and how many of them stand behind."""


def _texts(flaws: Sequence[tuple[int, ...]]) -> Iterator[_Text]:
    asked = (*((letter,) for letter in LETTERS), *flaws)
    for letter, index in product(LETTERS, range(EVERYWHERE)):
        for some in asked if letter in _USUAL else ((_LEAD,), LETTERS[:1]):
            yield some, index, letter, max(EVERYWHERE - index - len(some), 0)
    for size in BLOCKS:
        for letter, some, before in product(LETTERS, asked, range(-3, 2)):
            yield some, size + before, letter, 0
            yield some, size + before, letter, size
    for size in LARGE:
        for letter, some in product(LETTERS, asked):
            yield some, size - 1, letter, _BEHIND
        for letter, length in product(_USUAL, range(size - 1, size + 2)):
            yield (letter,), length - 1, letter, 0
        for before in range(-3, 1):
            yield (_BEYOND_BMP,), size + before, LETTERS[0], size
    yield (_BEYOND_BMP,), LARGEST - 1, LETTERS[0], _BEHIND
    yield (_LEAD,), LARGEST, LETTERS[0], _BEHIND
    yield (_TRAIL,), LARGEST, LETTERS[3], _BEHIND


def _of_points(text: _Text) -> Vector:
    some, index, letter, behind = text
    one = big_endian("I", [letter])
    return Vector(CATEGORY, one * index + big_endian("I", some) + one * behind, _comment(text))


def _of_units(text: _Text) -> Vector:
    """The same in UTF-16. Where pairs do not fill the place before, another letter comes first."""
    some, index, letter, behind = text
    one = in_units([letter])
    size = len(one) // WIDTHS[UTF16]
    before = in_units(LETTERS[:1]) * (index % size) + one * (index // size)
    return Vector(UTF16, before + in_units(some) + one * (behind // size), _comment(text))


def _comment(text: _Text) -> str:
    some, index, letter, behind = text
    what = " ".join(f"{number:04X}" for number in some)
    flaw = ", which is no text," * (some in FLAWS)
    return f"{what}{flaw} at index {index} among U+{letter:04X}, {behind} of them after it"


@cache
def _vectors(operation: str) -> tuple[Vector, ...]:
    if operation == ENCODE_UTF16:
        return once(map(_of_units, _texts(SURROGATES)))
    return once(map(_of_points, _texts(FLAWS)))


@cache
def _batches(operation: str) -> tuple[Batch, ...]:
    """The vectors in batches, with their cached results."""
    return tuple(in_requests(_vectors(operation)))


def _suite(name: str, sentence: str, asks: str) -> Suite:
    return Suite(name, sentence, lambda _: iter(_batches(asks[0])), lambda _: len(_vectors(asks[0])), asks=asks)


ENCODER_LONG = _suite(
    "encoder-long",
    "characters of each length, and what is no scalar value, where blocks and buffers end in long text",
    ENCODE + ANNOUNCE,
)
ENCODER_UTF16_LONG = _suite(
    "encoder-utf-16-long",
    "pairs, and surrogates that are no pair, where blocks and buffers end in long text",
    ENCODE_UTF16,
)
