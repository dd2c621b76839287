# pyright: basic
"""The compiled loop with its memory: the one thing that others use of this package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlong.conformance.sweep.compiled.calls import convention
from overlong.conformance.sweep.compiled.kernel import BEHIND, CELLS, LEVEL, LoopTask
from overlong.conformance.sweep.compiled.loop import Asking, aligned, surrounded
from overlong.conformance.sweep.compiled.tables import WORD
from overlong.conformance.sweep.grid import CONTINUATION
from overlong.conformance.targets.adapters.abi import UNIT
from overlong.fuzz.execution.compiled.kernel import Making, inputs_of, making, sources, taking
from overlong.fuzz.execution.compiled.oracle import PackedAutomaton
from overlong.fuzz.execution.made import Inputs
from overlong.fuzz.generation.choice import REACH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.compiled.cached import Compiled
    from overlong.conformance.sweep.compiled.tables import Array, Octets
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout


@cache
def compiled_for(abi: Abi) -> Compiled:
    """Compile the loop for a convention, or load it: what takes a while, and needs no function yet."""
    compiled_inputs()
    return inputs_of(convention(abi, *sources()))


@cache
def compiled_inputs() -> tuple[Compiled, Compiled]:
    """The same for what makes an input, and for what takes one that is made."""
    return making(), taking()


class InputLoop(Asking[Inputs]):
    """Asks inputs by their numbers."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expectation: ExpectedAnswers, layout: Layout) -> None:
        """Compile the loop for that convention, or load it; the arguments are those of :class:`Asking`.

        Raises:
            ValueError: the convention puts out other units than are expected, or the automaton is too large.
        """
        super().__init__(abi, addresses, expectation, layout)
        self._ask = compiled_for(abi)
        self._make, self._take = compiled_inputs()
        self._oracle = PackedAutomaton.of(expectation.automaton)
        self._memory = _Memory.of(abi)

    def _size(self, strings: Inputs) -> int:
        return strings.size

    def _ask_until(self, strings: Inputs, until: int, progress: int, kinds: int) -> None:
        memory, oracle, made = self._memory, self._oracle, strings.made
        task = LoopTask(
            **self._known(),
            **dict.fromkeys(_OF_GRIDS, 0),
            octets=memory.input.ctypes.data,
            axes=memory.axis.ctypes.data,
            axis_count=1,
            behind=memory.behind,
            input=memory.input.ctypes.data,
            out=memory.out.ctypes.data,
            cells=memory.cells.ctypes.data,
            wanted=memory.wanted.ctypes.data,
            levels=memory.nothing.ctypes.data,
            starts=0,
            progress=progress,
            kinds=kinds,
        )
        told = Making(
            rows_of_octets=oracle.rows.ctypes.data,
            accepting_bits=oracle.accepting,
            dead=oracle.dead,
            plain=oracle.plain,
            made_of=0 if made else strings.generated.writer.address,
            around=int.from_bytes(bytes([memory.behind]) * WORD, "little", signed=True),
            make=self._take.address if made else self._make.address,
        )
        if made:
            address, judge = made.address, strings.generated.spoken.automaton
            mine = self._expectation.automaton  # with its traits
            same = (mine.table, mine.accepting) == (judge.table, judge.accepting)
            told = told._replace(
                made_lengths=address,
                made_first=made.first,
                made_octets=address + 8 * made.count,
                made_verdicts=address + 4 * made.count if same else 0,
                made_number=made.first,
            )
        words = np.array((*task, *told), np.int64)
        words[LoopTask._fields.index("starts")] = words.ctypes.data + WORD * (len(task) + told._fields.index("start"))
        self._ask(until, words.ctypes.data)


_OF_GRIDS = (
    "alike", "padded", "read", "short", "longest_last", "earlier", "before", "run",
)  # fmt: skip
"""Fields of a :class:`LoopTask` that only a loop over a grid looks at."""


class _Memory(NamedTuple):
    """Where inputs and outputs are."""

    behind: int
    """The octet that stands behind an input."""
    input: Octets
    out: Octets
    wanted: Octets
    cells: Octets
    nothing: Array
    """What was read before an input: a level of zeros."""
    axis: Array
    """An input is the one piece of one axis."""

    @classmethod
    def of(cls, abi: Abi) -> _Memory:
        behind = 0 if abi.terminated else CONTINUATION
        octets = (max(abi.room(REACH), 4 * REACH) + BEHIND) * UNIT.get(abi.units, 1)
        return cls(
            behind,
            surrounded(REACH, CONTINUATION, behind),
            aligned(octets),
            aligned(octets),
            aligned(CELLS),
            np.zeros(LEVEL // WORD, np.int64),
            np.array((0, 1), np.int64),
        )
