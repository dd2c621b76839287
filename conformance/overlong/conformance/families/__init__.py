"""Every family of vectors, each a module with one kind of fault (or lawful edge) in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.families import (
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
    from overlong.conformance.families.family import Family
    from overlong.conformance.vector import Vector

FAMILIES: dict[str, Family] = {
    module.FAMILY.category: module.FAMILY
    for module in (
        well_formed,
        nul,
        signature,
        noncharacter,
        boundary,
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
        regression,
    )
}


@cache
def all_vectors() -> tuple[Vector, ...]:
    """All of them. The first family that has an input keeps it; regressions are all kept, whoever else has them."""
    seen: set[tuple[str, bytes, tuple[int, ...] | None]] = set()
    result: list[Vector] = []
    for family in FAMILIES.values():
        owner = family.category if family is regression.FAMILY else ""
        for vector in family.vectors():
            key = owner, vector.octets, vector.chunks
            if key not in seen:
                seen.add(key)
                result.append(vector)
    return tuple(result)
