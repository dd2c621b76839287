# pyright: basic
"""A grid's strings as a source of the compiled loop: their common parts are made and read once.

Each axis except the last keeps the state before it, as an odometer keeps its digits. The automaton's result for each
choice of the last axis is precomputed for every state.
"""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from overlong.conformance.sweep.compiled.automaton import read as read_octets
from overlong.conformance.sweep.compiled.judging import units_of
from overlong.conformance.sweep.compiled.packed import STEP
from overlong.conformance.sweep.compiled.place import apart
from overlong.conformance.sweep.compiled.task import (
    ALIGNED,
    BEHIND,
    LENGTH,
    LEVEL,
    PLACE,
    SEEN,
    STATE,
    UNITS,
    VALUE,
    GridWords,
    LoopTask,
)
from overlong.conformance.targets.adapters.compiled import WORD
from overlong.conformance.targets.adapters.compiled.memory import copy, fields, fill, load64, store64

_CLEARED = ALIGNED + WORD
get, put = fields((*LoopTask._fields, *GridWords._fields))


@register_jitable
def _advance(changed: int, task: int) -> None:
    """Make and read the pieces of the axes from ``changed`` on, except the last axis."""
    automaton, size = get(task, "automaton"), get(task, "unit")
    string, earlier = get(task, "made"), get(task, "earlier")
    for axis in range(changed, get(task, "last_axis")):
        level = get(task, "levels") + axis * LEVEL
        piece = load64(get(task, "axes") + 2 * WORD * axis) + load64(level + PLACE)
        ends = get(task, "starts") + WORD * piece
        many, start = load64(ends + WORD) - load64(ends), get(task, "octets") + load64(ends)
        state, seen, length = load64(level + STATE), load64(level + SEEN), load64(level + LENGTH)
        value, units = load64(level + VALUE), load64(level + UNITS)
        if axis < earlier:
            copy(get(task, "before") + length, start, many)
            length += many
        else:
            copy(string + length, start, many)
            if size:
                value, units = units_of(start, many, state, value, units, size, task)
            state, found = read_octets(start, many, state, automaton)
            seen = seen if found < 0 else length + found
            length += many
        if axis + 1 == earlier:
            fill(get(task, "before") + length, get(task, "behind"), BEHIND)
            put(task, "length_before", length)
            state = seen = length = value = units = 0
        level += LEVEL
        store64(level + STATE, state)
        store64(level + SEEN, seen)
        store64(level + LENGTH, length)
        store64(level + VALUE, value)
        store64(level + UNITS, units)


@register_jitable
def _next(choice: int, task: int) -> int:
    """Continue after a choice of the last axis; return the first axis whose choice changes."""
    axis: int = get(task, "last_axis")
    levels, axes = get(task, "levels"), get(task, "axes")
    while axis and choice == load64(axes + 2 * WORD * axis + WORD):
        store64(levels + axis * LEVEL + PLACE, 0)
        axis -= 1
        choice = load64(levels + axis * LEVEL + PLACE) + 1
    store64(levels + axis * LEVEL + PLACE, choice)
    return axis


def lay_out(_nothing: Any, task: int) -> None:
    """Lay out a run of strings: a single string if the loop cannot write its last piece.

    The strings of a run have one address, by the number of the string after the last of them; that is the same if
    the loop begins within the run.

    Args:
        _nothing: an empty parameter.
        task: the address of a :class:`LoopTask`, directly followed by :class:`GridWords`.
    """
    index, begun, last = get(task, "next"), get(task, "begun"), get(task, "last_axis")
    _advance(0 if begun < 0 else _next(index - begun, task), task)
    level, axis, made = get(task, "levels") + LEVEL * last, get(task, "axes") + 2 * WORD * last, get(task, "made")
    choice, length, state = load64(level + PLACE), load64(level + LENGTH), load64(level + STATE)
    ends = get(task, "starts") + WORD * (load64(axis) + choice)
    pieces, many = get(task, "octets") + load64(ends), load64(ends + WORD) - load64(ends)
    whole, short, shift, head = length + many, get(task, "short"), 0, 0
    room, after = get(task, "input"), load64(get(task, "alike") + WORD * choice) if short else choice + 1
    address = room + apart(index - choice + after)
    fill(address - ALIGNED, get(task, "around"), ALIGNED)
    if short and length < WORD and length + get(task, "longest_last") <= WORD:
        at, end, shift = address, 0, 8 * length
        head = load64(made) & ((1 << shift) - 1)
    else:
        at, end = address + length, length
        copy(address, made, length)
    if short:
        put(task, "strings", after - choice)
    else:
        copy(at, pieces, many)
        at, end = get(task, "spare"), whole
    dirty = room + ALIGNED + get(task, "dirty") - address - end
    fill(address + end, get(task, "behind"), _CLEARED)  # of a constant size: no call
    if dirty > _CLEARED:
        fill(address + end + _CLEARED, get(task, "behind"), dirty - _CLEARED)
    put(task, "dirty", end + WORD * short)
    put(task, "address", address)
    put(task, "begun", index - choice)
    put(task, "whole", whole)
    put(task, "length", length)
    put(task, "words", get(task, "padded") + WORD * choice)
    put(task, "at", at)
    put(task, "shift", shift)
    put(task, "head", head)
    put(task, "pieces", pieces)
    put(task, "read", get(task, "verdicts") + WORD * (state // STEP * load64(axis + WORD) + choice))
    put(task, "seen", load64(level + SEEN))
    put(task, "state", state)
    put(task, "value", load64(level + VALUE))
    put(task, "units", load64(level + UNITS))
