# pyright: basic
"""Inputs by their numbers as sources of the core's loop, which sweeps use, too (needs NumPy: import it late).

Inputs have nothing in common, so each is a run of its own, and all of it its last piece: ``inputs.c`` of
:mod:`overlong.reference.core`. What a sweep does about crashes and calls that do not return is done here as well.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from overlong.conformance.sweep.compiled import PLACES, Asking, Memory
from overlong.conformance.sweep.grid import CONTINUATION
from overlong.fuzz.execution.made import NUMBER, Inputs
from overlong.fuzz.generation.choice import REACH


class InputWords(NamedTuple):
    """The words after a ``LoopTask``: what inputs are made of, or where those are that were made."""

    read: int
    """The address of room for a verdict."""
    by: int = 0
    """The address of the tables from which inputs are made."""
    lengths: int = 0
    """Where made inputs are: the address of the length of the next one, and of its octets."""
    octets: int = 0
    known: int = 0
    """The address of what ``made.verdicts_on`` says of it; 0: the source reads it."""
    dirty: int = PLACES + REACH
    """How far behind ``base`` there may be octets that are not those around an input."""


class InputLoop(Asking):
    """Asks inputs by their numbers."""

    alone = True

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._abi, REACH, CONTINUATION)

    def _source(self, strings: Inputs, first: int) -> tuple[Memory, str, dict[str, int], InputWords]:
        memory, made = self._memory, strings.made
        own = InputWords(memory.spare.ctypes.data)
        run = {"read": own.read}
        if made is None:
            return memory, "make_input", run, own._replace(by=strings.generated.writer.address)
        judge, mine = strings.generated.spoken.automaton, self._expectation.automaton  # with its traits
        same = (mine.table, mine.accepting) == (judge.table, judge.accepting)
        own = own._replace(
            lengths=made.address + NUMBER * (first - made.first),
            known=made.address + NUMBER * (made.count + first - made.first) if same else 0,
            octets=made.address + made.before(first),
        )
        return memory, "take_input", run, own
