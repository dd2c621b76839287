"""The edges of an automaton that can read all octets of a block at once (``core/decoding.c``).

Theory of operation. In the set of state t are the octets of a block that lead to t. With the set C[s, t] of the octets
that lead from s to t, wherever they stand::

    set[t] = union over s of (set[s] moved on by one octet) and C[s, t]

The equations are circular if a state depends on itself. No state does if the automaton meets two conditions, which
:meth:`Blocks.of` checks:

1. An octet that is live from the start is dead from every other state. So the start needs no set: if such an octet
   is live at all, the automaton was in its start.
2. Every path from a live state back to itself passes through the start. So the other states have an order in which
   each set needs only those before it.

Why the answer is exact: let octet i be the first that kills the automaton. Each octet before it is live. So, by
condition 1, the octets that are live from the start were read in the start, and no others were: every set is right.
The automaton is either in the start or in the one state whose set has octet i - 1, and octet i is not live there.
So octet i is not among the live ones that the core finds, and those before it are. Octets beyond it mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS, OctetClass

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton

MOST_ENDS = 30
"""The most ends of ranges that the core keeps sets for."""


class Edge(NamedTuple):
    """A range of octets that leads from one state to another."""

    state: int
    to: int
    low: int
    """The index of the range's least octet in the ends."""
    stop: int
    """The index of the octet after its greatest."""


class Blocks(NamedTuple):
    """The edges between live states. State 0 is the start; each other state leads to later ones, or to the start."""

    states: int
    ends: tuple[int, ...]
    """The octets at which ranges start or stop; the next two indices mean 0 and 256."""
    edges: tuple[Edge, ...]
    """In the order of their first state."""

    @classmethod
    def of(cls, automaton: Automaton) -> Blocks:
        """Raises:
        ValueError: the automaton does not meet the conditions above, or has too many ranges.
        """
        order = [0, *_ordered(automaton)]
        number = {state: new for new, state in enumerate(order)}
        ranges = [
            (number[state], number[to], run.low, run.high + 1)
            for state in order
            for to in sorted(set(automaton.table[state]) & set(order))
            for run in OctetClass(tuple(octet for octet in OCTETS if automaton.table[state][octet] == to)).ranges
        ]
        ends = sorted({end for edge in ranges for end in edge[2:]} - {OCTETS.start, OCTETS.stop})
        if len(ends) > MOST_ENDS:
            raise ValueError(f"its ranges of octets have {len(ends)} ends; the most are {MOST_ENDS}")
        index = {end: place for place, end in enumerate([*ends, OCTETS.start, OCTETS.stop])}
        edges = (Edge(state, to, index[low], index[stop]) for state, to, low, stop in ranges)
        return cls(len(order), tuple(ends), tuple(edges))


def _ordered(automaton: Automaton) -> list[int]:
    """The live states within characters, in an order in which each comes before those that it leads to.

    Raises:
        ValueError: the automaton does not meet the conditions.
    """
    states = [state for state in range(1, len(automaton)) if state != automaton.dead]
    begins = [octet for octet in OCTETS if automaton.table[0][octet] != automaton.dead]
    if any(automaton.table[state][octet] != automaton.dead for state in states for octet in begins):
        raise ValueError("an octet that may begin a character may also stand within one")
    order: list[int] = []
    while len(order) < len(states):
        left = [state for state in states if state not in order]
        reached = {to for state in left for to in automaton.table[state]}
        free = [state for state in left if state not in reached]
        if not free:
            raise ValueError("a cycle of states does not pass through the start")
        order += free
    return order
