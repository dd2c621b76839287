# pyright: basic
"""The reference's automaton as words: for each octet one load that depends on no other, and one shift.

One word holds all transitions of an octet, and the state is the shift that selects one, as in
:mod:`overlong.reference.shift`. Here a state is a multiple of four and a possible shift, so there are at most
:data:`STATES` states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlong.conformance.sweep.compiled.task import WORD

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton

STATES = 15
STEP = 4
"""The difference between consecutive states."""


class PackedAutomaton:
    """An automaton as numbers."""

    def __init__(self, automaton: Automaton) -> None:
        """Pack an automaton of at most :data:`STATES` states.

        Raises:
            ValueError: it has more states.
        """
        if len(automaton) > STATES:
            raise ValueError(f"the automaton has {len(automaton)} states, and there is room for {STATES}")
        rows = np.zeros(256, np.uint64)
        for state, nexts in enumerate(automaton.table):
            rows |= np.array(nexts, np.uint64) << np.uint64(STEP * state + 2)
        stays = [to == 0 for to in automaton.table[0]] if automaton.accepting[0] else [False] * 256
        bits = (1 << bit for bit in reversed(range(8)))
        plain = next((bit for bit in bits if all(stays[octet] for octet in range(256) if not octet & bit)), 0)
        self.transitions, self.states = rows, len(automaton)
        self.words = np.array(
            AutomatonWords(
                rows.ctypes.data,
                sum(1 << STEP * state for state, accepts in enumerate(automaton.accepting) if accepts),
                -1 if automaton.dead is None else STEP * automaton.dead,
                int.from_bytes(bytes([plain]) * WORD, "little", signed=True),
            ),
            np.int64,
        )
        """:class:`AutomatonWords`; compiled code gets their address."""


class AutomatonWords(NamedTuple):
    """The tables of an automaton that compiled code reads."""

    transitions: int
    """The address of a word for each octet: the field at each state's shift is the next state, two bits higher."""
    accepting: int
    """A bit for each accepting state, at its shift."""
    dead: int
    """The state that no string leaves, or -1."""
    plain: int
    """A bit in each octet of a word: octets without it stay in the start state, so the loop can skip words of them; 0:
    it can skip none."""
