# pyright: basic
"""A compiled loop with its memory: the public interface of this package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from overlong.conformance.sweep.compiled import sources
from overlong.conformance.sweep.compiled.packed import PackedAutomaton
from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.compiled.tables import CharacterBits, PieceTable, reading
from overlong.conformance.sweep.compiled.task import ALIGNED, BEHIND, LEVEL, PLACE, GridWords, LoopTask
from overlong.conformance.targets.adapters.abi import UNIT
from overlong.conformance.targets.adapters.compiled import WORD
from overlong.conformance.targets.adapters.compiled.cached import Compiled
from overlong.reference.order import SIGNATURE

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


@cache
def _compiled_for(abi: Abi, *, alone: bool) -> Compiled:
    """Compile the loop for a convention, or load it from the cache."""

    def make() -> tuple[Any, Any]:
        from overlong.conformance.sweep.compiled.kernel import loop_over
        from overlong.conformance.targets.adapters.compiled.calls import Convention

        return loop_over(alone=alone), Convention(abi.name)

    return Compiled(f"loop-{abi.name}{'-alone' * alone}", 2, make, *sources())


@cache
def _laying_out() -> Compiled:
    """The source of grids, compiled."""

    def make() -> tuple[Any, Any]:
        from overlong.conformance.sweep.compiled.grids import lay_out

        return lay_out, None

    return Compiled("grids", 1, make, *sources())


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
        """Compile the loop for that convention, or load it from the cache.

        Args:
            abi: how the functions are called; one of ``ABIS``.
            addresses: those of the function, or of a stream's functions in the order of ``abi.functions``.
            expectation: the expectation to judge by.
            layout: the layout of the expected characters.

        Raises:
            ValueError: the convention's output units are not the expected ones, or the automaton is too large.
        """
        if expectation.units not in ("", abi.units):
            raise ValueError(f"{abi.name} puts out {abi.units or 'nothing'}, and {expectation.units} is expected")
        self.compile(abi)
        self._abi, self._expectation = abi, expectation
        self._functions = np.zeros(FUNCTIONS, np.int64)
        self._functions[: len(addresses)] = addresses[:FUNCTIONS]
        self._automaton, self._bits = PackedAutomaton(expectation.automaton), CharacterBits.of(layout)
        self._signature = (expectation.strips_signature and layout.encode(SIGNATURE)) or b""

    @classmethod
    def compile(cls, abi: Abi) -> None:
        """Compile everything for a convention, or load it. This is slow and needs no function yet."""
        _compiled_for(abi, alone=cls.alone)

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
        task = LoopTask(
            automaton=self._automaton.words.ctypes.data,
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
            input=memory.input.ctypes.data,
            before=memory.before.ctypes.data,
            behind=memory.behind,
            out=memory.out.ctypes.data,
            wanted=memory.wanted.ctypes.data,
            cells=memory.cells.ctypes.data,
            progress=words.ctypes.data,
            kinds=codes.ctypes.data - origin,
            source=source.address,
            **run,
        )
        told = np.array((*task, *own), np.int64)
        _compiled_for(self._abi, alone=self.alone)(until, told.ctypes.data)

    @abstractmethod
    def _source(self, strings: S, first: int) -> tuple[Memory, Compiled, dict[str, int], Sequence[int]]:
        """The place of the strings, the source, and its data: words of the task, and words after it.

        The source begins with the string of number ``first``.
        """


class Memory:
    """Memory for strings up to a length, and for their output."""

    def __init__(self, abi: Abi, longest: int, around: int) -> None:
        self.around, self.behind = around, 0 if abi.terminated else around
        self.input = surrounded(longest + ALIGNED, around, self.behind)
        self.before = surrounded(longest, around, self.behind)
        octets = (max(abi.room(longest), 4 * longest) + BEHIND) * UNIT.get(abi.units, 1)
        self.out, self.wanted = aligned(octets), aligned(octets)
        self.cells = aligned(CELLS)
        self.spare = np.zeros(2, np.int64)


class GridLoop(Asking["Grid"]):  # pyright: ignore[reportInvalidTypeArguments]  # it takes cached_property for no int
    """Asks the strings of grids."""

    _arranged: _Arranged | None = None

    @classmethod
    def compile(cls, abi: Abi) -> None:
        super().compile(abi)
        _laying_out()
        reading()

    def _source(self, strings: Grid, first: int) -> tuple[Memory, Compiled, dict[str, int], GridWords]:
        if self._arranged is None or self._arranged.grid is not strings:
            self._arranged = _Arranged(strings, self._abi, self._automaton)
        arranged, pieces = self._arranged, self._arranged.pieces
        arranged.levels[:, PLACE // WORD] = strings.place(first)
        own = GridWords(
            made=arranged.made.ctypes.data,
            around=arranged.around,
            octets=pieces.octets.ctypes.data,
            starts=pieces.starts.ctypes.data,
            axes=pieces.axes.ctypes.data,
            alike=pieces.alike.ctypes.data,
            padded=pieces.padded.ctypes.data,
            verdicts=pieces.verdicts.ctypes.data,
            short=pieces.longest_last <= WORD,
            longest_last=pieces.longest_last,
            last_axis=len(strings.axes) - 1,
            levels=arranged.levels.ctypes.data,
            spare=arranged.spare.ctypes.data,
            dirty=strings.longest + WORD,  # an earlier run may have written here
        )
        return arranged, _laying_out(), {"earlier": strings.earlier}, own


class _Arranged(Memory):
    """A grid in memory."""

    def __init__(self, grid: Grid, abi: Abi, automaton: PackedAutomaton) -> None:
        super().__init__(abi, grid.longest, grid.around)
        self.grid = grid
        self.pieces = PieceTable.of(grid, automaton, self.behind)
        self.levels = np.zeros((len(grid.axes), LEVEL // WORD), np.int64)
        self.made = aligned(grid.longest + WORD)


def aligned(octets: int) -> Octets:
    """Zeros that begin at a multiple of :data:`ALIGNED`, and as many after them."""
    memory = np.zeros(octets + 2 * ALIGNED, np.uint8)
    return memory[-memory.ctypes.data % ALIGNED :]


def surrounded(octets: int, around: int, behind: int) -> Octets:
    """Room for a string, with at least :data:`BEHIND` octets before and after it."""
    memory = aligned(BEHIND + octets + 2 * BEHIND + WORD)
    memory[:BEHIND] = around
    memory[BEHIND:] = behind
    return memory[BEHIND:]
