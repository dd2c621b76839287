# pyright: basic
"""A compiled loop with its memory: the one thing that others use of this package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.adapters.abi import UNIT
from overlong.conformance.sweep.compiled.calls import convention
from overlong.conformance.sweep.compiled.kernel import BEHIND, CELLS, LEVEL, Task, asking, run_of
from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.compiled.tables import WORD, Pieces, Reader, reading
from overlong.reference.order import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

    from overlong.conformance.adapters.abi import Abi
    from overlong.conformance.sweep.compiled.cached import Compiled
    from overlong.conformance.sweep.compiled.tables import Array, Octets
    from overlong.conformance.sweep.expectation import Expectation
    from overlong.conformance.sweep.grid import Grid
    from overlong.reference.layout import Layout

__all__ = ["PROGRESS_OCTETS", "Loop", "Progress", "compiled_for"]

FUNCTIONS = 4
"""Functions that are called at most: of a stream, all but its ``reset``."""
ALIGNED = 64
"""A string begins at an address that this divides: a line of the cache, a register of the widest vector unit."""


@cache
def compiled_for(abi: Abi) -> tuple[Compiled, Compiled]:
    """Compile the loop for a convention, or load it: what takes a while, and needs no function yet."""
    reading()
    return asking(), run_of(convention(abi))


class Loop:
    """Asks functions at addresses in this process. ``compiled/__init__.py`` says how."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expectation: Expectation, layout: Layout) -> None:
        """Compile the loop for that convention, or load it.

        Args:
            abi: how the functions are called; one of ``ABIS``.
            addresses: of the function; of a stream's functions, in the order of ``abi.functions``.
            expectation: what is right.
            layout: of the characters that are expected.

        Raises:
            ValueError: the convention puts out other units than are expected.
        """
        if expectation.units not in ("", abi.units):
            raise ValueError(f"{abi.name} puts out {abi.units or 'nothing'}, and {expectation.units} is expected")
        self._abi, self._expectation = abi, expectation
        self._ask, self._run = compiled_for(abi)
        self._functions = np.zeros(FUNCTIONS, np.int64)
        self._functions[: len(addresses)] = addresses[:FUNCTIONS]
        self._reader = Reader.of(expectation.automaton, layout)
        self._signature = (expectation.strips_signature and layout.encode(SIGNATURE)) or b""
        self._arranged: _Arranged | None = None

    def run(
        self, grid: Grid, until: int, progress: Progress, kinds: mmap | bytearray | memoryview, origin: int
    ) -> None:
        """Ask all strings from ``progress.reached`` up to ``until``, which is not asked.

        Args:
            grid: whose strings they are.
            until: a number of a string, or ``grid.size``.
            progress: how far the loop is, before and after.
            kinds: an octet for each string; ``kinds[index - origin]`` becomes the kind of one that diverges.
            origin: the number of the string whose kind comes first.

        Raises:
            ValueError: those strings are not all of the grid, or ``kinds`` has no place for them.
        """
        first = progress.reached
        if not (0 <= origin <= first <= until <= grid.size and until - origin <= len(kinds)):
            raise ValueError(f"strings {first} to {until} of {grid.size}; kinds of {len(kinds)} from {origin} on")
        if first == until:
            return
        codes = np.frombuffer(kinds, np.uint8)
        words = np.frombuffer(progress.words, np.int64)
        codes[first - origin : max(first, progress.index + 1) - origin] = 0  # of those that are asked once more
        if self._arranged is None or self._arranged.grid is not grid:
            self._arranged = _Arranged(grid, self._abi, self._reader)
        task = self._task(self._arranged, words.ctypes.data, codes.ctypes.data - origin)
        self._ask(UNIT.get(self._abi.units, 0), until, task.ctypes.data)

    def _task(self, arranged: _Arranged, progress: int, kinds: int) -> Array:
        reader, pieces, expectation = self._reader, arranged.pieces, self._expectation
        task = Task(
            table=reader.table.ctypes.data,
            accepting=reader.accepting.ctypes.data,
            lead=reader.lead.ctypes.data,
            layout=reader.layout.ctypes.data,
            rows=len(reader.layout) // 4,
            octets=pieces.octets.ctypes.data,
            starts=pieces.starts.ctypes.data,
            axes=pieces.axes.ctypes.data,
            alike=pieces.alike.ctypes.data,
            padded=pieces.padded.ctypes.data,
            read=pieces.read.ctypes.data,
            short=pieces.longest_last <= WORD and not arranged.grid.earlier,
            longest_last=pieces.longest_last,
            axis_count=len(arranged.grid.axes),
            earlier=arranged.grid.earlier,
            behind=arranged.behind,
            input=arranged.input.ctypes.data,
            before=arranged.before.ctypes.data,
            out=arranged.out.ctypes.data,
            cells=arranged.cells.ctypes.data,
            wanted=arranged.wanted.ctypes.data,
            room=self._abi.room(1) - self._abi.room(0),
            more=self._abi.room(0),
            judges_output=bool(expectation.units),
            judges_offsets=expectation.offsets,
            signature=int.from_bytes(self._signature, "little"),
            signature_mask=(1 << 8 * len(self._signature)) - 1,
            has_nul_trait=expectation.has_nul_trait,
            levels=arranged.levels.ctypes.data,
            progress=progress,
            kinds=kinds,
            functions=self._functions.ctypes.data,
            run=self._run.address,
            dirty=arranged.grid.longest + WORD,  # an earlier run was there
        )
        return np.array(task, np.int64)


class _Arranged:
    """A grid in memory."""

    def __init__(self, grid: Grid, abi: Abi, reader: Reader) -> None:
        self.grid = grid
        self.behind = 0 if abi.terminated else grid.around
        self.pieces = Pieces.of(grid, reader, self.behind)
        self.input = _surrounded(grid.longest, grid.around, self.behind)
        self.before = _surrounded(grid.longest, grid.around, self.behind)
        units = max(abi.room(grid.longest), 4 * grid.longest) + BEHIND
        self.out = _aligned(units * UNIT.get(abi.units, 1))
        self.wanted = _aligned(units * UNIT.get(abi.units, 1))
        self.cells = _aligned(CELLS)
        self.levels = np.zeros(len(grid.axes) * LEVEL // WORD, np.int64)


def _aligned(octets: int) -> Octets:
    """Zeros that begin at a multiple of :data:`ALIGNED`, and as many behind them."""
    memory = np.zeros(octets + 2 * ALIGNED, np.uint8)
    return memory[-memory.ctypes.data % ALIGNED :]


def _surrounded(octets: int, around: int, behind: int) -> Octets:
    """Room for a string, with at least :data:`BEHIND` octets before it and behind it."""
    memory = _aligned(BEHIND + octets + 2 * BEHIND + WORD)
    memory[:BEHIND] = around
    memory[BEHIND:] = behind
    return memory[BEHIND:]
