"""Separate values: a list is well-formed if each of its values is well-formed alone, even if joined they differ.

A columnar format keeps the strings of a column in one buffer, with offsets between them. CBOR has text strings in
chunks, each of which must be well-formed (RFC 8949 section 3.2.3). Some functions take many strings at once. A decoder
that validates the joined octets as one text accepts the two values ``C3`` and ``A9``, although neither is UTF-8.

So the suite cuts the characters at the ends of the grammar's ranges at every place between values, alone and between
neighbours. For each such list it has one in which a value holds the whole character. It puts values that are always
ill-formed at each place, and empty values everywhere. Long values put the cut at the powers of two that bound a width
of offsets or of lengths; long lists do so with the number of values.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import SEPARATE
from overlong.conformance.vectors.builders import first_and_last, prefixes
from overlong.conformance.vectors.suites.again import SIGNATURE, defects
from overlong.conformance.vectors.suites.suite import of_vectors
from overlong.conformance.vectors.vector import LONGEST_HEX, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = "values"
"""The category of vectors that are lists of values; their chunks are the values."""

EDGES = (24, 64, 128, 256, 1 << 12, 1 << 15, 1 << 16)
"""Limits, in octets, of CBOR's lengths, of blocks of vector instructions, and of widths of offsets."""
COUNTS = (64, 256, 1024, 0xFFFF)
"""Numbers of values; the last is the most that a request holds."""

Values = tuple[bytes, ...]
_NEIGHBOURS: tuple[Values, ...] = ((), (b"a",), (b"\xc3\xa9",), (b"",), (b"\xf0\x9f\x98\x80", b""))


def _cut(octets: bytes) -> Iterator[Values]:
    """The octets in two or more values, cut at every choice of places."""
    for count in range(1, len(octets)):
        for places in combinations(range(1, len(octets)), count):
            yield tuple(octets[start:end] for start, end in pairwise((0, *places, len(octets))))


def _characters() -> Iterator[tuple[Values, str]]:
    for character in first_and_last():
        yield (character,), "a character"
        yield (character, character), "a character in each value"
        for pieces in _cut(character):
            yield pieces, "a character cut between values"
            yield tuple(each for piece in pieces for each in (piece, b""))[:-1], "cut, with an empty value between"
            yield (b"a" + pieces[0], *pieces[1:-1], pieces[-1] + b"a"), "cut, with letters around"
            yield (character + pieces[0], *pieces[1:-1], pieces[-1] + character), "cut, with whole ones around"


def _beside_neighbours() -> Iterator[tuple[Values, str]]:
    whole: tuple[Values, ...] = ((b"\xc3\xa9",), (b"\xe2\x82\xac",), (b"\xf0\x9f\x98\x80",))
    for before in _NEIGHBOURS:
        for after in _NEIGHBOURS:
            for (character,) in whole:
                yield (*before, character, *after), "well-formed neighbours"
                for pieces in _cut(character):
                    yield (*before, *pieces, *after), "cut between values, beside well-formed neighbours"


def _flawed() -> Iterator[tuple[Values, str]]:
    flawed = [(octets, "ill-formed in any company") for octets in defects()]
    flawed += [(octets, "a character cut short") for octets in prefixes()]
    for octets, what in flawed:
        yield (octets,), what
        for before in _NEIGHBOURS[1:]:
            yield (*before, octets), f"{what}, in the last value"
            yield (octets, *before), f"{what}, in the first value"
            yield (*before, octets, *before), f"{what}, in the middle"
    for begun in prefixes():
        yield (begun, b"\x80"), "a value that begins with a tail octet"
        yield (begun, begun), "two characters cut short"


def _plain() -> Iterator[tuple[Values, str]]:
    for values in ((b"",), (b"", b""), (b"a",), (b"a", b"b"), (b"", b"a"), (b"a", b""), (b"\0", b"\0")):
        yield values, "nothing, or ASCII"
    for values in ((SIGNATURE,), (SIGNATURE, SIGNATURE), (SIGNATURE + b"a", b""), (b"a", SIGNATURE)):
        yield values, "a signature in a value"
    yield from ((pieces, "a signature cut between values") for pieces in _cut(SIGNATURE))


def _at_edges() -> Iterator[tuple[Values, str]]:
    """Lists whose cut, or whose end of the joined octets, is before, at and after each edge."""
    for edge in EDGES:
        for size in (edge - 1, edge, edge + 1):
            room = b"a" * (size - 1)
            yield (room + b"a",), f"{size} octets"
            yield (room + b"a", b"\xc3\xa9"), f"{size} octets, then a character"
            yield (b"\xc3\xa9", room + b"a", b"\xc3\xa9"), f"{size} octets between characters"
            yield (room + b"\xc3", b"\xa9"), f"a character cut at offset {size}"
            yield (b"a", room[1:] + b"\xc3", b"\xa9"), f"a character cut at offset {size}, after a value"
            yield (room + b"\xc3", b"\xa9" + room), f"a character cut at offset {size}, and as much after it"
            yield (room, b"\xff"), f"FF at offset {size - 1}"
            yield (room + b"\xc3\xa9"[:1],), f"a character cut short by the end, at offset {size}"


def _many() -> Iterator[tuple[Values, str]]:
    for count in COUNTS:
        yield (b"a",) * count, f"{count} values"
        yield (b"\xc3\xa9",) * count, f"{count} values of one character"
        yield (b"a" * LONGEST_HEX + b"a", *(b"",) * (count - 1)), f"{count} values, all but the first empty"
        cut = (b"\xc3", b"\xa9")
        half = (b"a",) * (count // 2 - 1)
        yield (*half, *cut, *(b"a",) * (count - len(half) - 2)), f"a character cut amid {count} values"
        yield ((b"a",) * (count - 2) + cut), f"a character cut between the last of {count} values"
        yield (cut + (b"a",) * (count - 2)), f"a character cut between the first of {count} values"
        yield ((b"a",) * (count - 1) + cut[:1]), f"a character cut short by the end of {count} values"


@cache
def list_vectors() -> tuple[Vector, ...]:
    """Each list once."""
    first: dict[Values, Vector] = {}
    for make in (_plain, _characters, _beside_neighbours, _flawed, _at_edges, _many):
        for values, what in make():
            vector = Vector(VALUES, b"".join(values), what, chunks=tuple(map(len, values)))
            first.setdefault(values, vector)
    return tuple(first.values())


SEPARATE_VALUES = of_vectors(
    "separate-values", "each value of a list is judged by itself", lambda _: list_vectors(), SEPARATE
)
