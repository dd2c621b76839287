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

from overlong.conformance.sweep.compiled.memory import load8, load64

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.sweep.compiled.tables import Array
    from overlong.reference.automaton import Automaton

STATES = 15
_STEP = 4
"""Of a state to the next one."""
_MASK = _STEP * STATES
"""Of the bits of a state."""
_WORD = 8


class PackedAutomaton(NamedTuple):
    """An automaton as numbers."""

    rows: Array
    """``[octet]``: at each state, shifted by two more, the next state."""
    accepting: int
    """A bit at each state that accepts."""
    dead: int
    """The state that no string leaves, or -1."""
    plain: int
    """A bit in each octet of a word: octets without them keep the start, so such a word can be passed; 0: none can."""

    @classmethod
    def of(cls, automaton: Automaton) -> PackedAutomaton:
        """Of an automaton of :data:`STATES` states at most.

        Raises:
            ValueError: it has more.
        """
        if len(automaton) > STATES:
            raise ValueError(f"the automaton has {len(automaton)} states, and there is room for {STATES}")
        rows = np.zeros(256, np.uint64)
        for state, nexts in enumerate(automaton.table):
            rows |= np.array(nexts, np.uint64) << np.uint64(_STEP * state + 2)
        accepting = sum(1 << _STEP * state for state, accepts in enumerate(automaton.accepting) if accepts)
        stays = [to == 0 for to in automaton.table[0]] if automaton.accepting[0] else [False] * 256
        bits = (1 << bit for bit in reversed(range(8)))
        plain = next((bit for bit in bits if all(stays[octet] for octet in range(256) if not octet & bit)), 0)
        dead = -1 if automaton.dead is None else _STEP * automaton.dead
        return cls(rows.view(np.int64), accepting, dead, int.from_bytes(bytes([plain]) * _WORD, "little", signed=True))


def _shifted(_context: Any, _number: Any, _places: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = builder.and_(given[1], ir.Constant(ir.IntType(64), 63))  # what the machine does anyway
        return builder.lshr(given[0], places)

    return types.int64(types.int64, types.int64), emit


shifted: Any = intrinsic(_shifted)
"""A word, shifted to the right by fewer than 64 places; zeros come in."""


@register_jitable
def read(address: int, length: int, rows: int, accepting: int, dead: int, plain: int) -> tuple[int, bool]:
    """Where the automaton last accepted, and whether it accepts all; the others are of :class:`PackedAutomaton`."""
    place = state = seen = 0
    last = length - _WORD if plain else -1
    while place < length:
        if state == 0 and place <= last:
            while place <= last and load64(address + place) & plain == 0:
                place += _WORD
            seen = place
            if place == length:
                break
        state = shifted(load64(rows + _WORD * load8(address + place)), state) & _MASK
        place += 1
        if state == dead:
            return seen, False
        if shifted(accepting, state) & 1:
            seen = place
    return seen, bool(shifted(accepting, state) & 1)
