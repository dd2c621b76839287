"""Compare inputs that differ from a given one in the character or the flaw alone: do others of its kind show the same?

A fault of a decoder's tables shows for one alternative of the grammar, a fault of its loop for all of them in one
place. If the minimiser always kept the alternative, two inputs of the latter kind would never meet; if it never kept
it, two faults of the former kind would become one. So it changes the alternative only if *all* of its kind show the
same.
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
"""For each member of a kind its inputs, of which one must show the divergence."""
Products = tuple[tuple[range, ...], ...]


@cache
def _groups(spoken: Dialect) -> tuple[Products, ...]:
    """The well-formed characters as products of ranges, grouped by length, the shortest first."""
    products = sorted(well_formed_products(spoken.automaton), key=len)
    return tuple(tuple(group) for _, group in groupby(products, key=len))


@cache
def single_flaws(spoken: Dialect) -> tuple[int, ...]:
    """For each defect that a single octet can show, the least such octet before filler."""
    least: dict[str, int] = {}
    for octet in range(0x100):
        first = next(segments(bytes([octet]) + FILLER, spoken=spoken))
        if isinstance(first, MaximalSubpart):
            least.setdefault(first.defect.code, octet)
    return tuple(sorted(least.values()))


def kinds(vector: Vector, place: FaultPlace, *, free: bool) -> list[Kind]:
    """Kinds, the shortest first. If all members of one show the divergence, the least may stand for it.

    Args:
        vector: the vector that shows it.
        place: its place there.
        free: a character's kind is its length, or a shorter one; otherwise all characters are one kind.
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
            continue  # they cannot be wrong
        together = dict.fromkeys(group + own)
        if not free and group is not own:
            longer = [each for each in groups if len(each[0]) > 1 or (each is group and not cut)]
            together = dict.fromkeys(product for each in longer for product in each)
        first = [product for product in together if product in group]
        rest = [product for product in together if product not in group]
        result.append(tuple(_in_place(vector, place, alike(sequence, product)) for product in (*first, *rest)))
    return result


def alike(sequence: bytes, product: tuple[range, ...]) -> bytes:
    """The sequence in another alternative, with its last octets if they fit; a truncating octet stays."""
    layout = load_layout("rfc3629")
    more = len(product) - announced(sequence[0])
    result = bytearray(span.start for span in product[: 1 + max(0, more)])
    for octet, span in zip(sequence[1 + max(0, -more) :], product[len(result) :], strict=False):
        result.append(octet if octet in span or not layout.is_tail(octet) else span.start)
    return bytes(result)


def _in_place(vector: Vector, place: FaultPlace, sequence: bytes) -> tuple[Vector, ...]:
    """The vector with that sequence instead: filler before it, after it, or nowhere makes up for a shorter length."""
    start, end = place.offset, place.offset + place.length
    less = max(0, place.length - len(sequence))
    around = dict.fromkeys((before, total - before) for total in range(less + 1) for before in range(total + 1))
    return tuple(spliced(vector, start, end, FILLER * before + sequence + FILLER * behind) for before, behind in around)


def unchecked(vector: Vector, place: FaultPlace) -> Kind:
    """Every flaw of a single octet in that place: if all show it, the decoder checks nothing there."""
    start, end = place.offset, place.offset + place.length
    rest = FILLER * (place.length - 1)
    return tuple(
        (spliced(vector, start, end, bytes([octet]) + rest),) for octet in single_flaws(vector.profile.dialect)
    )


def cut_alike(vector: Vector, place: FaultPlace) -> list[Vector]:
    """Streams whose result shows if the decoder keeps the octets of a truncated character, the least first.

    For a decoder used before, nothing or one character follows the same stream. Otherwise: a character that the
    sequence could have become, cut in the same place, and an empty chunk there; likewise for the first cut character.
    """
    if vector.earlier is not None:
        return [replace(vector, octets=octets, chunks=(len(octets),)) for octets in (b"", FILLER)]
    ends = list(accumulate(vector.chunks or ()))
    within = [(found.offset, found.length) for found in vector.segments]
    within = [(start, length) for start, length in within if any(start < end < start + length for end in ends)]
    products = [product for group in _groups(vector.profile.dialect) for product in group]
    result: list[Vector] = []
    for start, length in dict.fromkeys([(place.offset, place.length), *within[:1]]):  # the cut may be before it
        lead = vector.octets[start : start + 1]
        product = next((each for each in products if lead and lead[0] in each[0]), ())
        octets = bytes(span.start for span in product)
        cuts = dict.fromkeys((*(end - start for end in ends if start < end < start + length), 1))
        chunks = [(at, *more, len(octets) - at) for at in cuts if at < len(octets) for more in ((), (0,))]
        result += [replace(vector, octets=octets, chunks=each) for each in chunks]
    return result
