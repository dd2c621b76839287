# pyright: basic
"""The compiled loop: make a string, number it, ask it, judge it.

What strings have in common is read once: the state behind all axes but the last is kept at each axis (as an odometer
keeps its digits), and what the automaton makes of each choice of the last axis was found for every state beforehand.
A string, or its last piece, of up to eight octets is written by one store: a target that loads a word right after two
stores into it would wait for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from numba import types
from numba.extending import intrinsic, register_jitable

from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, ODD, OTHER_OFFSET, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.oracle.kinds import BROKEN as BROKEN_KIND
from overlong.conformance.sweep.compiled.cached import Compiled, edition
from overlong.conformance.sweep.compiled.calls import ACCEPTED, REFUSED, ask, run, says_offsets, unit
from overlong.conformance.sweep.compiled.memory import (
    copy,
    fill,
    hidden,
    load8,
    load16,
    load32,
    load64,
    publish64,
    store8,
    store16,
    store32,
    store64,
    unlikely,
)
from overlong.conformance.sweep.compiled.progress import CURRENT, EARLIER, SNAPSHOT, SNAPSHOTS
from overlong.conformance.sweep.compiled.tables import WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FLUSH = 1 << 16
"""Strings after which the sums are published, at most."""
BEHIND = 128
"""Octets of what stands around a string that are kept behind it."""
_SIGNED_ODD = ODD - (1 << 64)
_FEW = 16
"""Units that are compared one by one: they were just written so, and a wider load would wait for them."""

LEVEL = 8 * WORD
"""Octets of a level: which choice there is of an axis, and what was read before it."""
PLACE, STATE, SEEN, LENGTH, VALUE, UNITS = range(0, 6 * WORD, WORD)
CELLS = 64
"""Octets of the cells."""


class LoopTask(NamedTuple):
    """What a loop is told: numbers and addresses. The arrays are those of ``tables.py``."""

    table: int
    accepting: int
    lead: int
    layout: int
    rows: int
    """Rows of the layout."""
    octets: int
    starts: int
    axes: int
    alike: int
    padded: int
    read: int
    short: int
    """No choice of the last axis is longer than a word, and nothing is asked before."""
    longest_last: int
    axis_count: int
    earlier: int
    """Axes of the string that is asked before."""
    behind: int
    """The octet that stands behind a string."""
    input: int
    """Address of the string; all around it is filled."""
    before: int
    """Address of the string that is asked before."""
    out: int
    cells: int
    wanted: int
    """Room for the output that is expected."""
    room: int
    """Units that have room for each octet of the input, and how many more."""
    more: int
    judges_output: int
    judges_offsets: int
    signature: int
    """Octets at the start of a string whose output is not judged, as a word; and a mask of them, 0 for none."""
    signature_mask: int
    has_nul_trait: int
    """Where a string with octet 00 is refused is not judged."""
    levels: int
    progress: int
    kinds: int
    """Address of the kind of string number 0, which may lie outside of the memory there is."""
    functions: int
    """Address of the addresses of the functions."""
    run: int
    """Address of the compiled :func:`ask_run`."""
    length_before: int = 0
    """Octets of the string that is asked before."""
    next: int = 0
    """Of a run of strings that differ in their last piece only: the next one, and the first one behind them."""
    stop: int = 0
    begun: int = 0
    """What the number of a string is more than that of its last piece."""
    length: int = 0
    """Octets before the last piece; of the whole string."""
    whole: int = 0
    at: int = 0
    """Where a short piece is stored as a word, how far it is shifted, and what stands below it there."""
    shift: int = 0
    head: int = 0
    read_from: int = 0
    """Address of what the automaton makes of choice 0 from the state behind what stands before the last piece."""
    seen: int = 0
    """Where a state last accepted before the last piece."""
    units: int = 0
    """Units that are expected of what stands before the last piece; below zero: there is no such output."""
    value: int = 0
    """Bits of the number of a character that is begun there, and whether none is."""
    begins: int = 0
    dirty: int = 0
    """The end of octets that are not those that stand around a string."""
    accepted: int = 0
    differs: int = 0
    """Strings that are well-formed, less those that were accepted: so those that agree are counted once."""
    checksum: int = 0


def fields(names: Sequence[str]) -> tuple[Any, Any]:
    """Functions for compiled code that get and put a word of that name, of the words at an address.

    They take the address and a name as it stands in the source; the second takes the number, too.
    """

    def field(builder: Any, task: Any, name: str) -> Any:
        place = builder.add(task, task.type(WORD * names.index(name)))
        return builder.inttoptr(place, task.type.as_pointer())

    def get_field(_context: Any, _task: Any, name: Any) -> tuple[Any, Callable[..., Any]] | None:
        if not isinstance(name, types.StringLiteral):
            return None

        def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            return builder.load(field(builder, given[0], name.literal_value))

        return types.int64(types.int64, name), emit

    def put_field(_context: Any, _task: Any, name: Any, _number: Any) -> tuple[Any, Callable[..., Any]] | None:
        if not isinstance(name, types.StringLiteral):
            return None

        def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            builder.store(given[2], field(builder, given[0], name.literal_value))
            return context.get_dummy_value()

        return types.void(types.int64, name, types.int64), emit

    return intrinsic(get_field), intrinsic(put_field)


get, put = fields(LoopTask._fields)


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
    for _ in range(get(task, "rows") - 1):
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
def units_of(piece: int, length: int, level: int, size: int, task: int) -> tuple[int, int]:
    """Write the units of a piece behind those of a level (zeros: of nothing); the number begun and the units then.

    Only of a piece that can be a part of something well-formed. Units below zero: there is no such output.
    """
    state, value, units = load64(level + STATE), load64(level + VALUE), load64(level + UNITS)
    table, accepting = get(task, "table"), get(task, "accepting")
    lead, free, wanted = get(task, "lead"), load64(get(task, "layout")), get(task, "wanted")
    for place in range(piece, piece + length):
        octet = load8(place)
        value = load8(lead + octet) if load8(accepting + state) else value << free | octet & ((1 << free) - 1)
        state = load8(table + (state << 8 | octet))
        if load8(accepting + state) and units >= 0:
            added = _put(value, size, wanted + units * size, task)
            units = units + added if added >= 0 else -1
    return value, units


@register_jitable
def equal(one: int, other: int, units: int, size: int) -> bool:
    """Whether so many units at two addresses are equal."""
    if units <= _FEW:
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
def _output_differs(number: int, choice: int, size: int, task: int) -> bool:
    """Whether what stands in the output is not that of the string with that choice of the last axis."""
    axis = get(task, "axis_count") - 1
    piece = get(task, "starts") + WORD * (load64(get(task, "axes") + 2 * WORD * axis) + choice)
    start, level = load64(piece), get(task, "levels") + LEVEL * axis
    _, wanted = units_of(get(task, "octets") + start, load64(piece + WORD) - start, level, size, task)
    if wanted == number and equal(get(task, "out"), get(task, "wanted"), number, size):
        return False
    mask = get(task, "signature_mask")
    return bool(not mask or load64(get(task, "input")) & mask != get(task, "signature"))


@register_jitable
def set_aside(address: int, whole: int, task: int) -> bool:
    """Whether where the string at that address, of so many octets, is refused has no say: a trait touches it."""
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
    if get(task, "begins"):
        value = load8(get(task, "lead") + octet)
    else:
        value = get(task, "value") << free | (octet & ((1 << free) - 1))
    if number != units + 1:
        return True
    last = load32(out + 4 * units) if size == 4 else load16(out + 2 * units)
    return last != value or not equal(out, wanted, units, size)  # what takes two units is no number of 16 bits


@register_jitable
def _advance(changed: int, size: int, task: int) -> None:
    """Make and read the pieces of the axes from ``changed`` on, all but the last."""
    table, accepting = get(task, "table"), get(task, "accepting")
    string, earlier = get(task, "input"), get(task, "earlier")
    for axis in range(changed, get(task, "axis_count") - 1):
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
            if size and get(task, "judges_output"):
                value, units = units_of(start, many, level, size, task)
            for place in range(start, start + many):
                state = load8(table + (state << 8 | load8(place)))
                length += 1
                if load8(accepting + state):
                    seen = length
            if get(task, "dirty") < length:
                put(task, "dirty", length)
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
def _place(choice: int, task: int) -> None:
    """Write the piece of that choice of the last axis, and fill up behind it."""
    last = get(task, "axes") + 2 * WORD * (get(task, "axis_count") - 1)
    piece = get(task, "starts") + WORD * (load64(last) + choice)
    start, end = load64(piece), get(task, "whole")
    address = get(task, "input")
    copy(address + get(task, "length"), get(task, "octets") + start, load64(piece + WORD) - start)
    if get(task, "dirty") > end:
        fill(address + end, get(task, "behind"), get(task, "dirty") - end)
    put(task, "dirty", end)


@register_jitable
def publish(
    index: int, strings: int, octets: int, well_formed: int, accepted: int, checksum: int, progress: int
) -> None:
    """Write a snapshot beside the one that is there, and make it the one that counts."""
    other = 1 - load64(progress + WORD * CURRENT)
    snapshot = progress + WORD * (SNAPSHOT + SNAPSHOTS * other)
    store64(snapshot, index)
    store64(snapshot + WORD, strings)
    store64(snapshot + 2 * WORD, octets)
    store64(snapshot + 3 * WORD, well_formed)
    store64(snapshot + 4 * WORD, accepted)
    store64(snapshot + 5 * WORD, checksum)
    publish64(progress + WORD * CURRENT, other)


@register_jitable
def _locate(index: int, task: int) -> None:
    """Set which choice of each axis makes the string of that number."""
    for axis in range(get(task, "axis_count") - 1, -1, -1):
        choices = load64(get(task, "axes") + 2 * WORD * axis + WORD)
        store64(get(task, "levels") + axis * LEVEL + PLACE, index % choices)
        index //= choices


@register_jitable
def _next(choice: int, task: int) -> int:
    """Go on behind a choice of the last axis; the first axis that has another choice then."""
    axis: int = get(task, "axis_count") - 1
    levels, axes = get(task, "levels"), get(task, "axes")
    while axis and choice == load64(axes + 2 * WORD * axis + WORD):
        store64(levels + axis * LEVEL + PLACE, 0)
        axis -= 1
        choice = load64(levels + axis * LEVEL + PLACE) + 1
    store64(levels + axis * LEVEL + PLACE, choice)
    return axis


@register_jitable(forceinline=True)
def judged(
    status: int, number: int, right: int, seen: int, choice: int, single: int, octet: int, whole: int, size: int,
    judges_offsets: int, task: int,
) -> int:  # fmt: skip
    """The kind of divergence in an answer to the string that stands in the input, of whatever source; 0: there is none.

    Args:
        status: that was answered.
        number: the units that were put out, or the offset that was said.
        right: 1 if the string is well-formed, else 0.
        seen: where it was last well-formed, should it not be.
        choice: which piece of the last axis it ends in.
        single: 1 if that piece is one octet which says, with the units before it, what is put out; else 0.
        octet: that one.
        whole: octets of the string.
        size: octets in a unit of the output; 0: it is not judged.
        judges_offsets: 0 if the number of a refusal is not judged.
        task: the address of a :class:`LoopTask`.
    """
    if status == ACCEPTED:
        if unlikely(right == 0):
            return ACCEPTED_ILL_FORMED
        if size and (single == 0 or _octet_differs(number, octet, size, task)):
            return OTHER_OUTPUT if _output_differs(number, choice, size, task) else 0
        return 0
    if unlikely(right != 0):
        return REFUSED_WELL_FORMED if status == REFUSED else BROKEN_KIND
    if unlikely(status != REFUSED):
        return BROKEN_KIND
    if judges_offsets and unlikely(number != seen) and not set_aside(get(task, "input"), whole, task):
        return OTHER_OFFSET
    return 0


@register_jitable(forceinline=True)
def checked(checksum: int, index: int, status: int, number: int) -> int:
    """The checksum with the answer to one more string."""
    return checksum + ((number << 2 | status) + 1) * (index * _SIGNED_ODD | 1)


def ask_run(convention: Any, task: int) -> None:
    """Ask strings that differ in their last piece only, by a convention; ``task``: address of a :class:`LoopTask`."""
    size, progress = unit(convention), get(task, "progress")
    places = get(task, "functions")
    functions = (load64(places), load64(places + WORD), load64(places + 2 * WORD), load64(places + 3 * WORD))
    address, out, cells = get(task, "input"), get(task, "out"), get(task, "cells")
    whole, short, kinds = get(task, "whole"), get(task, "short"), get(task, "kinds")
    room, more = get(task, "room"), get(task, "more")
    units = room * whole + more
    at, shift, head = get(task, "at"), get(task, "shift"), get(task, "head")
    judged_size = size if get(task, "judges_output") else 0
    judges_offsets = says_offsets(convention) and get(task, "judges_offsets")
    single = size > 1 and whole == get(task, "length") + 1 and 0 <= get(task, "units") <= _FEW
    length, seen, begun = get(task, "length"), get(task, "seen"), get(task, "begun")
    padded = get(task, "padded") - WORD * begun  # of string number 0, as all is addressed by the index
    read = get(task, "read_from") - WORD * begun
    accepted, differs = get(task, "accepted"), get(task, "differs")
    checksum, index, stop = get(task, "checksum"), get(task, "next"), get(task, "stop")
    while index < stop:
        if short:
            store64(progress, index)
            store64(at, head | load64(padded + WORD * index) << shift)
        else:
            _place(index - begun, task)
            if get(task, "earlier"):
                store64(progress + WORD * EARLIER, 1)
                store64(progress, index)
                before = get(task, "length_before")
                ask(convention, functions, get(task, "before"), before, out, room * before + more, cells)
                store64(progress + WORD * EARLIER, 0)
            store64(progress, index)
        status, number = ask(convention, functions, address, whole, out, units, cells)
        found = load64(read + WORD * index)
        last = seen if found < 0 else length + (found >> 1)
        octet = load64(padded + WORD * index) & 0xFF
        kind = judged(
            status, number, found & 1, last, index - begun, single, octet, whole, judged_size, judges_offsets, task
        )
        if unlikely(kind != 0):
            store8(kinds + index, kind)
        accepted += status == ACCEPTED
        differs += (found & 1) - (status == ACCEPTED)
        checksum = checked(checksum, index, status, number)
        index = hidden(index + 1)
    put(task, "accepted", accepted)
    put(task, "differs", differs)
    put(task, "checksum", checksum)


def _asking(_edition: Any, size: int, until: int, task: int) -> None:  # noqa: PLR0915
    """Ask all strings from where the progress is up to ``until``.

    Args:
        _edition: of these sources.
        size: octets in a unit of the output, 0 if there is none.
        until: the number of a string.
        task: the address of a :class:`LoopTask`.
    """
    progress = get(task, "progress")
    snapshot = progress + WORD * (SNAPSHOT + SNAPSHOTS * load64(progress + WORD * CURRENT))
    index, strings, octets = load64(snapshot), load64(snapshot + WORD), load64(snapshot + 2 * WORD)
    put(task, "accepted", load64(snapshot + 4 * WORD))
    put(task, "differs", load64(snapshot + 3 * WORD) - load64(snapshot + 4 * WORD))
    put(task, "checksum", load64(snapshot + 5 * WORD))
    last = get(task, "axis_count") - 1
    choices = load64(get(task, "axes") + 2 * WORD * last + WORD)
    starts = get(task, "starts") + WORD * load64(get(task, "axes") + 2 * WORD * last)
    level, address = get(task, "levels") + LEVEL * last, get(task, "input")
    longest = get(task, "longest_last")
    reached, changed = index, 0
    _locate(index, task)
    while index < until:
        _advance(changed, size, task)
        first, length = load64(level + PLACE), load64(level + LENGTH)
        begun = index - first
        stop = min(begun + load64(get(task, "alike") + WORD * first), until, reached + FLUSH)
        whole = length + load64(starts + WORD * first + WORD) - load64(starts + WORD * first)
        strings += stop - index
        octets += (stop - index) * whole
        if get(task, "short"):
            shift, head, at = 0, 0, address + length
            if get(task, "dirty") > length:
                fill(at, get(task, "behind"), get(task, "dirty") - length)
            put(task, "dirty", length + WORD)
            if length < WORD and length + longest <= WORD:
                shift, at = 8 * length, address
                head = load64(at) & ((1 << shift) - 1)
            put(task, "at", at)
            put(task, "shift", shift)
            put(task, "head", head)
        put(task, "next", index)
        put(task, "stop", stop)
        put(task, "begun", begun)
        put(task, "length", length)
        put(task, "whole", whole)
        put(task, "seen", load64(level + SEEN))
        put(task, "units", load64(level + UNITS))
        put(task, "value", load64(level + VALUE))
        put(task, "begins", load8(get(task, "accepting") + load64(level + STATE)))
        put(task, "read_from", get(task, "read") + WORD * load64(level + STATE) * choices)
        run(get(task, "run"), task)
        index = stop
        if index - reached >= FLUSH or index >= until:
            accepted = get(task, "accepted")
            well_formed = accepted + get(task, "differs")
            publish(index, strings, octets, well_formed, accepted, get(task, "checksum"), progress)
            reached = index
        changed = _next(index - begun, task)


def run_of(convention: Any) -> Compiled:
    """:func:`ask_run`, compiled for a convention."""
    return Compiled(ask_run, convention, types.int64)


def asking() -> Compiled:
    """:func:`_asking`, compiled."""
    return Compiled(_asking, edition(), *[types.int64] * 3)
