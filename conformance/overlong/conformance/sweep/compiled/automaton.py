# pyright: basic
"""The reference's automaton, read in compiled code: for each octet one load that depends on no other, and one shift.

All transitions of an octet stand in one word, and the state is how far that is to be shifted, as in
:mod:`overlong.reference.shift`. Here a state is a multiple of four that no shift exceeds, so there are :data:`STATES`
at most.
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
"""From a state to the next one."""
_MASK = STEP * STATES
"""The bits of a state."""


class PackedAutomaton:
    """An automaton as numbers."""

    def __init__(self, automaton: Automaton) -> None:
        """Pack an automaton of :data:`STATES` states at most.

        Raises:
            ValueError: it has more.
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
        """:class:`AutomatonWords`; compiled code is told their address."""


class AutomatonWords(NamedTuple):
    """The tables of an automaton that compiled code reads."""

    transitions: int
    """Address of a word for each octet: at each state, shifted by two more, the next state."""
    accepting: int
    """A bit at each state that accepts."""
    dead: int
    """The state that no string leaves, or -1."""
    plain: int
    """A bit in each octet of a word: octets without them keep the start, so such a word can be passed; 0: none can."""


get, _ = fields(AutomatonWords._fields)


def _shifted(_context: Any, _number: Any, _places: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = builder.and_(given[1], ir.Constant(ir.IntType(64), 63))  # as the machine does anyway
        return builder.lshr(given[0], places)

    return types.int64(types.int64, types.int64), emit


shifted: Any = intrinsic(_shifted)
"""A word, shifted to the right by fewer than 64 places; zeros come in."""


@register_jitable
def accepts(state: int, accepting: int) -> int:
    """Whether a state does: 1 or 0."""
    return shifted(accepting, state) & 1  # type: ignore[no-any-return]


@register_jitable
def step(state: int, octet: int, transitions: int) -> int:
    """The next state."""
    return shifted(load64(transitions + WORD * octet), state) & _MASK  # type: ignore[no-any-return]


@register_jitable
def read(address: int, length: int, state: int, automaton: int) -> tuple[int, int]:
    """The state behind so many octets, and how many were read when one last accepted; -1: none did, not even the first.

    Args:
        address: of the octets.
        length: how many there are.
        state: the first one.
        automaton: address of :class:`AutomatonWords`.
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
    """The same in one number: bit 0 is 1 if the state behind them accepts, the others say where one last did."""
    state, seen = read(address, length, state, automaton)
    return seen << 1 | accepts(state, get(automaton, "accepting"))
