"""The complete suite to any depth, made as it is asked: the W-method (Vasilevskii 1973, Chow 1978).

An access word for every state, then every string of up to ``depth + 1`` octets, then every word of a
characterising set. A decoder whose verdict is computed by some deterministic automaton of at most ``n + depth``
states passes all of it if and only if it accepts exactly the well-formed strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.pieces import every_octet
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile


def _grids(profile: Profile, depth: int) -> Iterator[Grid]:
    automaton = profile.dialect.automaton
    access = Axis("access word", access_words(automaton))
    words = Axis("suffix", characterising_set(automaton))
    for length in range(depth + 2):
        between = [Axis(f"octet {number} after it", every_octet()) for number in range(1, length + 1)]
        yield Grid((access, *between, words))


DEPTH = KindOfPlan(
    "depth", "no decoder of up to {states} states that differs from {speaks} passes this", _grids, 0, 1, 4
)
