"""Plans of two calls: does an earlier call affect the next?"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.text import class_strings, filled
from overlong.conformance.vectors.complete import strings_for
from overlong.conformance.vectors.pieces import fillers, pieces
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile


def _order(profile: Profile, _number: int) -> Iterator[Grid]:
    """State left by an earlier call: the complete suite, right after strings that end in every state."""
    automaton = profile.dialect.automaton
    words = (b"", *characterising_set(automaton))
    before = dict.fromkeys(map(b"".join, product(access_words(automaton), words)))
    earlier = Axis("earlier string", tuple(before))
    short = class_strings(automaton, 1) + class_strings(automaton, 2)  # a character, then an error
    strings = dict.fromkeys((*strings_for(profile.dialect), *short))
    yield Grid((earlier, Axis("string", tuple(strings))), earlier=1)


ORDER = KindOfPlan("order", "every string of the complete suite, right after one that ends in each state", _order)

_HEADS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 1024)
"""The octets of text with which an earlier and a later string may begin."""


def _history(profile: Profile, _number: int) -> Iterator[Grid]:
    """The beginnings, lengths and ends of the earlier call; one of the two strings is well-formed, the other is not."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    first, *_, last = fillers(automaton)
    heads = tuple(dict.fromkeys(filled(filler, many) for many in _HEADS for filler in (first, last)))
    right = tuple(dict.fromkeys((*some.characters, *(filled(first, many) for many in range(9)))))
    wrong = some.kinds
    for before, now in ((right, wrong), (wrong, right), (wrong, wrong)):
        yield Grid(
            (Axis("earlier text", heads), Axis("earlier end", before), Axis("text", heads), Axis("end", now)),
            earlier=2,
        )


HISTORY = KindOfPlan(
    "history", "right and wrong ends of text of many lengths, right after one that begins like it", _history
)
