"""Every family of vectors, each a module with one kind of fault (or lawful edge) in it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.vectors.families import (
    boundary,
    concatenation,
    impossible,
    interrupted,
    long_run,
    maximal_subpart,
    noncharacter,
    nul,
    obsolete,
    out_of_range,
    overlong,
    regression,
    resynchronisation,
    security,
    signature,
    surrogate,
    truncated,
    unexpected_tail,
    well_formed,
)

if TYPE_CHECKING:
    from overlong.conformance.vectors.families.family import Family
    from overlong.conformance.vectors.vector import Vector

FAMILIES: dict[str, Family] = {
    module.FAMILY.category: module.FAMILY
    for module in (
        well_formed,
        nul,
        signature,
        noncharacter,
        security,
        overlong,
        surrogate,
        out_of_range,
        obsolete,
        impossible,
        truncated,
        interrupted,
        unexpected_tail,
        maximal_subpart,
        concatenation,
        resynchronisation,
        long_run,
        boundary,
        regression,
    )
}


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
