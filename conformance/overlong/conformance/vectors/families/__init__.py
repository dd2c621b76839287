"""All families of vectors. Each has one kind of fault (or lawful edge); a module has the families of one theme."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.vectors.families import broken, lawful, placed, regression, unlawful

if TYPE_CHECKING:
    from overlong.conformance.vectors.families.family import Family
    from overlong.conformance.vectors.vector import Vector

FAMILIES: dict[str, Family] = {
    family.category: family
    for family in (
        *(lawful.WELL_FORMED, lawful.NUL, lawful.SIGNATURE, lawful.NONCHARACTER, lawful.SECURITY),
        *(unlawful.OVERLONG, unlawful.SURROGATE, unlawful.OUT_OF_RANGE, unlawful.OBSOLETE, unlawful.IMPOSSIBLE),
        *(broken.TRUNCATED, broken.INTERRUPTED, broken.UNEXPECTED_TAIL, broken.MAXIMAL_SUBPART),
        *(placed.CONCATENATION, placed.RESYNCHRONISATION, placed.LONG_RUN, placed.BOUNDARY),
        regression.FAMILY,
    )
}
"""All families. The order counts: if two families have the same input, the first keeps it."""


@cache
def all_vectors() -> tuple[Vector, ...]:
    """All vectors, each input once: the first family keeps it, and adds the names from the other families."""
    once: dict[tuple[bytes, tuple[int, ...] | None], Vector] = {}
    for family in FAMILIES.values():
        for vector in family.vectors():
            key = vector.octets, vector.chunks
            once[key] = _together(once[key], vector) if key in once else vector
    return tuple(once.values())


def _together(first: Vector, again: Vector) -> Vector:
    """The first vector, with the other's record of decoders that got it wrong."""
    cases = tuple(dict.fromkeys((*first.cases, *again.cases)))
    if not again.decoder:
        return replace(first, cases=cases)
    return replace(
        first,
        cases=cases,
        comment=f"{first.comment}; {again.decoder}: {again.comment}",
        decoder=", ".join(filter(None, (first.decoder, again.decoder))),
        references=tuple(dict.fromkeys((*first.references, *again.references))),
    )
