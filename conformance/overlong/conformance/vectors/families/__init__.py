"""All families of vectors. Each has one kind of fault (or lawful edge); a module has the families of one theme."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from overlong.conformance.vectors.families import characters, faults
from overlong.conformance.vectors.families.family import Family
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator


def _regressions() -> Iterator[Vector]:
    """The vectors of ``regression.toml``, whose first lines say what its entries mean."""
    text = (files("overlong.conformance.vectors.families") / "regression.toml").read_text("ascii")
    for name, case in tomllib.loads(text).items():
        for octets, sentence in case["vectors"].items():
            spelt = re.sub(r"(..)\*(\d+)", lambda run: run[1] * int(run[2]), octets)
            yield replace(
                Vector.from_id(f"regression/{spelt}"),
                comment=sentence,
                cases=(f"regression/{name}",),
                decoder=case["decoder"],
                references=tuple(case["records"]),
            )


FAMILIES: dict[str, Family] = {
    family.category: family
    for family in (
        *(characters.WELL_FORMED, characters.NUL, characters.SIGNATURE, characters.NONCHARACTER, characters.SECURITY),
        *(faults.OVERLONG, faults.SURROGATE, faults.OUT_OF_RANGE, faults.OBSOLETE, faults.IMPOSSIBLE),
        *(faults.TRUNCATED, faults.INTERRUPTED, faults.UNEXPECTED_TAIL, faults.MAXIMAL_SUBPART),
        *(characters.CONCATENATION, characters.RESYNCHRONISATION, characters.LONG_RUN, characters.BOUNDARY),
        Family("regression", "real decoders got these wrong", [_regressions]),
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
