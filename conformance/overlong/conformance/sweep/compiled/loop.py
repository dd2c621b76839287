# pyright: basic
"""The core's loop with its memory: the public interface of this package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.compiled.tables import CharacterBits, PieceTable
from overlong.conformance.sweep.compiled.task import AROUND, PLACES, WORD, GridWords, Level, LoopTask
from overlong.conformance.targets.adapters.abi import UNIT
from overlong.reference.core import core
from overlong.reference.order import SIGNATURE
from overlong.reference.shift import ShiftAutomaton

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.compiled.tables import Octets
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

__all__ = ["PROGRESS_OCTETS", "GridLoop", "Progress"]

FUNCTIONS = 4
"""The most functions that a loop calls: those of a stream, except its ``reset``."""
CELLS = 64
"""The octets of the cells."""


class Numbered(Protocol):
    """Numbered strings of any kind."""

    @property
    def size(self) -> int:
        """The number of strings."""
        ...


S = TypeVar("S", bound=Numbered)


class Asking(ABC, Generic[S]):
    """Asks functions at addresses in this process strings of any kind: see ``compiled/__init__.py``."""

    alone = False
    """True if the strings share no parts: each is a run of its own."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expectation: ExpectedAnswers, layout: Layout) -> None:
        """Prepare for one convention.

        Args:
            abi: how the functions are called; one of ``ABIS``.
            addresses: those of the function, or of a stream's functions in the order of ``abi.functions``.
            expectation: the expectation to judge by.
            layout: the layout of the expected characters.

        Raises:
            NoCore: there is no core in C.
            ValueError: the convention's output units are not the expected ones, or the automaton is too large.
        """
        if expectation.units not in ("", abi.units):
            raise ValueError(f"{abi.name} outputs {abi.units or 'nothing'}, and {expectation.units} is expected")
        self._abi, self._expectation = abi, expectation
        self._convention = core().convention(abi.name)
        self._functions = np.zeros(FUNCTIONS, np.int64)
        self._functions[: len(addresses)] = addresses[:FUNCTIONS]
        self._automaton, self._bits = ShiftAutomaton(expectation.automaton), CharacterBits.of(layout)
        self._signature = (expectation.strips_signature and layout.encode(SIGNATURE)) or b""

    def run(
        self, strings: S, until: int, progress: Progress, kinds: mmap | bytearray | memoryview, origin: int
    ) -> None:
        """Ask all strings from ``progress.reached`` up to, but not including, ``until``.

        Args:
            strings: the strings.
            until: the number of a string, or the number of strings.
            progress: the progress of the loop, updated.
            kinds: an octet for each string; ``kinds[index - origin]`` becomes the kind of one that diverges.
            origin: the number of the string whose kind comes first.

        Raises:
            ValueError: some of those strings do not exist, or ``kinds`` is too small for them.
        """
        first, size = progress.reached, strings.size
        if not (0 <= origin <= first <= until <= size and until - origin <= len(kinds)):
            raise ValueError(f"strings {first} to {until} of {size}; kinds of {len(kinds)} from {origin} on")
        if first == until:
            return
        codes = np.frombuffer(kinds, np.uint8)
        codes[first - origin : max(first, progress.index + 1) - origin] = 0  # those of strings that are asked again
        words = np.frombuffer(progress.words, np.int64)
        memory, source, run, own = self._source(strings, first)
        loop = "loop_over_single" if self.alone else "loop_over_runs"
        task = LoopTask(
            by=self._automaton.address,
            lead=self._bits.lead.ctypes.data,
            layout=self._bits.layout.ctypes.data,
            layout_rows=len(self._bits.layout) // 4,
            unit=UNIT.get(self._expectation.units, 0),
            judges_offsets=self._expectation.offsets,
            signature=int.from_bytes(self._signature, "little"),
            signature_mask=(1 << 8 * len(self._signature)) - 1,
            has_nul_trait=self._expectation.has_nul_trait,
            functions=self._functions.ctypes.data,
            room=self._abi.room(1) - self._abi.room(0),
            more=self._abi.room(0),
            base=memory.base.ctypes.data,
            before=memory.before.ctypes.data,
            around=memory.around,
            behind=memory.behind,
            out=memory.out.ctypes.data,
            wanted=memory.wanted.ctypes.data,
            cells=memory.cells.ctypes.data,
            progress=words.ctypes.data,
            kinds=codes.ctypes.data,
            origin=origin,
            lay_out=core().address(source),
            **run,
        )
        told = np.array((*task, *own), np.int64)
        core()(loop, self._convention, until, told.ctypes.data)

    @abstractmethod
    def _source(self, strings: S, first: int) -> tuple[Memory, str, dict[str, int], Sequence[int]]:
        """The place of the strings, the name of the source, and its data: words of the task, and words after it.

        The source begins with the string of number ``first``.
        """


class Memory:
    """Memory for strings up to a length, and for their output."""

    def __init__(self, abi: Abi, longest: int, around: int) -> None:
        self.around, self.behind = around, 0 if abi.terminated else around
        self.base = surrounded(longest + PLACES, around, self.behind)
        self.before = surrounded(longest, around, self.behind)
        octets = (max(abi.room(longest), 4 * longest) + AROUND) * UNIT.get(abi.units, 1)
        self.out, self.wanted = aligned(octets), aligned(octets)
        self.cells = aligned(CELLS)
        self.spare = np.zeros(1, np.int64)


class GridLoop(Asking["Grid"]):  # pyright: ignore[reportInvalidTypeArguments]  # it takes cached_property for no int
    """Asks the strings of grids."""

    _arranged: _Arranged | None = None

    def _source(self, strings: Grid, first: int) -> tuple[Memory, str, dict[str, int], GridWords]:
        if self._arranged is None or self._arranged.grid is not strings:
            self._arranged = _Arranged(strings, self._abi, self._automaton)
        arranged, pieces = self._arranged, self._arranged.pieces
        arranged.levels[:, Level._fields.index("choice")] = strings.place(first)
        own = GridWords(
            octets=pieces.octets.ctypes.data,
            starts=pieces.starts.ctypes.data,
            axes=pieces.axes.ctypes.data,
            alike=pieces.alike.ctypes.data,
            padded=pieces.padded.ctypes.data,
            verdicts=pieces.verdicts.ctypes.data,
            is_short=pieces.longest_last <= WORD,
            is_placed=strings.placed,
            longest_last=pieces.longest_last,
            last_axis=len(strings.axes) - 1,
            levels=arranged.levels.ctypes.data,
            line=arranged.line.ctypes.data,
            earlier=arranged.before.ctypes.data,
            spare=arranged.spare.ctypes.data,
            dirty=PLACES + strings.longest + WORD,  # an earlier run may have written here
        )
        return arranged, "lay_out_grid", {"earlier": strings.earlier}, own


class _Arranged(Memory):
    """A grid in memory."""

    def __init__(self, grid: Grid, abi: Abi, automaton: ShiftAutomaton) -> None:
        super().__init__(abi, grid.longest, grid.around)
        self.grid = grid
        self.pieces = PieceTable.of(grid, automaton, self.behind)
        self.levels = np.zeros((len(grid.axes), len(Level._fields)), np.int64)
        self.line = aligned(grid.longest + WORD)


def aligned(octets: int) -> Octets:
    """Zeros that begin at a multiple of :data:`PLACES`, and as many after them."""
    memory = np.zeros(octets + 2 * PLACES, np.uint8)
    return memory[-memory.ctypes.data % PLACES :]


def surrounded(octets: int, around: int, behind: int) -> Octets:
    """Room for a string, with at least :data:`AROUND` octets before and after it."""
    memory = aligned(AROUND + octets + 2 * AROUND + WORD)
    memory[:AROUND] = around
    memory[AROUND:] = behind
    return memory[AROUND:]
