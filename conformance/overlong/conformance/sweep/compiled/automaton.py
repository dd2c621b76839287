# pyright: basic
"""The reference's automaton in compiled code: for each octet one load that depends on no other, and one shift.

One word holds all transitions of an octet, and the state is the shift that selects one, as in
:mod:`overlong.reference.shift`. Here a state is a multiple of four and a possible shift, so there are at most
:data:`STATES` states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from overlong.conformance.targets.adapters.compiled.memory import WORD, fields, load8, load64

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.reference.automaton import Automaton

STATES = 15
STEP = 4
"""The difference between consecutive states."""
_MASK = STEP * STATES
"""The bits of a state."""


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
        self._transitions, self.states = rows, len(automaton)
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


get, _ = fields(AutomatonWords._fields)


def _shifted(_context: Any, _number: Any, _places: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = builder.and_(given[1], ir.Constant(ir.IntType(64), 63))  # the machine's own rule
        return builder.lshr(given[0], places)

    return types.int64(types.int64, types.int64), emit


shifted: Any = intrinsic(_shifted)
"""A word, shifted right by fewer than 64 places and filled with zeros."""


@register_jitable
def accepts(state: int, accepting: int) -> int:
    """1 if a state accepts, else 0."""
    return shifted(accepting, state) & 1  # type: ignore[no-any-return]


@register_jitable
def step(state: int, octet: int, transitions: int) -> int:
    """The next state."""
    return shifted(load64(transitions + WORD * octet), state) & _MASK  # type: ignore[no-any-return]


@register_jitable
def read(address: int, length: int, state: int, automaton: int) -> tuple[int, int]:
    """The state after some octets, and the octets read when a state last accepted; -1: no state did, nor the first.

    Args:
        address: that of the octets.
        length: their number.
        state: the first one.
        automaton: the address of :class:`AutomatonWords`.
    """
    transitions, accepting = get(automaton, "transitions"), get(automaton, "accepting")
    dead, plain = get(automaton, "dead"), get(automaton, "plain")
    place, seen = 0, accepts(state, accepting) - 1
    last = length - WORD if plain else -1
    while place < length:
        if state == 0 and place <= last:
            while place <= last and load64(address + place) & plain == 0:
                place += WORD
            seen = place
            if place == length:
                break
        state = step(state, load8(address + place), transitions)
        place += 1
        if state == dead:
            break
        if accepts(state, accepting):
            seen = place
    return state, seen


@register_jitable
def verdict(address: int, length: int, state: int, automaton: int) -> int:
    """The same in one number: bit 0 is 1 if the final state accepts, the other bits are the last accepting offset."""
    state, seen = read(address, length, state, automaton)
    return seen << 1 | accepts(state, get(automaton, "accepting"))
