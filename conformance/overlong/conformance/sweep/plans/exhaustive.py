"""All strings of up to so many octets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import every_octet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

_PLACES = ("first octet", "second octet", "third octet", "fourth octet", "fifth octet", "sixth octet")


def _grids(_profile: Profile, longest: int) -> Iterator[Grid]:
    for length in range(1, longest + 1):
        yield Grid(tuple(Axis(place, every_octet()) for place in _PLACES[:length]))


EXHAUSTIVE = KindOfPlan("exhaustive", "every string of 1 to {} octets", _grids, 1, 3, 6)
