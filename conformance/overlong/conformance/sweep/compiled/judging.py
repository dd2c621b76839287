# pyright: basic
"""Judges answers to strings of any source: the kind of a divergence, and the checksum of answers.

This module writes the expected output and compares the target's output with it. In the commonest case, a string that
differs from others of its run only in its last octet, it compares without writing.
"""

from __future__ import annotations

from numba.extending import register_jitable

from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, ODD, OTHER_OFFSET, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.oracle.kinds import BROKEN as BROKEN_KIND
from overlong.conformance.sweep.compiled.automaton import accepts, step
from overlong.conformance.sweep.compiled.automaton import get as automaton_get
from overlong.conformance.sweep.compiled.task import LoopTask
from overlong.conformance.targets.adapters.compiled import ACCEPTED, REFUSED, WORD
from overlong.conformance.targets.adapters.compiled.memory import (
    fields,
    load8,
    load16,
    load32,
    load64,
    store8,
    store16,
    store32,
    unlikely,
)

get, _ = fields(LoopTask._fields)
_SIGNED_ODD = ODD - (1 << 64)
FEW = 16
"""The most units that are compared singly: they were just written so, and a wider load would wait for them."""


@register_jitable
def _put(value: int, size: int, at: int, task: int) -> int:
    """Write a number's units and return their count, or -1 for a number without units."""
    if size == 4:
        store32(at, value)
        return 1
    if size == 2:
        if value > 0x10FFFF:
            return -1
        if value < 0x10000:
            store16(at, value)
            return 1
        store16(at, 0xD7C0 + (value >> 10))
        store16(at + 2, 0xDC00 | (value & 0x3FF))
        return 2
    layout = get(task, "layout")
    free, row = load64(layout), layout + WORD
    for _ in range(get(task, "layout_rows") - 1):
        if value <= load64(row):
            break
        row += 4 * WORD
    count: int = load64(row + WORD)
    head, tail = load64(row + 2 * WORD), load64(row + 3 * WORD)
    for place in range(count - 1, 0, -1):
        store8(at + place, tail | (value & ((1 << free) - 1)))
        value >>= free
    store8(at, head | value)
    return count


@register_jitable
def units_of(piece: int, length: int, state: int, value: int, units: int, size: int, task: int) -> tuple[int, int]:
    """Append the units of a piece to the expected output; return the begun number, and the count of units.

    Only for a piece that can be part of a well-formed string. Units below zero: there is no such output.

    Args:
        piece: its address.
        length: its octets.
        state: the state before the piece; 0 at the start, like the next two.
        value: the bits so far of a begun character's number.
        units: the expected units before the piece.
        size: the octets of a unit.
        task: the address of a :class:`LoopTask`.
    """
    automaton, lead, wanted = get(task, "automaton"), get(task, "lead"), get(task, "wanted")
    transitions, accepting = automaton_get(automaton, "transitions"), automaton_get(automaton, "accepting")
    free = load64(get(task, "layout"))
    for place in range(piece, piece + length):
        octet = load8(place)
        value = load8(lead + octet) if accepts(state, accepting) else value << free | octet & ((1 << free) - 1)
        state = step(state, octet, transitions)
        if accepts(state, accepting) and units >= 0:
            added = _put(value, size, wanted + units * size, task)
            units = units + added if added >= 0 else -1
    return value, units


@register_jitable
def equal(one: int, other: int, units: int, size: int) -> bool:
    """True if the units at two addresses are equal."""
    if units <= FEW:
        for place in range(units):
            if size == 4:
                same = load32(one + 4 * place) == load32(other + 4 * place)
            elif size == 2:
                same = load16(one + 2 * place) == load16(other + 2 * place)
            else:
                same = load8(one + place) == load8(other + place)
            if not same:
                return False
        return True
    octets, place = units * size, 0
    while place + WORD <= octets:
        if load64(one + place) != load64(other + place):
            return False
        place += WORD
    rest = (1 << 8 * (octets - place)) - 1
    return bool((load64(one + place) ^ load64(other + place)) & rest == 0)


@register_jitable
def _output_differs(number: int, number_in_run: int, size: int, task: int) -> bool:
    """True if the output is wrong for the string of that number in its run."""
    octets = get(task, "whole") - get(task, "length")
    state, value, units = get(task, "state"), get(task, "value"), get(task, "units")
    _, wanted = units_of(get(task, "pieces") + number_in_run * octets, octets, state, value, units, size, task)
    if wanted == number and equal(get(task, "out"), get(task, "wanted"), number, size):
        return False
    mask = get(task, "signature_mask")
    return bool(not mask or load64(get(task, "address")) & mask != get(task, "signature"))


@register_jitable
def set_aside(address: int, whole: int, task: int) -> bool:
    """True if a declared trait leaves the error offset of this string unspecified; it has ``whole`` octets."""
    mask = get(task, "signature_mask")
    fits = whole >= WORD or mask >> 8 * whole == 0  # otherwise the mask would cover octets after the string
    if mask and fits and load64(address) & mask == get(task, "signature"):
        return True
    if get(task, "has_nul_trait"):
        for place in range(address, address + whole):
            if load8(place) == 0:
                return True
    return False


@register_jitable(forceinline=True)
def _octet_differs(number: int, octet: int, size: int, task: int) -> bool:
    """True if the output is wrong for a string whose last piece is one octet: the commonest case."""
    units, out, wanted = get(task, "units"), get(task, "out"), get(task, "wanted")
    free = load64(get(task, "layout"))
    if accepts(get(task, "state"), automaton_get(get(task, "automaton"), "accepting")):
        value = load8(get(task, "lead") + octet)
    else:
        value = get(task, "value") << free | (octet & ((1 << free) - 1))
    if number != units + 1:
        return True
    last = load32(out + 4 * units) if size == 4 else load16(out + 2 * units)
    return last != value or not equal(out, wanted, units, size)  # a character of two units is no number of 16 bits


@register_jitable(forceinline=True)
def judged(
    status: int, number: int, right: int, seen: int, number_in_run: int, single: int, octet: int, size: int,
    judges_offsets: int, task: int,
) -> int:  # fmt: skip
    """The kind of divergence in an answer to the current string, of any source; 0: there is none.

    Args:
        status: the status of the answer.
        number: the number of output units, or the error offset, of the answer.
        right: 1 if the string is well-formed, else 0.
        seen: the last accepting offset, if the string is ill-formed.
        number_in_run: the string's number in its run.
        single: 1 if its last piece is one octet that, with the units before it, determines the output; else 0.
        octet: that octet.
        size: the octets of an output unit; 0: output is not judged.
        judges_offsets: 0 if the error offset is not judged.
        task: the address of a :class:`LoopTask`.
    """
    if status == ACCEPTED:
        if unlikely(right == 0):
            return ACCEPTED_ILL_FORMED
        if size and (single == 0 or _octet_differs(number, octet, size, task)):
            return OTHER_OUTPUT if _output_differs(number, number_in_run, size, task) else 0
        return 0
    if unlikely(right != 0):
        return REFUSED_WELL_FORMED if status == REFUSED else BROKEN_KIND
    if unlikely(status != REFUSED):
        return BROKEN_KIND
    if judges_offsets and unlikely(number != seen) and not set_aside(get(task, "address"), get(task, "whole"), task):
        return OTHER_OFFSET
    return 0


@register_jitable(forceinline=True)
def checked(checksum: int, index: int, status: int, number: int) -> int:
    """The checksum including the answer to one more string."""
    return checksum + ((number << 2 | status) + 1) * (index * _SIGNED_ODD | 1)
