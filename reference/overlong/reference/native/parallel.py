# pyright: basic
"""The automaton on 64 octets at once: a bit for each octet, a word for each state.

Theory of operation (bit-parallel simulation of automata: Baeza-Yates and Gonnet 1992; on transposed text: Cameron's
Parabix, 2008). In the word of state t, bit i says that the automaton is in t after octet i. With the word C[s, t] of
the octets that lead from s to t::

    word[t] = OR over s of (word[s] << 1) & C[s, t]

where bit 0 of the shifted word comes from the 64 octets before. The equations are circular if a state depends on
itself. No state does if the automaton meets two conditions, which :func:`edges` checks:

1. An octet that is live from the start is dead from every other state. So the start needs no word: if such an octet
   is live at all, the automaton was in its start.
2. Every path from a live state back to itself passes through the start. So the other states have an order in which
   each word needs only those before it.

Why the answer is exact: let octet i be the first that kills the automaton. Each octet before it is live. So, by
condition 1, the octets that are live from the start were read in the start, and no others were: every word is right.
The automaton is either in the start or in the one state whose word has bit i - 1, and octet i is not live there.
So bit i of :func:`step`'s first word is 0, and the bits before it are 1. The bits beyond it mean nothing.

The words C[s, t] come from comparing octets with the ends of ranges, 64 at once in whatever vectors the processor has;
the first octet's bit is the lowest, as on any processor that Numba compiles for (all are little-endian).

Intrinsics and the loop that uses them are in one file, because Numba tells by a file's time stamp whether its cached
machine code is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from overlong.reference.automaton import OCTETS, OctetClass
from overlong.reference.native.compiled import compiled
from overlong.reference.shift import MASK

if TYPE_CHECKING:
    from overlong.reference.automaton import Automaton

OCTETS_AT_ONCE = 64
START = 0
Search = Callable[..., tuple[int, int, bool]]

_MASK, _LIVE = np.uint64(MASK), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_WORD, _VECTOR = ir.IntType(64), ir.VectorType(ir.IntType(8), OCTETS_AT_ONCE)
_NONE, _ALL = _WORD(0), _WORD(-1)


def edges(automaton: Automaton) -> str:
    """The transitions of a live automaton as text: ``FROM TO LOW-HIGH,LOW-HIGH;…``, octets in hexadecimal digits.

    Those from the start come first; those from any other state come after all that lead to it. It is text because Numba
    can compile text in as a constant, and can recognise cached machine code by it.

    Raises:
        ValueError: the automaton does not meet the conditions above, or accepts in a state other than its start.
    """
    dead = automaton.dead
    if dead is None or [state for state in range(len(automaton)) if automaton.accepting[state]] != [START]:
        raise ValueError("an automaton that can run on 64 octets at once accepts in its start only, and can die")
    others = [state for state in range(len(automaton)) if state not in {START, dead}]
    begins = [octet for octet in OCTETS if automaton.table[START][octet] != dead]
    if any(automaton.table[state][octet] != dead for state in others for octet in begins):
        raise ValueError(
            "an octet that may begin a character may also stand within one; such automata take one octet at a time"
        )
    text: list[str] = []
    for state in [START, *_ordered(automaton, others)]:
        row = automaton.table[state]
        for to in sorted({*row} - {dead}):
            octets = OctetClass(tuple(octet for octet in OCTETS if row[octet] == to))
            text.append(f"{state} {to} " + ",".join(f"{r.low:02X}-{r.high:02X}" for r in octets.ranges))
    return ";".join(text)


def _ordered(automaton: Automaton, states: list[int]) -> list[int]:
    """``states`` in an order in which each comes before those it leads to."""
    order: list[int] = []
    while len(order) < len(states):
        left = [state for state in states if state not in order]
        reached = {to for state in left for to in automaton.table[state]}
        free = [state for state in left if state not in reached]
        if not free:
            raise ValueError("a cycle does not pass through the start; such automata take one octet at a time")
        order += free
    return order


def _parsed(program: str) -> list[tuple[int, int, list[tuple[int, int]]]]:
    result: list[tuple[int, int, list[tuple[int, int]]]] = []
    for edge in program.split(";"):
        state, to, runs = edge.split()
        ends = [run.split("-") for run in runs.split(",")]
        result.append((int(state), int(to), [(int(low, 16), int(high, 16)) for low, high in ends]))
    return result


class _Members:
    """Emits code for words that mark which of 64 octets are in a set."""

    def __init__(self, builder: Any, address: Any) -> None:
        self._builder = builder
        self._octets = builder.load(builder.inttoptr(address, _VECTOR.as_pointer()), align=1)
        self._at_least: dict[int, Any] = {OCTETS.start: _ALL, OCTETS.stop: _NONE}

    def of(self, runs: list[tuple[int, int]]) -> Any:
        build, result = self._builder, _NONE
        for low, high in runs:
            within = build.and_(self._from(low), build.not_(self._from(high + 1)))
            result = build.or_(result, within)
        return result

    def _from(self, least: int) -> Any:
        if least not in self._at_least:
            bits = self._builder.icmp_unsigned(">=", self._octets, _VECTOR([least] * OCTETS_AT_ONCE))
            self._at_least[least] = self._builder.bitcast(bits, _WORD)
        return self._at_least[least]


def _step(_typing: Any, address: Any, before: Any, program: Any) -> Any:
    """Mark which of 64 octets are live.

    Args of the kernel that calls it: the octets' address; for each state within characters 1 if the automaton is in it,
    else 0; a constant made by :func:`edges`.

    Returns to the kernel: a word with a bit for each octet, 1 if it is live; and the states again, after the octets.
    """
    parsed = _parsed(program.literal_value)

    def write(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        members = _Members(builder, arguments[0])
        slots: dict[int, int] = {}
        for _state, to, _runs in parsed:
            if to != START:
                slots.setdefault(to, len(slots))
        after = [_NONE] * before.count
        ready = begins = continues = within = _NONE
        for state, ways in groupby(parsed, itemgetter(0)):
            if state != START:
                slot = slots[state]
                earlier = builder.extract_value(arguments[1], slot)
                # bit i is 1 if octet i - 1 left the automaton in that state
                ready = builder.or_(builder.shl(after[slot], _WORD(1)), earlier)
                within = builder.or_(within, ready)
            for _state, to, runs in ways:
                here = members.of(runs)
                if state == START:
                    begins = builder.or_(begins, here)
                else:
                    here = builder.and_(here, ready)
                    continues = builder.or_(continues, here)
                if to != START:
                    after[slots[to]] = builder.or_(after[slots[to]], here)
        live = builder.or_(builder.and_(begins, builder.not_(within)), continues)
        # Only the last bits are carried on: seven small shifts are cheaper than seven of two words.
        carried = [builder.lshr(word, _WORD(OCTETS_AT_ONCE - 1)) for word in after]
        states = context.make_tuple(builder, signature.return_type[1], carried)
        return context.make_tuple(builder, signature.return_type, [live, states])

    tuple_of: Any = types.Tuple
    signature = tuple_of((types.uint64, before))(address, before, program)
    return signature, write


def _stays(_typing: Any, address: Any, program: Any) -> Any:
    """True if each of 64 octets at ``address`` leads from the start to the start: in UTF-8, if all are ASCII."""
    loops = [runs for state, to, runs in _parsed(program.literal_value) if state == to == START]

    def write(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        members = _Members(builder, arguments[0])
        word = _NONE
        for runs in loops:
            word = builder.or_(word, members.of(runs))
        return builder.icmp_unsigned("==", word, _ALL)

    return types.boolean(address, program), write


step: Any = intrinsic(prefer_literal=True)(_step)
stays: Any = intrinsic(prefer_literal=True)(_stays)


def search_for(automaton: Automaton) -> Search:
    """The search for the first error: 64 octets at a time as long as all are live, then octet by octet.

    Its arguments are read-only octets, and three things of the automaton: the rows of its shift automaton, the shift
    of its dead state, and for each octet whether it is live from the start. It returns offset and length of the
    maximal subpart, and whether the octets ended inside a character that could be completed; the offset is -1 if there
    is no error.

    Raises:
        ValueError: the automaton does not meet the conditions above.
    """
    program = edges(automaton)
    nowhere = (np.uint64(0),) * len({to for _, to, _ in _parsed(program)} - {START})

    @compiled
    def search(octets: Any, rows: Any, dead: Any, begins: Any) -> Any:
        size, base, at, inside = len(octets), octets.ctypes.data, 0, nowhere
        while at + OCTETS_AT_ONCE <= size:
            pending = np.uint64(0)
            for each in inside:
                pending |= each
            address = base + np.uintp(at)
            if not stays(address, program) or pending != 0:
                live, inside = step(address, inside, program)
                if live != _LIVE:
                    break
            at += OCTETS_AT_ONCE
        # All octets before are live, and one that may begin a character is live from the start only: it was read there.
        while at > 0:
            at -= 1
            if begins[octets[at]]:
                break
        state, whole = np.uint64(0), at  # ``whole``: the offset at which it was last in the start
        for place in range(at, size):
            state = rows[octets[place]] >> (state & _MASK)
            if state & _MASK == 0:
                whole = place + 1
            elif state & _MASK == dead:
                return whole, max(1, place - whole), False
        return (whole, size - whole, True) if whole < size else (-1, 0, False)

    found: Search = search
    return found
