"""The shift automaton: a whole column of the transition table in one 64-bit word.

Theory of operation (Per Vognsen, "Shift-based DFAs",
https://gist.github.com/pervognsen/218ea17743e1442e59bb60d29b1aa725). State ``i`` is named by its shift, ``4 * i``. The
row of an octet holds, at bits ``4 * i + 2`` and up, the number of the state that the octet leads to from state ``i``,
so that shifting it by ``4 * i`` leaves that state's own shift in bits 2 to 5. One step is
``state = row[octet] >> state & 60``. The load of the row does not depend on the state; the only dependency from octet
to octet is one shift and one mask. Fifteen states fit into 64 bits; RFC 3629 has nine.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference.automaton import Automaton

STEP = 4
"""The difference between the shifts of consecutive states."""
MOST = 15
"""The greatest number of states that fit."""
_MASK = STEP * MOST
_WORD = 8


class AutomatonWords(NamedTuple):
    """What the core reads of an automaton (``core/automaton.h``), each a word of 64 bits."""

    transitions: int
    """The address of the rows."""
    accepting: int
    """A bit for each accepting state, at its shift."""
    dead: int
    """The shift of the state from which no word is accepted, or -1."""
    plain: int
    """A bit in each octet of a word: octets without it stay in the start state, which accepts, so a loop can skip words
    of them; 0: it can skip none."""


class ShiftAutomaton:
    """An automaton of at most fifteen states, whose states are numbered by their shifts; 0 is the start."""

    def __init__(self, automaton: Automaton) -> None:
        """Write the rows of an automaton.

        Raises:
            ValueError: it has more than fifteen states.
        """
        if len(automaton) > MOST:
            raise ValueError(
                f"an automaton of {len(automaton)} states does not fit a shift automaton, whose 64-bit rows hold {MOST}"
            )
        self._count = len(automaton)
        self.rows = array(
            "Q", [sum(row[octet] << STEP * state + 2 for state, row in enumerate(automaton.table)) for octet in OCTETS]
        )
        """For each octet a 64-bit word: two bits above the shift of each state, the number of the next."""
        self.accepting = frozenset(STEP * state for state, accepts in enumerate(automaton.accepting) if accepts)
        """Shifts of the accepting states."""
        self.dead = None if automaton.dead is None else STEP * automaton.dead
        """The shift of the state from which no word is accepted, if there is one."""
        self.words = array(
            "q",
            AutomatonWords(
                self.rows.buffer_info()[0],
                sum(1 << shift for shift in self.accepting),
                -1 if self.dead is None else self.dead,
                int.from_bytes(bytes([_plain(automaton)]) * _WORD, "little", signed=True),
            ),
        )
        """:class:`AutomatonWords`; the core gets their address."""

    def __len__(self) -> int:
        """The number of states."""
        return self._count

    @property
    def address(self) -> int:
        """Where the words are. Whoever passes it on keeps this object alive."""
        return self.words.buffer_info()[0]

    def run(self, octets: Iterable[int], shift: int = 0) -> int:
        """The shift of the state after ``octets``."""
        for octet in octets:
            shift = self.rows[octet] >> shift & _MASK
        return shift

    def accepts(self, octets: Iterable[int]) -> bool:
        return self.run(octets) in self.accepting


def _plain(automaton: Automaton) -> int:
    """The highest bit such that octets without it stay in the start, which accepts; 0: there is none."""
    if not automaton.accepting[0]:
        return 0
    moves = [octet for octet, to in enumerate(automaton.table[0]) if to != 0]
    return next((1 << bit for bit in reversed(range(8)) if all(octet >> bit & 1 for octet in moves)), 0)
