"""Every two characters across every boundary of a block: what is carried from one block to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import class_strings, filled, fillers
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

BLOCKS = (8, 16, 32, 64, 128)
"""Octets in the blocks of decoders that read more than one at a time."""
_REACH = 8
"""Octets before a boundary at which a pair of the longest characters can begin and still reach it."""
_TAIL = 16


def _characters(automaton: Automaton) -> tuple[bytes, ...]:
    """The first and the last of each kind of character, also cut short; out of its range; and every class alone."""
    found: dict[bytes, None] = {}
    for ranges in well_formed_products(automaton):
        for whole in (bytes(octets[0] for octets in ranges), bytes(octets[-1] for octets in ranges)):
            for end in range(1, len(ranges) + 1):
                found.setdefault(whole[:end])
        found.update(dict.fromkeys(_out_of_range(automaton, bytes(octets[0] for octets in ranges))))
    found.update(dict.fromkeys(class_strings(automaton, 1)))
    found.pop(b"\0", None)  # says something of its own to many decoders
    return tuple(found)


def _out_of_range(automaton: Automaton, whole: bytes) -> Iterator[bytes]:
    """A character with another tail octet in its second place, where that is too much or too little."""
    tails = {octet for octet, to in enumerate(automaton.table[automaton.run(whole[:-1])]) if automaton.accepting[to]}
    for octets in automaton.classes:
        begun = whole[:1] + bytes([octets.least])
        if len(whole) > len(begun) and octets.least in tails and automaton.run(begun) == automaton.dead:
            yield begun + whole[2:]


def _grids(profile: Profile, _number: int) -> Iterator[Grid]:
    automaton = profile.dialect.automaton
    characters = _characters(automaton)
    offsets = sorted({block - back for block in BLOCKS for back in range(_REACH + 1)})
    for filler in fillers(automaton):
        before = Axis(
            "text before it",
            tuple(filled(filler, offset) for offset in offsets),
            tuple((len(filler), offset) for offset in offsets),
            ("octets of the filler", "offset"),
        )
        tail = Axis("text behind it", (b"", filled(filler, _TAIL)))
        yield Grid((before, Axis("first character", characters), Axis("second character", characters), tail))


PAIRS = KindOfPlan("pairs", "every two characters, whole or cut short, at every boundary of 8 to 128 octets", _grids)
