"""The shift automaton: a whole column of the transition table in one 64-bit word.

Theory of operation (Per Vognsen, "Shift-based DFAs",
https://gist.github.com/pervognsen/218ea17743e1442e59bb60d29b1aa725). State ``i`` is named by its shift, ``6 * i``. The
row of an octet holds, at bits ``6 * i`` and up, the shift of the state that the octet leads to from state ``i``. So one
step is ``state = row[octet] >> (state & 63)``. The bits above the six need not be cleared, since processors mask the
count of a shift by 63 anyway. The load of the row does not depend on the state; the only dependency from octet to octet
is one shift. Ten states fit into 64 bits; RFC 3629 has nine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference.automaton import Automaton

WIDTH = 6
"""The number of bits of a shift."""
MASK = (1 << WIDTH) - 1
MOST = 64 // WIDTH
"""The greatest number of states that fit."""


@dataclass(frozen=True)
class ShiftAutomaton:
    """An automaton of at most ten states, whose states are numbered by their shifts; 0 is the start."""

    rows: tuple[int, ...]
    """For each octet a 64-bit word: at the shift of each state, the shift of the next state."""
    accepting: frozenset[int]
    """Shifts of the accepting states."""
    dead: int | None
    """The shift of the state from which no word is accepted, if there is one."""

    @classmethod
    def of(cls, automaton: Automaton) -> ShiftAutomaton:
        """The same automaton.

        Raises:
            ValueError: it has more than ten states.
        """
        if len(automaton) > MOST:
            raise ValueError(
                f"an automaton of {len(automaton)} states does not fit a shift automaton, whose 64-bit rows hold {MOST}"
            )
        return cls(
            tuple(
                sum(WIDTH * row[octet] << WIDTH * state for state, row in enumerate(automaton.table))
                for octet in OCTETS
            ),
            frozenset(WIDTH * state for state, accepts in enumerate(automaton.accepting) if accepts),
            None if automaton.dead is None else WIDTH * automaton.dead,
        )

    def run(self, octets: Iterable[int], shift: int = 0) -> int:
        """The shift of the state after ``octets``."""
        for octet in octets:
            shift = self.rows[octet] >> (shift & MASK)
        return shift & MASK

    def accepts(self, octets: Iterable[int]) -> bool:
        return self.run(octets) in self.accepting
