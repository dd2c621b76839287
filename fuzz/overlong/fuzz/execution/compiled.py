# pyright: basic
"""Inputs by their numbers as sources of the compiled loop, which sweeps use, too (needs Numba: import it late).

Inputs have nothing in common, so each is a run of its own, and all of it its last piece. What a sweep does about
crashes and calls that do not return is done here as well.
"""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from overlong.conformance.sweep.compiled import sources as of_loops
from overlong.conformance.sweep.compiled.automaton import verdict
from overlong.conformance.sweep.compiled.loop import Asking, Memory
from overlong.conformance.sweep.compiled.packed import PackedAutomaton
from overlong.conformance.sweep.compiled.place import apart
from overlong.conformance.sweep.compiled.task import ALIGNED, LoopTask
from overlong.conformance.sweep.grid import CONTINUATION
from overlong.conformance.targets.adapters.compiled import WORD
from overlong.conformance.targets.adapters.compiled.cached import Compiled
from overlong.conformance.targets.adapters.compiled.memory import (
    copy,
    fields,
    fill,
    load32,
    load64,
    store32,
    store64,
    unlikely,
)
from overlong.fuzz.execution.made import NUMBER, Inputs
from overlong.fuzz.generation.choice import LONGEST, REACH, SLACK
from overlong.fuzz.generation.compiled import sources, write_input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.automaton import Automaton

_CLEARED = SLACK + ALIGNED
_WORDS_BEHIND = _CLEARED // WORD


class InputWords(NamedTuple):
    """Behind a :class:`LoopTask`: how inputs are made, or where those are that were made."""

    before: int
    """The octet before an input."""
    around: int
    """A word of what stands behind an input."""
    made_of: int = 0
    """Address of the tables from which inputs are made."""
    lengths: int = 0
    """Where made inputs stand: address of the length of the next one, and of its octets."""
    octets: int = 0
    verdicts: int = 0
    """How far behind its length there is what :func:`judge_inputs` said of it; 0: the loop reads it itself."""
    dirty: int = REACH
    """The number of octets from an input's address on that are not those that stand around it."""


get, put = fields((*LoopTask._fields, *InputWords._fields))


@register_jitable
def _address(task: int) -> int:
    """Say where the next input stands, all of it its last piece: its number determines that."""
    address = get(task, "input") + apart(get(task, "next"))
    put(task, "address", address)
    put(task, "pieces", address)
    return address  # type: ignore[no-any-return]


@register_jitable
def _lay_out(length: int, task: int) -> None:
    """Say of the input that was just written, maybe over what stood behind it, how long it is, and fill up around."""
    address, word = get(task, "address"), get(task, "around")
    end, dirty = address + length, get(task, "input") + ALIGNED + get(task, "dirty")
    fill(address - ALIGNED, get(task, "before"), ALIGNED)
    for place in range(_WORDS_BEHIND):
        store64(end + WORD * place, word)
    if dirty > end + _CLEARED:
        fill(end + _CLEARED, get(task, "behind"), dirty - end - _CLEARED)
    put(task, "dirty", length if length < LONGEST else REACH)  # of one that was cut off, there was more
    put(task, "whole", length)


@register_jitable
def _read(length: int, task: int) -> None:
    """Read that input."""
    store64(get(task, "read"), verdict(get(task, "address"), length, 0, get(task, "automaton")))


def make_input(_nothing: Any, task: int) -> None:
    """Make the next input.

    Args:
        _nothing: an empty parameter.
        task: the address of a :class:`LoopTask`, and of :class:`InputWords` right behind it.
    """
    length = write_input(get(task, "next"), get(task, "made_of"), _address(task))
    _lay_out(length, task)
    _read(length, task)


def take_input(_nothing: Any, task: int) -> None:
    """Take the next input from those that were made; the arguments are the same."""
    lengths, source, verdicts = get(task, "lengths"), get(task, "octets"), get(task, "verdicts")
    address, length = _address(task), load32(lengths)
    for each in range(SLACK // WORD):
        store64(address + WORD * each, load64(source + WORD * each))
    if unlikely(length > SLACK):
        copy(address + SLACK, source + SLACK, length - SLACK)
    put(task, "lengths", lengths + NUMBER)
    put(task, "octets", source + length)
    _lay_out(length, task)
    if verdicts:
        store64(get(task, "read"), load32(lengths + verdicts))
    else:
        _read(length, task)


def judge_inputs(_nothing: Any, count: int, lengths: int, octets: int, verdicts: int, automaton: int) -> None:
    """Read inputs that stand in a row, once for all targets.

    Args:
        _nothing: an empty parameter.
        count: of inputs.
        lengths: address of the octets of each, as 32 bits.
        octets: address of them.
        verdicts: address of what is written, 32 bits for each: what :func:`~.automaton.verdict` says.
        automaton: address of its words.
    """
    for each in range(0, NUMBER * count, NUMBER):
        length = load32(lengths + each)
        store32(verdicts + each, verdict(octets, length, 0, automaton))
        octets += length


@cache
def _compiled(function: Callable[..., None], numbers: int) -> Compiled:
    """One of these functions, compiled: the first two take long, and are the same for all conventions."""
    return Compiled(function.__name__, numbers, lambda: (function, None), Path(__file__), *sources(), *of_loops())


def verdicts_on(lengths: Sequence[int], octets: bytes, automaton: Automaton) -> bytes:
    """What an automaton says of inputs in a row: 32 bits for each, as the loop reads them.

    Raises:
        ValueError: the automaton is too large.
    """
    words, numbers, inputs = PackedAutomaton(automaton), np.asarray(lengths, np.uint32), np.frombuffer(octets, np.uint8)
    found = np.empty(len(numbers), np.uint32)
    addresses = (each.ctypes.data for each in (numbers, inputs, found, words.words))
    _compiled(judge_inputs, 5)(len(numbers), *addresses)
    return found.tobytes()


class InputLoop(Asking[Inputs]):
    """Asks inputs by their numbers."""

    alone = True

    @classmethod
    def compile(cls, abi: Abi) -> None:
        super().compile(abi)
        for each in (make_input, take_input):
            _compiled(each, 1)

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._abi, REACH, CONTINUATION)

    def _source(self, strings: Inputs, first: int) -> tuple[Memory, Compiled, dict[str, int], InputWords]:
        memory, made = self._memory, strings.made
        spare, read = memory.spare.ctypes.data, memory.spare[1:].ctypes.data
        run = {"words": spare, "at": spare, "read": read}
        own = InputWords(memory.around, int.from_bytes(bytes([memory.behind]) * WORD, "little", signed=True))
        if made is None:
            return memory, _compiled(make_input, 1), run, own._replace(made_of=strings.generated.writer.address)
        judge, mine = strings.generated.spoken.automaton, self._expectation.automaton  # with its traits
        same = (mine.table, mine.accepting) == (judge.table, judge.accepting)
        own = own._replace(
            lengths=made.address + NUMBER * (first - made.first),
            verdicts=NUMBER * made.count if same else 0,
            octets=made.address + made.before(first),
        )
        return memory, _compiled(take_input, 1), run, own
