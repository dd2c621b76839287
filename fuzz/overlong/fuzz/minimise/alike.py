"""Inputs that differ from a given one in the character or the flaw alone: do others of its kind show the same?

A fault of a decoder's tables shows for one alternative of the grammar, a fault of its loop for all of them in one
place. Two inputs of the latter kind would never meet if the alternative were always kept, and two faults of the former
kind would be taken for one if it never were. So it changes only if *all* of its kind show the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from overlong.fuzz.minimise.place import announced, spliced
from overlong.fuzz.minimise.smaller import FILLER
from overlong.reference import MaximalSubpart, segments
from overlong.reference.layout import load_layout
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.minimise.place import FaultPlace
    from overlong.reference import Dialect

Kind = tuple[tuple["Vector", ...], ...]
"""For each member of a kind its inputs; one must show it."""
Products = tuple[tuple[range, ...], ...]


@cache
def _groups(spoken: Dialect) -> tuple[Products, ...]:
    """The well-formed characters as products of ranges, those of one length together, the shortest first."""
    products = sorted(well_formed_products(spoken.automaton), key=len)
    return tuple(tuple(group) for _, group in groupby(products, key=len))


@cache
def single_flaws(spoken: Dialect) -> tuple[int, ...]:
    """For each defect that one octet is enough for, the least such octet, if filler follows."""
    least: dict[str, int] = {}
    for octet in range(0x100):
        first = next(segments(bytes([octet]) + FILLER, spoken=spoken))
        if isinstance(first, MaximalSubpart):
            least.setdefault(first.defect.code, octet)
    return tuple(sorted(least.values()))


def kinds(vector: Vector, place: FaultPlace, *, free: bool) -> list[Kind]:
    """Kinds of which all members must show it, the shortest first: then the least of the first group may stand for it.

    Args:
        vector: what shows it.
        place: where.
        free: the kind of a character is that of its length, or of a shorter one too; else all characters together.
    """
    spoken = vector.profile.dialect
    sequence = vector.octets[place.offset : place.offset + place.length]
    groups = _groups(spoken)
    if not any(sequence[:1] and sequence[0] in product[0] for group in groups for product in group):
        return []
    own = next(group for group in groups if any(sequence[0] in product[0] for product in group))
    cut = vector.flaw is not None
    result: list[Kind] = []
    for group in groups:
        if len(group[0]) > len(own[0]):
            break
        if cut and len(group[0]) == 1:
            continue  # nothing can be wrong with them
        together = dict.fromkeys(group + own)
        if not free and group is not own:
            longer = [each for each in groups if len(each[0]) > 1 or (each is group and not cut)]
            together = dict.fromkeys(product for each in longer for product in each)
        first = [product for product in together if product in group]
        rest = [product for product in together if product not in group]
        result.append(tuple(_in_place(vector, place, alike(sequence, product)) for product in (*first, *rest)))
    return result


def alike(sequence: bytes, product: tuple[range, ...]) -> bytes:
    """The sequence in another alternative: its last octets where they fit there; what cuts it short does so again."""
    layout = load_layout("rfc3629")
    more = len(product) - announced(sequence[0])
    result = bytearray(span.start for span in product[: 1 + max(0, more)])
    for octet, span in zip(sequence[1 + max(0, -more) :], product[len(result) :], strict=False):
        result.append(octet if octet in span or not layout.is_tail(octet) else span.start)
    return bytes(result)


def _in_place(vector: Vector, place: FaultPlace, sequence: bytes) -> tuple[Vector, ...]:
    """The vector with that sequence instead: what it is shorter by is made up for before, behind, or not at all."""
    start, end = place.offset, place.offset + place.length
    less = max(0, place.length - len(sequence))
    around = dict.fromkeys((before, total - before) for total in range(less + 1) for before in range(total + 1))
    return tuple(spliced(vector, start, end, FILLER * before + sequence + FILLER * behind) for before, behind in around)


def unchecked(vector: Vector, place: FaultPlace) -> Kind:
    """Every flaw of a single octet there: if all show it, nothing is checked, and what stood there is not the point."""
    start, end = place.offset, place.offset + place.length
    rest = FILLER * (place.length - 1)
    return tuple(
        (spliced(vector, start, end, bytes([octet]) + rest),) for octet in single_flaws(vector.profile.dialect)
    )


def cut_alike(vector: Vector, place: FaultPlace) -> list[Vector]:
    """Streams whose result shows whether what was read of a character is kept, the least first.

    Of a decoder used before: what comes after the same stream is nothing, or one character. Else: the character that
    the sequence could have become, cut where it is cut, and an empty chunk there; and so for the first that is cut.
    """
    if vector.earlier is not None:
        return [replace(vector, octets=octets, chunks=(len(octets),)) for octets in (b"", FILLER)]
    ends = list(accumulate(vector.chunks or ()))
    within = [(found.offset, found.length) for found in vector.segments]
    within = [(start, length) for start, length in within if any(start < end < start + length for end in ends)]
    products = [product for group in _groups(vector.profile.dialect) for product in group]
    result: list[Vector] = []
    for start, length in dict.fromkeys([(place.offset, place.length), *within[:1]]):  # what was cut may be before it
        lead = vector.octets[start : start + 1]
        product = next((each for each in products if lead and lead[0] in each[0]), ())
        octets = bytes(span.start for span in product)
        cuts = dict.fromkeys((*(end - start for end in ends if start < end < start + length), 1))
        chunks = [(at, *more, len(octets) - at) for at in cuts if at < len(octets) for more in ((), (0,))]
        result += [replace(vector, octets=octets, chunks=each) for each in chunks]
    return result
