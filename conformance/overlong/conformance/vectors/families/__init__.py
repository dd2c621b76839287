"""Every family of vectors, each with one kind of fault (or lawful edge) in it; a module has those of one theme."""

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
"""In this order: of two families that have an input the first keeps it."""


@cache
def all_vectors() -> tuple[Vector, ...]:
    """All of them, each input once: the first family that has it keeps it, and gains the names that others give it."""
    once: dict[tuple[bytes, tuple[int, ...] | None], Vector] = {}
    for family in FAMILIES.values():
        for vector in family.vectors():
            key = vector.octets, vector.chunks
            once[key] = _together(once[key], vector) if key in once else vector
    return tuple(once.values())


def _together(first: Vector, again: Vector) -> Vector:
    """The first, with what the other knows of decoders that got it wrong."""
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
