"""Suites for encoders: all scalar values, other numbers, well-formed and ill-formed UTF-16, and long texts.

No vector has a lead surrogate right before a trail surrogate among code points: if a program's strings are UTF-16,
the two are a pair there, and the program cannot ask its encoder about them one by one.
"""

from __future__ import annotations

from array import array
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ACCEPTED, ANNOUNCE, ENCODE, ENCODE_UTF16, Answers, big_endian
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import SCALARS as CATEGORY
from overlong.conformance.vectors.expected import UTF16, WIDTHS, answers, halves, in_units, pieces
from overlong.conformance.vectors.suites.exhaustive import SCALARS
from overlong.conformance.vectors.suites.suite import Suite, in_requests, of_vectors
from overlong.conformance.vectors.vector import RFC3629, Vector
from overlong.reference import dialect
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.protocol.wire import Units
    from overlong.conformance.vectors.vector import Profile

EDGES: tuple[int, ...] = (0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFEFF, 0xFFFF, 0x10000, 0x10FFFF)
"""The first and last scalar values of each length and around the surrogates, and the byte order mark."""

BEYOND = tuple(
    dict.fromkeys(
        (
            CODE_POINTS.stop,
            *(1 << bits | low for bits in range(21, 32) for low in (0, 1, 0x61)),  # some become letters in fewer bits
            *((1 << bits) - 1 for bits in range(21, 33)),
            *(CODE_POINTS.stop + surrogate for surrogate in (SURROGATES.start, SURROGATES.stop - 1)),
            0xFFFFFFFE,
        )
    )
)
"""Numbers beyond 10FFFF: the first, and each power of two with its neighbours, up to FFFFFFFF."""

ALPHABET = (0x61, 0xE9, 0x20AC, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF)
"""Code units of which the suite has all strings of up to three: both surrogates' edges, and one for each length."""

SUPPLEMENTARY = (
    *(0x10000, 0x103FF, 0x10400, 0x1F600, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FC00, 0x10FFFF),
    *(plane << 16 | low for plane in range(1, 17) for low in (0, 0xFFFF)),
)
"""Supplementary characters: at the limits of the bits of pairs and of octets, and at the ends of each plane."""

LONG = 20
"""The number of code units in long texts: more than the blocks of fast encoders, and few enough for ids to spell."""


def _known(count: int, octets: bytes, batch: Batch, operation: str, _: Units) -> Answers:
    """The answers for ``count`` scalar values whose octets are known and all of one length."""
    if batch.profile.speaks != RFC3629.speaks:
        singly = (batch.octets[place : place + 4] for place in range(0, len(batch.octets), 4))
        return answers(operation, singly, batch.profile.dialect, batch.profile.encodes)
    width = len(octets) // count
    if operation == ANNOUNCE:
        return Answers.of(
            ACCEPTED * count,
            big_endian("I", [4]) * count,
            bytes(count),
            bytes(count),
            big_endian("I", [width]) * count,
        )
    return Answers.of(ACCEPTED * count, big_endian("I", [width]) * count, bytes(count), bytes(count), octets)


def _scalars(_: Profile) -> Iterator[Batch]:
    """The batches of the decoders' suite, with input and output exchanged; the values of a batch have no gap."""
    for batch in SCALARS.batches():
        first, count = ord(batch.octets[: batch.lengths[0]].decode()), len(batch)
        payloads = big_endian("I", range(first, first + count))
        closed = partial(_known, count, batch.octets)
        yield Batch(CATEGORY, array("I", [4]) * count, payloads, closed=closed)


def _of_points(points: Sequence[int], comment: str) -> Vector:
    return Vector(CATEGORY, big_endian("I", points), comment)


def _edges() -> Iterator[Vector]:
    yield _of_points((), "no code point at all")
    for scalar in EDGES:
        yield _of_points((scalar,), f"U+{scalar:04X}, at an edge of its length")
    for pair in product(EDGES, repeat=2):
        yield _of_points(pair, f"U+{pair[0]:04X} and U+{pair[1]:04X}, at edges of their lengths")
    for surrogate in SURROGATES:
        yield _of_points((surrogate,), f"the surrogate {surrogate:04X}, which is no scalar value")
    for number in BEYOND:
        yield _of_points((number,), f"{number:X}, which is beyond 10FFFF")
    for bad in (0xD800, 0xDBFF, 0xDC00, 0xDFFF, CODE_POINTS.stop, 0xFFFFFFFF):
        for place in range(LONG // 2):
            text = [0xE9] * (LONG // 2)
            text[place] = bad
            yield _of_points(text, f"{bad:X} at index {place}, in the middle of text")
        for neighbour in EDGES:
            yield _of_points((neighbour, bad), f"{bad:X} after U+{neighbour:04X}")
            yield _of_points((bad, neighbour), f"{bad:X} before U+{neighbour:04X}")
        yield _of_points((bad, bad), f"{bad:X} twice")
        yield _of_points((0x61, bad, 0x20AC, bad, 0x1F600), f"{bad:X} twice, with text around it")
    yield _of_points((0xDC00, 0xD800), "two surrogates, the trail before the lead")


def _units(units: Sequence[int]) -> Vector:
    """Code units, with a sentence that names the fault."""
    octets = big_endian("H", units)
    lone = [str(piece.place) for piece in pieces(ENCODE_UTF16, octets, dialect()) if piece.octets is None]
    shown = " ".join(f"{unit:04X}" for unit in units)
    if not lone:
        return Vector(UTF16, octets, f"{shown}: well-formed" if units else "no code unit at all")
    where = f"{'index' if len(lone) == 1 else 'indices'} {', '.join(lone)}"
    return Vector(UTF16, octets, f"{shown}: no pair at {where}")


def _strings_of_units() -> Iterator[Sequence[int]]:
    yield ()
    for length in (1, 2, 3):
        yield from product(ALPHABET, repeat=length)
    yield from ((edge,) for edge in EDGES if edge <= 0xFFFF)
    yield from map(halves, SUPPLEMENTARY)
    yield (0xD800, 0xDC00, 0xD800, 0xDC00)
    yield (0xD800, 0xD800, 0xDC00, 0xDC00)
    for letter in (0x61, 0x20AC):
        for place, wrong in product(range(LONG), ((0xD800,), (0xDC00,), (0xD83D, 0xDE00))):
            yield (*[letter] * place, *wrong, *[letter] * (LONG - place - len(wrong)))[:LONG]


def _once(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """Each payload once, with its first sentence."""
    first: dict[bytes, Vector] = {}
    for vector in vectors:
        first.setdefault(vector.octets, vector)
    return tuple(first.values())


# Long texts: each length of character and each flaw at the ends of blocks, in each kind of text.
#
# Encoders have other code for texts from 21, 32, 64 or 1024 numbers on: blocks, tables for ASCII, buffers of a fixed
# size. A text has its characters and flaws where such a block or buffer ends, and nothing or as much text again behind.

LETTERS: tuple[int, ...] = (0x61, 0xE9, 0x431, 0x4E2D, 0x1F6B2)
"""What texts are made of: ASCII, Latin-1, other characters of two octets, of three, and of four."""
_USUAL = (0x61, 0x4E2D)
"""The letters of texts in which everything is asked at every index; in the others a flaw and a letter."""
_BEYOND_BMP = LETTERS[-1]
_LEAD, _TRAIL = halves(_BEYOND_BMP)
LONE = ((_LEAD,), (_TRAIL,), (_TRAIL, _LEAD))
"""A lone surrogate of each kind, and a pair in the wrong order, as texts for UTF-16 have them."""
FLAWS = (*LONE, (0x110000,))

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


def _long_points(text: _Text) -> Vector:
    some, index, letter, behind = text
    one = big_endian("I", [letter])
    return Vector(CATEGORY, one * index + big_endian("I", some) + one * behind, _comment(text))


def _long_units(text: _Text) -> Vector:
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


ENCODED_SCALARS = Suite(
    "encoder-scalars",
    "every scalar value alone has its octets, and their number is announced",
    _scalars,
    asks=ENCODE + ANNOUNCE,
    count=lambda _: SCALARS.size,
)
ENCODER_EDGES = of_vectors(
    "encoder-edges",
    "what is no scalar value has no octets, alone and in the middle of text",
    lambda _: _once(_edges()),
    ENCODE + ANNOUNCE,
)
ENCODER_UTF16 = of_vectors(
    "encoder-utf-16",
    "pairs are one character, and surrogates that are no pair have no octets",
    lambda _: _once(map(_units, _strings_of_units())),
    ENCODE_UTF16,
)
ENCODER_LONG = of_vectors(
    "encoder-long",
    "characters of each length, and what is no scalar value, where blocks and buffers end in long text",
    lambda _: _once(map(_long_points, _texts(FLAWS))),
    ENCODE + ANNOUNCE,
    in_requests,
)
ENCODER_UTF16_LONG = of_vectors(
    "encoder-utf-16-long",
    "pairs, and surrogates that are no pair, where blocks and buffers end in long text",
    lambda _: _once(map(_long_units, _texts(LONE))),
    ENCODE_UTF16,
    in_requests,
)
