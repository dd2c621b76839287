"""What an earlier call leaves behind: the complete suite, right after strings that end in every state."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import class_strings
from overlong.conformance.vectors.suites.complete import strings_for
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile


def _grids(profile: Profile, _number: int) -> Iterator[Grid]:
    automaton = profile.dialect.automaton
    words = (b"", *characterising_set(automaton))
    before = dict.fromkeys(map(b"".join, product(access_words(automaton), words)))
    earlier = Axis("earlier string", tuple(before))
    short = class_strings(automaton, 1) + class_strings(automaton, 2)  # a character, and then an error behind it
    strings = dict.fromkeys((*strings_for(profile.dialect), *short))
    yield Grid((earlier, Axis("string", tuple(strings))), earlier=1)


ORDER = KindOfPlan("order", "every string of the complete suite, right after one that ends in each state", _grids)
