# pyright: basic
"""The packed automaton (``packed.py``) in compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from overlong.conformance.sweep.compiled.packed import STATES, STEP, AutomatonWords
from overlong.conformance.targets.adapters.compiled import WORD
from overlong.conformance.targets.adapters.compiled.memory import fields, load8, load64, store64

if TYPE_CHECKING:
    from collections.abc import Callable

_MASK = STEP * STATES
"""The bits of a state."""

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


def read_choices(
    _nothing: Any, automaton: int, octets: int, starts: int, verdicts: int, states: int, choices: int
) -> None:
    """Read every choice of an axis from every state; addresses of arrays of an automaton and of a ``PieceTable``."""
    for start in range(states):
        for choice in range(choices):
            first, end = load64(starts + WORD * choice), load64(starts + WORD * choice + WORD)
            found = verdict(octets + first, end - first, STEP * start, automaton)
            store64(verdicts + WORD * (start * choices + choice), found)
