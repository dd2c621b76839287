# pyright: basic
"""Whether an answer is right: the kind of a divergence, of strings of whatever source, and the checksum of answers.

What stands in the output is compared with what is expected, which is written here, too. The commonest case, a string
that ends in one octet behind what others begin with as well, is compared without writing anything.
"""

from __future__ import annotations

from numba.extending import register_jitable

from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, ODD, OTHER_OFFSET, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.oracle.kinds import BROKEN as BROKEN_KIND
from overlong.conformance.sweep.compiled.automaton import accepts, step
from overlong.conformance.sweep.compiled.automaton import get as automaton_get
from overlong.conformance.sweep.compiled.task import get
from overlong.conformance.targets.adapters.compiled.calls import ACCEPTED, REFUSED
from overlong.conformance.targets.adapters.compiled.memory import (
    WORD,
    load8,
    load16,
    load32,
    load64,
    store8,
    store16,
    store32,
    unlikely,
)

_SIGNED_ODD = ODD - (1 << 64)
FEW = 16
"""Units that are compared one by one: they were just written so, and a wider load would wait for them."""


@register_jitable
def _put(value: int, size: int, at: int, task: int) -> int:
    """Write a number's units; how many they are, or -1 for a number that has none."""
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
    """Write the units of a piece behind those that are there; the number that is begun, and the units then.

    Only of a piece that can be a part of something well-formed. Units below zero: there is no such output.

    Args:
        piece: its address.
        length: its octets.
        state: the one behind what stands before it; 0 of nothing, as the next two.
        value: bits of the number of a character that is begun there.
        units: that are expected of it.
        size: octets in a unit.
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
    """Whether so many units at two addresses are equal."""
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
    """Whether what stands in the output is not that of the string of that number in its run."""
    octets = get(task, "whole") - get(task, "length")
    state, value, units = get(task, "state"), get(task, "value"), get(task, "units")
    _, wanted = units_of(get(task, "pieces") + number_in_run * octets, octets, state, value, units, size, task)
    if wanted == number and equal(get(task, "out"), get(task, "wanted"), number, size):
        return False
    mask = get(task, "signature_mask")
    return bool(not mask or load64(get(task, "input")) & mask != get(task, "signature"))


@register_jitable
def set_aside(address: int, whole: int, task: int) -> bool:
    """True if a declared trait leaves the error offset of this string unspecified; it has ``whole`` octets."""
    mask = get(task, "signature_mask")
    fits = whole >= WORD or mask >> 8 * whole == 0  # else what stands behind the string would be taken for its own
    if mask and fits and load64(address) & mask == get(task, "signature"):
        return True
    if get(task, "has_nul_trait"):
        for place in range(address, address + whole):
            if load8(place) == 0:
                return True
    return False


@register_jitable(forceinline=True)
def _octet_differs(number: int, octet: int, size: int, task: int) -> bool:
    """Whether what stands in the output is not that of the string that ends in one octet: the commonest case."""
    units, out, wanted = get(task, "units"), get(task, "out"), get(task, "wanted")
    free = load64(get(task, "layout"))
    if accepts(get(task, "state"), automaton_get(get(task, "automaton"), "accepting")):
        value = load8(get(task, "lead") + octet)
    else:
        value = get(task, "value") << free | (octet & ((1 << free) - 1))
    if number != units + 1:
        return True
    last = load32(out + 4 * units) if size == 4 else load16(out + 2 * units)
    return last != value or not equal(out, wanted, units, size)  # what takes two units is no number of 16 bits


@register_jitable(forceinline=True)
def judged(
    status: int, number: int, right: int, seen: int, number_in_run: int, single: int, octet: int, size: int,
    judges_offsets: int, task: int,
) -> int:  # fmt: skip
    """The kind of divergence in an answer to the string that stands in the input, of whatever source; 0: there is none.

    Args:
        status: that was answered.
        number: the units that were put out, or the offset that was said.
        right: 1 if the string is well-formed, else 0.
        seen: where it was last well-formed, should it not be.
        number_in_run: counted from the first one of its run.
        single: 1 if its last piece is one octet which says, with the units before it, what is put out; else 0.
        octet: that one.
        size: octets in a unit of the output; 0: it is not judged.
        judges_offsets: 0 if the number of a refusal is not judged.
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
    if judges_offsets and unlikely(number != seen) and not set_aside(get(task, "input"), get(task, "whole"), task):
        return OTHER_OFFSET
    return 0


@register_jitable(forceinline=True)
def checked(checksum: int, index: int, status: int, number: int) -> int:
    """The checksum with the answer to one more string."""
    return checksum + ((number << 2 | status) + 1) * (index * _SIGNED_ODD | 1)
