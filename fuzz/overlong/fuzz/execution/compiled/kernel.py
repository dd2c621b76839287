# pyright: basic
"""Inputs by their numbers as a source of strings for compiled loops: make one, say where it is, read it, ask it.

What strings of a grid have in common is read once; inputs have nothing in common, so there are two loops. How a string
is asked, judged and counted is one thing for both (:mod:`overlong.conformance.sweep.compiled.kernel`), so what a sweep
does about crashes and calls that do not return is done here as well. An input is the one piece of a grid of one axis.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import register_jitable

from overlong.conformance.sweep.compiled.cached import Compiled, edition
from overlong.conformance.sweep.compiled.calls import ACCEPTED, ask, run, says_offsets, unit
from overlong.conformance.sweep.compiled.kernel import FLUSH, LoopTask, checked, fields, judged, publish
from overlong.conformance.sweep.compiled.memory import (
    copy,
    fill,
    hidden,
    load32,
    load64,
    store8,
    store32,
    store64,
    unlikely,
)
from overlong.conformance.sweep.compiled.progress import CURRENT, SNAPSHOT, SNAPSHOTS
from overlong.conformance.sweep.compiled.tables import WORD
from overlong.fuzz import generation
from overlong.fuzz.execution.compiled.oracle import PackedAutomaton, read
from overlong.fuzz.generation.choice import LONGEST, REACH, SLACK
from overlong.fuzz.generation.compiled import write_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.reference.automaton import Automaton

_WORDS_BEHIND = SLACK // WORD


class Making(NamedTuple):
    """What a loop is told besides a :class:`LoopTask`: how inputs are made and read."""

    rows_of_octets: int
    """Address of the automaton's rows; the three after it are of :class:`~.oracle.Oracle`."""
    accepting_bits: int
    dead: int
    plain: int
    made_of: int
    """Address of the tables from which inputs are made."""
    around: int
    """A word of what stands behind an input."""
    make: int
    """Address of the compiled :func:`make_input`, or of :func:`take_input`."""
    made_lengths: int = 0
    """Of inputs that are made: address of their lengths; number of the first; address of the octets."""
    made_first: int = 0
    made_octets: int = 0
    made_verdicts: int = 0
    """What :func:`judge_inputs` wrote about them; 0: the loop reads each input itself."""
    made_number: int = 0
    """The input that was taken last, and where it is in the octets."""
    made_place: int = 0
    number: int = 0
    """Of the input that is to be made."""
    start: int = 0
    """Where the one that was made starts and ends: it is the one piece of one axis, as of a ``PieceTable``."""
    end: int = 0


get, put = fields((*LoopTask._fields, *Making._fields))


@register_jitable
def _surround(end: int, length: int, dirty: int, octet: int, word: int) -> None:
    """Fill up behind an input, which has just been written, and maybe over what stood there up to ``dirty``."""
    for place in range(_WORDS_BEHIND):
        store64(end + WORD * place, word)
    if unlikely(dirty > length + SLACK):
        fill(end + SLACK, octet, dirty - length - SLACK)


@register_jitable
def _kept(verdict: int) -> tuple[int, bool]:
    """What :func:`~.oracle.read` said when :func:`judge_inputs` asked it."""
    return verdict >> 1, bool(verdict & 1)


def make_input(_edition: Any, task: int) -> None:
    """Make the input of which the task has the number. It is the same for all conventions, and takes long to compile.

    Args:
        _edition: of these sources.
        task: the address of a :class:`LoopTask`, and of a :class:`Making` right behind it.
    """
    put(task, "end", write_input(get(task, "number"), get(task, "made_of"), get(task, "input")))


def take_input(_edition: Any, task: int) -> None:
    """Take the input of which the task has the number from those that are made. They are taken in order."""
    place, taken, number = get(task, "made_place"), get(task, "made_number"), get(task, "number")
    lengths = get(task, "made_lengths") + 4 * (taken - get(task, "made_first"))
    while taken < number:
        place += load32(lengths)
        lengths += 4
        taken += 1
    put(task, "made_place", place)
    put(task, "made_number", taken)
    length = load32(lengths)
    put(task, "end", length)
    address, source = get(task, "input"), get(task, "made_octets") + place
    for each in range(_WORDS_BEHIND):
        store64(address + WORD * each, load64(source + WORD * each))
    if unlikely(length > SLACK):
        copy(address + SLACK, source + SLACK, length - SLACK)


def judge_inputs(_edition: Any, count: int, lengths: int, octets: int, verdicts: int, oracle: int) -> None:
    """Read inputs that stand in a row, once for all who are asked them.

    Args:
        _edition: of these sources.
        count: of inputs.
        lengths: address of the octets of each, as 32 bits.
        octets: address of them.
        verdicts: address of what is written, 32 bits for each: twice the place where it was last accepted, and 1 more
            if all of it is.
        oracle: address of what :func:`~.oracle.read` is told, in its order.
    """
    rows, accepting = load64(oracle), load64(oracle + WORD)
    dead, plain = load64(oracle + 2 * WORD), load64(oracle + 3 * WORD)
    for each in range(count):
        length = load32(lengths + 4 * each)
        seen, right = read(octets, length, rows, accepting, dead, plain)
        store32(verdicts + 4 * each, seen << 1 | right)
        octets += length


def ask_inputs(convention: Any, until: int, task: int) -> None:
    """Ask inputs from where the progress is up to ``until``, by a convention.

    Args:
        convention: of the functions.
        until: the number of an input.
        task: the address of a :class:`LoopTask`, and of a :class:`Making` right behind it.
    """
    size, progress = unit(convention), get(task, "progress")
    snapshot = progress + WORD * (SNAPSHOT + SNAPSHOTS * load64(progress + WORD * CURRENT))
    index, strings, octets = load64(snapshot), load64(snapshot + WORD), load64(snapshot + 2 * WORD)
    well_formed, accepted = load64(snapshot + 3 * WORD), load64(snapshot + 4 * WORD)
    checksum = load64(snapshot + 5 * WORD)
    places = get(task, "functions")
    functions = (load64(places), load64(places + WORD), load64(places + 2 * WORD), load64(places + 3 * WORD))
    address, out, cells, kinds = get(task, "input"), get(task, "out"), get(task, "cells"), get(task, "kinds")
    room, more = get(task, "room"), get(task, "more")
    judged_size = size if get(task, "judges_output") else 0
    judges_offsets = says_offsets(convention) and get(task, "judges_offsets")
    rows, accepting = get(task, "rows_of_octets"), get(task, "accepting_bits")
    dead, plain = get(task, "dead"), get(task, "plain")
    make, behind, dirty = get(task, "make"), get(task, "behind"), REACH
    around, verdicts, first = get(task, "around"), get(task, "made_verdicts"), get(task, "made_first")
    stop = min(until, index + FLUSH)
    while index < until:
        put(task, "number", index)
        run(make, task)
        length = get(task, "end")
        _surround(address + length, length, dirty, behind, around)
        dirty = length if length < LONGEST else REACH  # of one that was cut off, there was more
        if verdicts:
            seen, right = _kept(load32(verdicts + 4 * (index - first)))
        else:
            seen, right = read(address, length, rows, accepting, dead, plain)
        store64(progress, index)
        status, number = ask(convention, functions, address, length, out, room * length + more, cells)
        octets += length
        kind = judged(status, number, right, seen, 0, 0, 0, length, judged_size, judges_offsets, task)
        if unlikely(kind != 0):
            store8(kinds + index, kind)
        well_formed += right
        accepted += status == ACCEPTED
        checksum = checked(checksum, index, status, number)
        strings += 1
        index = hidden(index + 1)
        if index == stop:
            publish(index, strings, octets, well_formed, accepted, checksum, progress)
            stop = min(until, index + FLUSH)


def sources() -> tuple[Path, ...]:
    """Files that these loops are made of, besides those of sweeps."""
    folders = (Path(__file__).parent, Path(generation.__file__ or "").parent)
    return tuple(file for folder in folders for file in sorted(folder.glob("*.py")))


def inputs_of(convention: Any) -> Compiled:
    """:func:`ask_inputs`, compiled for a convention."""
    return Compiled(ask_inputs, convention, *[types.int64] * 2)


def making() -> Compiled:
    """:func:`make_input`, compiled."""
    return Compiled(make_input, edition(*sources()), types.int64)


def taking() -> Compiled:
    """:func:`take_input`, compiled."""
    return Compiled(take_input, edition(*sources()), types.int64)


@cache
def _compiled_judge() -> Compiled:
    return Compiled(judge_inputs, edition(*sources()), *[types.int64] * 5)


def verdicts_on(lengths: Sequence[int], octets: bytes, automaton: Automaton) -> bytes:
    """What an automaton says of inputs in a row: 32 bits for each, as the loop reads them.

    Raises:
        ValueError: the automaton is too large.
    """
    oracle, numbers, inputs = (
        PackedAutomaton.of(automaton),
        np.asarray(lengths, np.uint32),
        np.frombuffer(octets, np.uint8),
    )
    told = np.array((oracle.rows.ctypes.data, *oracle[1:]), np.int64)
    found = np.empty(len(numbers), np.uint32)
    addresses = (each.ctypes.data for each in (numbers, inputs, found, told))
    _compiled_judge()(len(numbers), *addresses)
    return found.tobytes()
