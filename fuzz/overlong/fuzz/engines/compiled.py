# pyright: basic
"""Inputs by their numbers as sources of the core's loop, which sweeps use, too (needs NumPy: import it late).

Inputs have nothing in common, so each is a run of its own, and all of it its last piece: ``inputs.c`` of
:mod:`overlong.reference.core`. What a sweep does about crashes and calls that do not return is done here as well.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from overlong.conformance.sweep.compiled import PLACES, Asking, Memory
from overlong.conformance.sweep.grid import CONTINUATION
from overlong.fuzz.choice import REACH

if TYPE_CHECKING:
    from overlong.fuzz.generated import Generated


class InputLoop(Asking):
    """Asks inputs by their numbers."""

    alone = True

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._abi, REACH, CONTINUATION)

    def _source(self, strings: Generated, first: int) -> tuple[Memory, str, dict[str, int], tuple[int, ...]]:  # noqa: ARG002 (the loop says the number)
        memory = self._memory
        verdict = memory.spare.ctypes.data
        # then what is behind a LoopTask: room for a verdict, the tables from which inputs are made, and how far behind
        # `base` there may be octets that are not those around an input
        return memory, "make_input", {"read": verdict}, (verdict, strings.address, PLACES + REACH)
