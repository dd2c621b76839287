"""Inputs that may be smaller than a given one and show the same: the candidates of the search, in no order.

Each function is one idea. It asks no target, and its results need not be smaller: the search sorts and drops. Octets 00
are the filler: if the value of an octet does not matter, the least value does.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.vectors.vector import cut
from overlong.fuzz.minimise.place import spliced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.minimise.place import FaultPlace

FILLER = b"\0"
_NEAR = 64
"""Up to this length in octets every length of a run is tried; beyond it, powers of two."""
_NEIGHBOURS = 4
"""Octets at most this far apart may belong together: the length of a character."""
_SQUARE = 64
"""Up to this length of an input every amount of filler before and after is tried."""
_LINE = 1 << 8
"""Up to this length of an input every amount of filler on one side is tried."""
_LIKELY = (0x00, 0x01, 0x20, 0x30, 0x41, 0x61)
"""Replacements for an octet in all of its places: ASCII of each kind."""


def cores(vector: Vector, place: FaultPlace) -> Iterator[Vector]:
    """The sequence alone; and with its neighbours."""
    starts = [found.offset for found in vector.segments]
    end = place.offset + place.length
    before = [start for start in starts if start < place.offset][-1:]
    after = [found.offset + found.length for found in vector.segments if found.offset + found.length > end][:2]
    for first in (place.offset, *before):
        for last in (end, *after):
            core = spliced(spliced(vector, last, len(vector.octets), b""), 0, first, b"")
            yield core
            if vector.chunks is not None:
                yield from (replace(core, chunks=(at, last - first - at)) for at in range(1, last - first))


def blanked(vector: Vector, place: FaultPlace) -> Iterator[Vector]:
    """The sequence with nothing but filler around it, or before it; and filler alone.

    Everything keeps its length and place; finally, filler before the sequence has one octet for each character.
    """
    length, end = len(vector.octets), place.offset + place.length
    cut = spliced(vector, end, length, b"")
    yield spliced(vector, 0, length, FILLER * length)
    yield spliced(spliced(vector, end, length, FILLER * (length - end)), 0, place.offset, FILLER * place.offset)
    yield spliced(cut, 0, place.offset, FILLER * place.offset)
    yield spliced(cut, 0, place.offset, FILLER * sum(found.offset < place.offset for found in vector.segments))


def lonely_segments(vector: Vector) -> Iterator[Vector]:
    """One character, one flaw, or its first octet: alone, or with only filler before it."""
    length = len(vector.octets)
    alone = dict.fromkeys(vector.octets[found.offset : found.offset + found.length] for found in vector.segments)
    for octets in alone:
        yield spliced(vector, 0, length, octets)
    for number, found in enumerate(vector.segments):
        if not vector.octets[found.offset : found.offset + found.length].isascii():
            for end in (found.offset + 1, found.offset + found.length):
                only = spliced(vector, end, length, b"")
                yield spliced(only, 0, found.offset, FILLER * found.offset)
                yield spliced(only, 0, found.offset, FILLER * number)


def without_ranges(vector: Vector, size: int) -> Iterator[Vector]:
    """Without one of the ranges of ``size`` segments."""
    for start, end in _ranges(vector, size):
        yield spliced(vector, start, end, b"")


def filled_ranges(vector: Vector, size: int) -> Iterator[Vector]:
    """With one of the ranges of ``size`` segments replaced by filler: as many octets, or one for each segment."""
    for start, end in _ranges(vector, size):
        yield spliced(vector, start, end, FILLER * (end - start))
        segments = sum(start <= found.offset < end for found in vector.segments)
        yield spliced(vector, start, end, FILLER * segments)


def _ranges(vector: Vector, size: int) -> Iterator[tuple[int, int]]:
    edges = [found.offset for found in vector.segments][::size]
    yield from pairwise([*edges, len(vector.octets)])


def shorter_runs(vector: Vector) -> Iterator[Vector]:
    """With fewer repetitions of an octet."""
    place = 0
    for _, run in groupby(vector.octets):
        length = len(list(run))
        if length > 1:
            powers = {1 << bits for bits in range(length.bit_length())}
            near = set(range(1, min(length, _NEAR) + 1))
            left = {length - kept for kept in powers | near}
            for less in powers | near | (left - {0}):
                yield spliced(vector, place, place + less, b"")
        place += length


def without_octets(vector: Vector) -> Iterator[Vector]:
    """Without one octet; or without it and with one more filler octet at the start."""
    octets = vector.octets
    for place, octet in enumerate(octets):
        if place and octets[place - 1] == octet:
            continue  # the result is the same as without its neighbour
        yield spliced(vector, place, place + 1, b"")
    for place, octet in enumerate(octets):
        if octet:
            yield spliced(spliced(vector, place, place + 1, b""), 0, 0, FILLER)


def without_pairs(vector: Vector) -> Iterator[Vector]:
    """Without one segment; and without two adjacent octets."""
    for found in vector.segments:
        yield spliced(vector, found.offset, found.offset + found.length, b"")
    for place in range(len(vector.octets) - 1):
        if place == 0 or vector.octets[place - 1] != vector.octets[place + 1]:
            yield spliced(vector, place, place + 2, b"")


def values_lowered(vector: Vector) -> Iterator[Vector]:
    """With a smaller octet in all places of a repeated one."""
    octets = vector.octets
    for value in sorted({octet for octet in octets if octet and octets.count(octet) > 1}):
        for lesser in {*(octet for octet in _LIKELY if octet < value), value - 1}:
            yield replace(vector, octets=octets.replace(bytes([value]), bytes([lesser])))


def octets_lowered(vector: Vector) -> Iterator[Vector]:
    """With one octet smaller: every smaller value at every place."""
    for place, octet in enumerate(vector.octets):
        for lesser in range(octet):
            yield spliced(vector, place, place + 1, bytes([lesser]))


def exchanged(vector: Vector) -> Iterator[Vector]:
    """With two octets, near each other, exchanged."""
    octets = vector.octets
    for place, octet in enumerate(octets):
        for other in range(place + 1, min(place + _NEIGHBOURS, len(octets))):
            if octets[other] < octet:
                middle = octets[place + 1 : other]
                yield spliced(vector, place, other + 1, bytes([octets[other], *middle, octet]))


def moved(vector: Vector) -> Iterator[Vector]:
    """The part without filler at its ends, with other amounts of filler before and after it."""
    octets, length = vector.octets, len(vector.octets)
    core = octets.strip(FILLER)
    first = octets.index(core)
    last, room = first + len(core), length - len(core)

    def with_filler(before: int, behind: int) -> Vector:
        return spliced(spliced(vector, last, length, FILLER * behind), 0, first, FILLER * before)

    if not core:
        if length <= _LINE:
            yield from (spliced(vector, shorter, length, b"") for shorter in range(length))
        return
    if length <= _SQUARE:
        yield from (with_filler(before, total - before) for total in range(room + 1) for before in range(total + 1))
    elif length <= _LINE:
        for amount in range(room + 1):
            yield with_filler(amount, 0)
            yield with_filler(0, amount)
            yield with_filler(amount, min(length - last, room - amount))
    for behind in range(min(length - last, _NEAR)):
        yield with_filler(room - behind, behind)


def fewer_chunks(vector: Vector) -> Iterator[Vector]:
    """Cut in fewer places, or sooner."""
    if vector.chunks is None:
        return
    chunks, length = vector.chunks, len(vector.octets)
    yield replace(vector, chunks=(length,) if length else ())
    places = list(range(1, length)) if length <= _LINE else list(accumulate(chunks))
    yield from (replace(vector, chunks=(at, length - at)) for at in places)
    for number in range(len(chunks) - 1):
        both = chunks[number] + chunks[number + 1]
        yield replace(vector, chunks=(*chunks[:number], both, *chunks[number + 2 :]))
        yield from (
            replace(vector, chunks=(*chunks[:number], less, both - less, *chunks[number + 2 :]))
            for less in range(min(chunks[number], _NEAR))
        )
    size = len(chunks) // 2
    while size > 1:  # several together
        for start in range(0, len(chunks), size):
            yield replace(vector, chunks=(*chunks[:start], sum(chunks[start : start + size]), *chunks[start + size :]))
        size //= 2


def less_before(vector: Vector) -> Iterator[Vector]:
    """After a shorter stream, one in fewer chunks, or one of smaller octets."""
    if vector.earlier is None:
        return
    octets = b"".join(vector.earlier)
    before = replace(vector, octets=octets, chunks=tuple(map(len, vector.earlier)), earlier=None)
    yield replace(vector, earlier=())
    size = len(before.segments)
    while size:
        yield from (_after(vector, less) for less in without_ranges(before, size))
        size //= 2
    for idea in (without_octets, shorter_runs, octets_lowered, fewer_chunks):
        yield from (_after(vector, less) for less in idea(before))


def _after(vector: Vector, before: Vector) -> Vector:
    return replace(vector, earlier=tuple(cut(before.octets, before.pieces)))
