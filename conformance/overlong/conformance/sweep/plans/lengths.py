"""Every length: text that is well-formed, or wrong at its very end, or at its very beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import class_strings, filled, fillers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

_FAR = tuple(near + by for power in range(10, 17) for near in (1 << power,) for by in (-4, -3, -2, -1, 0, 1, 2, 3, 4))
"""Lengths that are asked besides: around powers of two, where counters and buffers end."""


def _grids(profile: Profile, longest: int) -> Iterator[Grid]:
    automaton = profile.dialect.automaton
    ends = (b"", *class_strings(automaton, 1), *class_strings(automaton, 2))
    heads = (b"", *class_strings(automaton, 1))
    near = range(longest + 1)
    far = [length for length in _FAR if length > longest]
    for filler in fillers(automaton):
        for lengths, some in ((near, ends), (far, heads)):
            if lengths:
                text = Axis(
                    "text",
                    tuple(filled(filler, length) for length in lengths),
                    tuple((len(filler), length) for length in lengths),
                    ("octets of the filler", "length"),
                )
                yield Grid((text, Axis("end", some)))
                yield Grid((Axis("head", heads[1:]), text))


LENGTHS = KindOfPlan(
    "lengths",
    "text of every length from 0 to {} octets and around powers of two, and an error at its end or its beginning",
    *(_grids, 0, 1024, 4096),
)
