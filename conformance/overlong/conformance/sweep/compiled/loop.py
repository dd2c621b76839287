# pyright: basic
"""A compiled loop with its memory: the one thing that others use of this package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from overlong.conformance.sweep.compiled.calls import convention
from overlong.conformance.sweep.compiled.kernel import BEHIND, CELLS, LEVEL, LoopTask, asking, run_of
from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.compiled.tables import WORD, CompiledReader, PieceTable, reading
from overlong.conformance.targets.adapters.abi import UNIT
from overlong.reference.order import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.compiled.cached import Compiled
    from overlong.conformance.sweep.compiled.tables import Array, Octets
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

__all__ = ["PROGRESS_OCTETS", "GridLoop", "Progress", "compiled_for"]

FUNCTIONS = 4
"""Functions that are called at most: of a stream, all but its ``reset``."""
ALIGNED = 64
"""A string begins at an address that this divides: a line of the cache, a register of the widest vector unit."""


@cache
def compiled_for(abi: Abi) -> tuple[Compiled, Compiled]:
    """Compile the loop for a convention, or load it: what takes a while, and needs no function yet."""
    reading()
    return asking(), run_of(convention(abi))


S = TypeVar("S")
"""Strings by their numbers, of whatever kind."""


class Asking(Generic[S]):
    """Asks functions at addresses in this process, whatever the strings are. ``compiled/__init__.py`` says how."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expectation: ExpectedAnswers, layout: Layout) -> None:
        """Compile nothing.

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
        self._functions = np.zeros(FUNCTIONS, np.int64)
        self._functions[: len(addresses)] = addresses[:FUNCTIONS]
        self._reader = CompiledReader.of(expectation.automaton, layout)
        self._signature = (expectation.strips_signature and layout.encode(SIGNATURE)) or b""

    def run(
        self, strings: S, until: int, progress: Progress, kinds: mmap | bytearray | memoryview, origin: int
    ) -> None:
        """Ask all strings from ``progress.reached`` up to ``until``, which is not asked.

        Args:
            strings: they.
            until: a number of a string, or how many there are.
            progress: how far the loop is, before and after.
            kinds: an octet for each string; ``kinds[index - origin]`` becomes the kind of one that diverges.
            origin: the number of the string whose kind comes first.

        Raises:
            ValueError: there are not all of those strings, or ``kinds`` has no place for them.
        """
        first, size = progress.reached, self._size(strings)
        if not (0 <= origin <= first <= until <= size and until - origin <= len(kinds)):
            raise ValueError(f"strings {first} to {until} of {size}; kinds of {len(kinds)} from {origin} on")
        if first == until:
            return
        codes = np.frombuffer(kinds, np.uint8)
        words = np.frombuffer(progress.words, np.int64)
        codes[first - origin : max(first, progress.index + 1) - origin] = 0  # of those that are asked once more
        self._ask_until(strings, until, words.ctypes.data, codes.ctypes.data - origin)

    def _size(self, strings: S) -> int:
        """How many there are."""
        raise NotImplementedError

    def _ask_until(self, strings: S, until: int, progress: int, kinds: int) -> None:
        """Ask them; the addresses of the progress, and of the kind of string number 0."""
        raise NotImplementedError

    def _known(self) -> dict[str, int]:
        """Fields of a :class:`LoopTask` that no string has a say in."""
        reader, expectation = self._reader, self._expectation
        return {
            "table": reader.table.ctypes.data,
            "accepting": reader.accepting.ctypes.data,
            "lead": reader.lead.ctypes.data,
            "layout": reader.layout.ctypes.data,
            "rows": len(reader.layout) // 4,
            "room": self._abi.room(1) - self._abi.room(0),
            "more": self._abi.room(0),
            "judges_output": bool(expectation.units),
            "judges_offsets": expectation.offsets,
            "signature": int.from_bytes(self._signature, "little"),
            "signature_mask": (1 << 8 * len(self._signature)) - 1,
            "has_nul_trait": expectation.has_nul_trait,
            "functions": self._functions.ctypes.data,
        }


class GridLoop(Asking["Grid"]):
    """Asks the strings of grids."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expectation: ExpectedAnswers, layout: Layout) -> None:
        """Compile the loop for that convention, or load it; the arguments are those of :class:`Asking`."""
        super().__init__(abi, addresses, expectation, layout)
        self._ask, self._run = compiled_for(abi)
        self._arranged: _Arranged | None = None

    def _size(self, strings: Grid) -> int:
        return strings.size

    def _ask_until(self, strings: Grid, until: int, progress: int, kinds: int) -> None:
        if self._arranged is None or self._arranged.grid is not strings:
            self._arranged = _Arranged(strings, self._abi, self._reader)
        task = self._task(self._arranged, progress, kinds)
        self._ask(UNIT.get(self._abi.units, 0), until, task.ctypes.data)

    def _task(self, arranged: _Arranged, progress: int, kinds: int) -> Array:
        pieces = arranged.pieces
        task = LoopTask(
            **self._known(),
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
            levels=arranged.levels.ctypes.data,
            progress=progress,
            kinds=kinds,
            run=self._run.address,
            dirty=arranged.grid.longest + WORD,  # an earlier run was there
        )
        return np.array(task, np.int64)


class _Arranged:
    """A grid in memory."""

    def __init__(self, grid: Grid, abi: Abi, reader: CompiledReader) -> None:
        self.grid = grid
        self.behind = 0 if abi.terminated else grid.around
        self.pieces = PieceTable.of(grid, reader, self.behind)
        self.input = surrounded(grid.longest, grid.around, self.behind)
        self.before = surrounded(grid.longest, grid.around, self.behind)
        units = max(abi.room(grid.longest), 4 * grid.longest) + BEHIND
        self.out = aligned(units * UNIT.get(abi.units, 1))
        self.wanted = aligned(units * UNIT.get(abi.units, 1))
        self.cells = aligned(CELLS)
        self.levels = np.zeros(len(grid.axes) * LEVEL // WORD, np.int64)


def aligned(octets: int) -> Octets:
    """Zeros that begin at a multiple of :data:`ALIGNED`, and as many behind them."""
    memory = np.zeros(octets + 2 * ALIGNED, np.uint8)
    return memory[-memory.ctypes.data % ALIGNED :]


def surrounded(octets: int, around: int, behind: int) -> Octets:
    """Room for a string, with at least :data:`BEHIND` octets before it and behind it."""
    memory = aligned(BEHIND + octets + 2 * BEHIND + WORD)
    memory[:BEHIND] = around
    memory[BEHIND:] = behind
    return memory[BEHIND:]
