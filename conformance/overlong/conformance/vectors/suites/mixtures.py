"""Mixtures: text with errors of every kind in it, drawn from the grammar by a seed that never changes; and series.

The complete suites prove what decoders of few states do. Mixtures sample the others, which err after a certain
character, at an offset, in inputs of one length, at a distance from the end, or after many characters, errors, chunks
or streams. Sweeps do that for accepting and refusing; these suites do it for replacing and for streams.

- "mixtures" has strings of up to 140,000 octets to replace. Errors are close together in some and far apart in others,
  and the text between them has characters of one length or of all.
- "mixtures-in-chunks" has such strings, and others whose only error is at the end or that have none. They are cut into
  chunks of one octet, of a few or of thousands, some of them empty.
- "mixtures-used-before" has such streams as earlier ones.

Each also has series, which are not drawn, and "mixtures" every octet after each lead and what may follow it, and every
surrogate: a table for replacing may have one wrong entry.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, REPLACE, STREAMING
from overlong.conformance.vectors.pieces import OWN_MEANING, Dice, fillers, of_every_lead, pieces
from overlong.conformance.vectors.suites.streams import LATER
from overlong.conformance.vectors.suites.suite import in_requests, of_vectors
from overlong.conformance.vectors.vector import Vector, cut
from overlong.reference.layout import load_layout
from overlong.reference.order import SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference.automaton import Automaton


# Series: strings in which each kind of error, or of character, stands at many places, one after another.
#
# A replacing decoder goes on after an error, so one string asks about many. Each piece comes after every lead and every
# last octet; at each offset up to some hundreds, and as far from the end; in texts of each length; and after and before
# many characters and many errors. Series for streams are below.

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


def cut_series(automaton: Automaton) -> Iterator[Chunks]:
    """All streams, as chunks."""
    _, two, *_, longest = fillers(automaton)
    head, tail = _error(automaton)
    for begun in _begun(automaton):
        yield from _at_begun(two, begun)
    for last in _last(automaton):
        yield last + longest[:1], b""
        yield two, last + head, tail, _LETTER
    for number in _numbers(_SMALL, 1 << _POWERS[-1]):
        text = _LETTER * (number - 1)
        yield (text + longest[:1],)
        if number <= _ALL_TOLD:
            yield _LETTER + text, longest[:1]
        behind = max(0, number - len(tail)) if number <= _ALL_TOLD else 0
        yield text + head, tail + _LETTER * behind, _LETTER
    for number in _numbers(_SMALL_BEFORE, _MANY_CHUNKS):
        yield (*(_LETTER,) * (number - 1), longest[:1])
        yield (*(_LETTER,) * (number - 1), head + tail, _LETTER)
    empty = (b"",) * _MOST_CHUNKS
    yield (*empty, longest[:1], b"")
    yield (*empty, head, b"", tail, _LETTER)
    yield from _characters(longest)


def _error(automaton: Automaton) -> tuple[bytes, bytes]:
    """An error that its second octet shows, and looks like a character of three octets: its head, and its tail."""
    kinds, two = pieces(automaton).kinds, fillers(automaton)[1]
    error = max(kinds, key=lambda kind: (len(kind) == len(two) + 1, len(kind) > 1))
    return error[:1], error[1:]


def cut_series_before(automaton: Automaton) -> Iterator[tuple[Chunks, Chunks]]:
    """Earlier streams, and the streams after them. What an end truncates comes in a chunk before, and so is held."""
    _, two, *_, longest = fillers(automaton)
    error, letter, begun = (_LETTER + _NO_LEAD,), (_LETTER,), longest[:1]
    for held in _begun(automaton):
        yield (two + held, b""), letter
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


def _at_begun(two: bytes, begun: bytes) -> Iterator[Chunks]:
    """The end, and an error, after an incomplete character."""
    yield (two + begun,)
    yield two + begun, b""
    yield two, _LETTER + begun, _LETTER, _LETTER
    yield two, _LETTER + begun + _LETTER, _LETTER


def _characters(longest: bytes) -> Iterator[Chunks]:
    """Characters that are cut in chunks of all sizes; in each of very many chunks; and near large offsets."""
    width = len(longest)
    sizes = [size for size in _numbers(_SMALL, _SIZES) for _ in range(2)]
    for phase in range(2):
        yield _cut(longest, phase, sizes)
    for phase, sizes in product(range(width), ([1] * _MOST_CHUNKS, _near(_numbers(0, 1 << 16), width))):
        yield _cut(longest, phase, sizes, _LONG_TEXT)
    for number in _numbers(0, _ALL_TOLD):
        if number > _SIZES:
            phase = next(phase for phase in range(width) if (number - phase) % width and (2 * number - phase) % width)
            yield _cut(longest, phase, [number, number])


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


_SEED = 3629
_APART = (1, 1, 2, 8, 64)
"""The most characters between two errors."""
_CHUNKS = (1, 1, 2, 3, 8, 64, 1024, 5000)
"""The octets of the longest chunk."""
_EMPTY, _LONGEST = 0.1, 0.4
"""The shares of chunks: empty ones, these and the longest."""
_MOST_DRAWN = 65_000
_LONG = (140_000, 66_000, 132_000)
_NEAR_POWERS = tuple((1 << power) + by for power in range(4, 13) for by in (-1, 0, 1))


class _Mixer(Dice):
    """Draws strings and cuts."""

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(_SEED, automaton)
        self._least_and_greatest = (*of_every_lead(automaton), *pieces(automaton).characters, *OWN_MEANING)
        self._kinds = pieces(automaton).kinds
        self._fillers = (*fillers(automaton), b"", b"")

    def filler(self, length: int) -> bytes:
        """A character, or none; the longest strings have the most characters."""
        return self._fillers[0] if length in _LONG else self.one_of(self._fillers)

    def character_or(self, filler: bytes) -> bytes:
        """Mostly the filler, if there is one; otherwise the end of a range, or any character."""
        if filler and self.below(8):
            return filler
        return self.one_of(self._least_and_greatest) if self.below(4) else self.character()

    def mixture(self, length: int) -> bytes:
        """Text and errors: so many octets."""
        filler, apart, found = self.filler(length), self.one_of(_APART), bytearray()
        while len(found) < length:
            for _ in range(self.below(apart + 1)):
                found += self.character_or(filler)
            if self.below(2):
                found += self.one_of(self._kinds) if self.below(3) == 0 else self.piece()
        return bytes(found[:length])

    def stream(self, length: int) -> bytes:
        """Text of at least so many octets that ends well, with an error, or within a character."""
        filler, found = self.filler(length), bytearray()
        while len(found) < length:
            found += self.character_or(filler)
        return bytes(found) + (b"", self.piece() + b"ab", self.character()[:-1])[self.below(3)]

    def chunks(self, length: int) -> tuple[int, ...]:
        """Lengths of chunks; everything behind the 65,000th is the last."""
        most, found, left = self.one_of(_CHUNKS), list[int](), length
        while left or not found:
            share = self.share()
            found.append(0 if share < _EMPTY else min(left, most if share < _LONGEST else 1 + self.below(most)))
            if len(found) == _MOST_DRAWN:
                found[-1] = left
            left -= found[-1]
        return tuple(found)


def _lengths(dice: Dice, drawn: Iterable[tuple[int, int]], longest: Sequence[int]) -> Iterator[int]:
    """Lengths of strings: a count of them up to a size, for each pair; some near powers of two; and the longest."""
    for count, most in drawn:
        for _ in range(count):
            yield most // 2 + dice.below(most // 2 + 1)
    yield from _NEAR_POWERS * 3
    yield from longest


def _entries(automaton: Automaton) -> Iterator[bytes]:
    """Every octet where each lead and its tails lead to, and every surrogate in the form of three octets; then text."""
    begun = dict.fromkeys(form[:end] for form in of_every_lead(automaton) for end in range(len(form)))
    yield from (start + bytes([octet]) + b"ab" for start in begun for octet in range(256))
    encode = load_layout("rfc3629").encode
    yield from (octets + b"ab" for surrogate in SURROGATES if (octets := encode(surrogate)) is not None)


def _whole(automaton: Automaton) -> tuple[Vector, ...]:
    mixer = _Mixer(automaton)
    lengths = tuple(_lengths(mixer, ((2000, 64), (500, 600), (60, 5000)), _LONG))
    drawn = map(mixer.mixture, lengths)
    return tuple(
        Vector("mixtures", octets) for octets in dict.fromkeys((*drawn, *series(automaton), *_entries(automaton)))
    )


def _in_chunks(automaton: Automaton) -> tuple[Vector, ...]:
    mixer = _Mixer(automaton)
    lengths = tuple(_lengths(mixer, ((600, 16), (300, 300), (30, 5000)), _LONG[:2]))
    drawn = [mixer.one_of((mixer.mixture, *(mixer.stream,) * 4))(length) for length in lengths]
    made = ((b"".join(chunks), tuple(map(len, chunks))) for chunks in cut_series(automaton))
    divided = dict.fromkeys((*((octets, mixer.chunks(len(octets))) for octets in drawn), *made))
    return tuple(Vector("chunking", octets, chunks=chunks) for octets, chunks in divided)


def _used_before(automaton: Automaton) -> tuple[Vector, ...]:
    mixer, found = _Mixer(automaton), list[tuple[tuple[bytes, ...], tuple[bytes, ...]]]()
    for length in tuple(_lengths(mixer, ((300, 300), (30, 5000)), _LONG[:2])):
        octets, later = mixer.stream(length), mixer.one_of(LATER)
        found.append((tuple(cut(octets, mixer.chunks(len(octets)))), later))
    return tuple(
        Vector("again", b"".join(later), chunks=tuple(map(len, later)), earlier=earlier)
        for earlier, later in dict.fromkeys((*found, *cut_series_before(automaton)))
    )


MIXTURES = of_vectors(
    "mixtures", "every kind of error is replaced alike, wherever it is in text", _whole, REPLACE, in_requests
)
MIXTURES_IN_CHUNKS = of_vectors(
    "mixtures-in-chunks",
    "the result does not depend on where long text is cut",
    _in_chunks,
    STREAMING,
    in_requests,
)
MIXTURES_USED_BEFORE = of_vectors(
    "mixtures-used-before",
    "the result does not depend on the long stream that the decoder decoded before",
    _used_before,
    AGAIN,
    in_requests,
)
