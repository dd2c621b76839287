"""Series: strings in which each kind of error, or of character, stands at many places, one after another.

A replacing decoder goes on after an error, so one string asks about many. Each piece comes after every lead and every
last octet; at each offset up to some hundreds, and as far from the end; in texts of each length; and after and before
many characters and many errors. Series for streams are below.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.pieces import OWN_MEANING, fillers, of_every_lead, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference.automaton import Automaton

_LETTER, _STRAY = b"a", b"\x80"
_FAR = 520
"""The offsets at which every piece stands: two blocks of 256 octets, and some more."""
_LENGTHS = 260
"""The lengths of text in which every piece stands; beyond, those near the following numbers."""
_FURTHEST = 10_000
"""The greatest of these numbers."""
_POWERS, _ROUND = range(7, 18), (1_000, 10_000, 100_000)
_EXACT = (512, 1_000, 1_024, 2_048)
"""The characters before every piece, and the octets left where it begins."""
_MANY = (1 << 17) + 64
"""The octets, of characters or of errors, that precede every piece: counters and offsets of fewer end before. Decoders
that take each octet off the front of an array need seconds for them."""


def _numbers(small: int, most: int) -> list[int]:
    """All numbers up to a small one, and those near powers of two and of ten up to most."""
    near = {number + by for number in (*(1 << power for power in _POWERS), *_ROUND) for by in (-1, 0, 1)}
    return sorted(number for number in {*range(1, small + 1), *near} if number <= most + 1)


def series(automaton: Automaton) -> Iterator[bytes]:
    """All strings."""
    own = filter(automaton.accepts, OWN_MEANING)
    every = tuple(dict.fromkeys((*pieces(automaton).ill_formed, *pieces(automaton).characters, *own)))
    yield from _after_each(automaton, every)
    for piece in every:
        for phase in range(len(piece) + 1):
            yield _LETTER * phase + (piece + _LETTER) * (_FAR // (len(piece) + 1)) + _LETTER * phase
    for length in _numbers(_LENGTHS, _FURTHEST):
        yield from _of_length(every, length)
    for number in _EXACT:
        for piece in every:
            yield _LETTER * number + piece + _LETTER * (number - len(piece))
    all_of_them = b"".join(piece + _LETTER for piece in every)
    for before in (_LETTER, fillers(automaton)[1], _STRAY):
        yield before * (_MANY // len(before)) + all_of_them
    yield all_of_them + _LETTER * _MANY


def _after_each(automaton: Automaton, every: tuple[bytes, ...]) -> Iterator[bytes]:
    """Every piece after the first and the last character of each lead, each last octet, and two characters."""
    two = fillers(automaton)[1]
    tails = (two[:-1] + bytes([octet]) for octet in range(0x80, 0xC0))
    letters = (bytes([octet]) for octet in range(1, 0x80))
    before = tuple(filter(automaton.accepts, dict.fromkeys((*of_every_lead(automaton), *letters, *tails))))
    for piece in every:
        yield b"".join(character + piece for character in before)


def _of_length(every: tuple[bytes, ...], length: int) -> Iterator[bytes]:
    """Every piece in strings of so many octets, at their end and before it."""
    found = b""
    for piece in every:
        if len(piece) > length:
            continue
        if len(found) + len(piece) + 1 > length and found:
            yield found.rjust(length, _LETTER)
            found = b""
        found += piece + _LETTER * (len(found) + len(piece) < length)
    yield found.ljust(length, _LETTER)


# Series for streams: a character, an error, or an end within a character, where a counter has a certain value.
#
# The values are all small numbers, and those near powers of two and of ten. Counters are those of octets so far (the
# offset), of octets of a chunk or of the one before it, of chunks, and of empty chunks. More streams have each lead, in
# the last character or in what is held at the cut. A strict decoder stops at an error, so each takes a stream of its
# own; characters share streams.

Chunks = tuple[bytes, ...]
_NO_LEAD = b"\xff"
_SMALL = 130
_SMALL_BEFORE = 66
"""The least numbers, for streams and for earlier streams."""
_MOST_CHUNKS = 0xFFFF - 4
"""Streams of the most chunks have few more, and the protocol has no more than FFFF."""
_MANY_CHUNKS = 1 << 15
"""The most chunks in streams of an exact number."""
_LONG_TEXT = (1 << 16) + 64
"""The octets of a long text of characters. All have the same one, so that it is read only once."""
_SIZES = 1_100
"""The chunks of each size up to this many octets are in one stream."""
_ALL_TOLD = 12_000
"""The octets up to which streams of all kinds are made: an error, say, with as many behind it in its chunk."""


@dataclass(frozen=True)
class _Pieces:
    """What stands in the streams."""

    two: bytes
    """A character of two octets."""
    longest: bytes
    """A character of the most octets."""
    head: bytes
    tail: bytes
    """An error that its second octet shows; it looks like a character of three octets."""

    @classmethod
    def of(cls, automaton: Automaton) -> _Pieces:
        _, two, *_, longest = fillers(automaton)
        kinds = pieces(automaton).kinds
        error = max(kinds, key=lambda kind: (len(kind) == len(two) + 1, len(kind) > 1))
        return cls(two, longest, error[:1], error[1:])


def cut_series(automaton: Automaton) -> Iterator[Chunks]:
    """All streams, as chunks."""
    use = _Pieces.of(automaton)
    for begun in _begun(automaton):
        yield from _at_begun(use, begun)
    for last in _last(automaton):
        yield last + use.longest[:1], b""
        yield use.two, last + use.head, use.tail, _LETTER
    for number in _numbers(_SMALL, 1 << _POWERS[-1]):
        text = _LETTER * (number - 1)
        yield (text + use.longest[:1],)
        if number <= _ALL_TOLD:
            yield _LETTER + text, use.longest[:1]
        behind = max(0, number - len(use.tail)) if number <= _ALL_TOLD else 0
        yield text + use.head, use.tail + _LETTER * behind, _LETTER
    for number in _numbers(_SMALL_BEFORE, _MANY_CHUNKS):
        yield (*(_LETTER,) * (number - 1), use.longest[:1])
        yield (*(_LETTER,) * (number - 1), use.head + use.tail, _LETTER)
    empty = (b"",) * _MOST_CHUNKS
    yield (*empty, use.longest[:1], b"")
    yield (*empty, use.head, b"", use.tail, _LETTER)
    yield from _characters(use)


def cut_series_before(automaton: Automaton) -> Iterator[tuple[Chunks, Chunks]]:
    """Earlier streams, and the streams after them. What an end truncates comes in a chunk before, and so is held."""
    use = _Pieces.of(automaton)
    error, letter, begun = (_LETTER + _NO_LEAD,), (_LETTER,), use.longest[:1]
    for held in _begun(automaton):
        yield (use.two + held, b""), letter
    for number in _numbers(_SMALL_BEFORE, 1 << _POWERS[-1]):
        yield (_LETTER * (number - 1) + begun, b""), letter
        if number <= _ALL_TOLD:
            yield (_LETTER * number,), error
        yield (_LETTER * number,), letter
    for number in _numbers(_SMALL_BEFORE, _MANY_CHUNKS):
        yield (*(_LETTER,) * (number - 2), begun, b""), letter
        yield (_LETTER,) * number, error
        yield (_LETTER,) * number, letter


def _begun(automaton: Automaton) -> list[bytes]:
    """What may be held: for each lead, the first octets of its first character."""
    found: dict[tuple[int, int], bytes] = {}
    for character in of_every_lead(automaton):
        for end in range(1, len(character)):
            found.setdefault((character[0], end), character[:end])
    return list(found.values())


def _last(automaton: Automaton) -> tuple[bytes, ...]:
    """A character of each lead."""
    letters = (bytes([octet]) for octet in range(1, 0x80))
    found = {character[:1]: character for character in (*letters, *of_every_lead(automaton))}
    return tuple(filter(automaton.accepts, found.values()))


def _at_begun(use: _Pieces, begun: bytes) -> Iterator[Chunks]:
    """The end, and an error, after an incomplete character."""
    yield (use.two + begun,)
    yield use.two + begun, b""
    yield use.two, _LETTER + begun, _LETTER, _LETTER
    yield use.two, _LETTER + begun + _LETTER, _LETTER


def _characters(use: _Pieces) -> Iterator[Chunks]:
    """Characters that are cut in chunks of all sizes; in each of very many chunks; and near large offsets."""
    width = len(use.longest)
    sizes = [size for size in _numbers(_SMALL, _SIZES) for _ in range(2)]
    for phase in range(2):
        yield _cut(use.longest, phase, sizes)
    for phase, sizes in product(range(width), ([1] * _MOST_CHUNKS, _near(_numbers(0, 1 << 16), width))):
        yield _cut(use.longest, phase, sizes, _LONG_TEXT)
    for number in _numbers(0, _ALL_TOLD):
        if number > _SIZES:
            phase = next(phase for phase in range(width) if (number - phase) % width and (2 * number - phase) % width)
            yield _cut(use.longest, phase, [number, number])


def _near(numbers: list[int], width: int) -> list[int]:
    """The sizes of chunks that end at each place near some numbers."""
    places = sorted({0, *(number + by for number in numbers for by in range(-width, width + 1))})
    return [end - start for start, end in pairwise(places)]


def _cut(character: bytes, phase: int, sizes: list[int], least: int = 0) -> Chunks:
    """Chunks of these sizes from text of one character after so many letters; a last one ends the text."""
    count = max(least, sum(sizes)) // len(character) + 4
    text, found, start = _LETTER * phase + character * count, list[bytes](), 0
    for size in sizes:
        found.append(text[start : start + size])
        start += size
    return (*found, text[start:])
