"""Every string of up to four classes of octets at every offset: what goes wrong at an edge of a block of octets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import CONTINUATION, Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import class_strings, filled, fillers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

LONGEST = 4
"""Octets of a placed string: those of the longest character of RFC 3629."""
BOTH_ENDS = 2
"""Octets of a placed string up to which each class goes by its least and its greatest octet."""
WITH_A_TAIL = 3
"""Octets of a placed string that has text behind it: the text is what its fourth octet would be."""
TAIL = 64
"""Octets behind a placed string, where there are any: a block of the widest vector unit."""
NO_OCTET = 0xFF
"""An octet that occurs in no well-formed string."""


def _grids(profile: Profile, furthest: int) -> Iterator[Grid]:
    automaton = profile.dialect.automaton
    strings = [class_strings(automaton, length, ends=length <= BOTH_ENDS) for length in range(1, LONGEST + 1)]
    for filler in fillers(automaton):
        before = Axis(
            "text before it",
            tuple(filled(filler, offset) for offset in range(furthest + 1)),
            tuple((len(filler), offset) for offset in range(furthest + 1)),
            ("octets of the filler", "offset"),
        )
        yield Grid((before, Axis("placed string", sum(strings, ()))), around=CONTINUATION)
        tail = Axis("text behind it", (filler * (TAIL // len(filler)),))
        yield Grid((before, Axis("placed string", sum(strings[:WITH_A_TAIL], ())), tail), around=NO_OCTET)


PLACED = KindOfPlan(
    "placed",
    "every string of up to four classes of octets at every offset from 0 to {}, between characters of every length",
    *(_grids, 0, 64, 4096),
)
