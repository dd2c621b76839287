# pyright: basic
"""The core's loop: it calls a function of a shared library by its address, for all strings of a range.

The loop (``loop.c`` of :mod:`overlong.reference.core`) asks, judges (``judging.h``), counts and publishes. A *source*
lays out the strings: those of grids (``grids.c``), or a campaign's inputs (``inputs.c``, for
``overlong.fuzz.engines.compiled``). A string starts at an address whose residue modulo 64 is a hash of its number;
strings of a run, which differ in their last piece of at most eight octets, start at the same address.

After a crash (or a time-out: kill first) the parent knows ``progress.index``, and the sums are those of ``reached``, at
most 2**16 strings back. In a new child, ``run(grid, index, …)`` repeats the strings since ``reached``, with their
kinds; then come ``progress.passed(…)`` and ``kinds[index - origin] = CRASHED``; then ``run(grid, until, …)`` continues.
However often that happens, the sums equal those of one run. A string whose answer breaks the convention is ``BROKEN``,
counted with the checksum's code of ``X``; ask it again to learn the reason.

This module needs NumPy, so import it late. Make a loop before a fork if you like, and run it in a child.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    ODD,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    answer_code,
)
from overlong.conformance.protocol.wire import NOT_SAID
from overlong.conformance.sweep.giants import Text, expected_offset
from overlong.conformance.sweep.request import INDEX, NUMBER, PROGRESS_OCTETS, Progress
from overlong.conformance.targets.adapters.abi import UNIT
from overlong.reference.core import core
from overlong.reference.order import SIGNATURE
from overlong.reference.tables import ShiftAutomaton

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

__all__ = ["PROGRESS_OCTETS", "GridLoop", "Progress"]

Array = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

FUNCTIONS = 4
"""The most functions that a loop calls: those of a stream, except its ``reset``."""
CELLS = 64
"""The octets of the cells."""
WORD = 8
"""The octets of a machine word."""
AROUND = 128
"""The number of filling octets that are kept before and after a string."""
_MORE = 1 << 10
"""More octets than the giant strings of one power differ by: what was mapped, and read, serves them all."""
PLACES = 64
"""The number of places where a string may start: a line of the cache, a register of the widest vector unit."""


class LoopTask(NamedTuple):
    """The task of the core's loop: numbers and addresses, in the order of the struct. The source's own words follow."""

    by: int
    """The address of the words of a ``ShiftAutomaton``."""
    lead: int
    """This and the next are the addresses of what :func:`character_bits` gives."""
    layout: int
    layout_rows: int
    unit: int
    """The octets of an output unit; 0: output is not judged."""
    judges_offsets: int
    signature: int
    """The first octets, as a word, of strings that are set aside; and their mask, 0 for none."""
    signature_mask: int
    has_nul_trait: int
    """1 if the error offset in a string with octet 00 is not judged."""
    functions: int
    """The address of the functions' addresses."""
    room: int
    """The output units with room for each octet of the input, and the additional units."""
    more: int
    base: int
    """The address of memory for a string, which starts at one of :data:`PLACES`; what is around them is filled."""
    before: int
    """The address of the earlier string."""
    around: int
    """The octet before a string, and the one after it."""
    behind: int
    out: int
    wanted: int
    """The address of room for the expected output."""
    cells: int
    progress: int
    kinds: int
    """The address of the kind of string number ``origin``."""
    origin: int
    lay_out: int
    """The address of a function of the core that lays out the run from string ``next`` on, and sets all words from
    ``length_before`` on."""
    earlier: int = 0
    """The number of axes of the earlier string, which is not judged."""
    next: int = 0
    """The number of the first string of the run."""
    length_before: int = 0
    """The octets of the earlier string."""
    strings: int = 1
    """The number of strings in the run."""
    input: int = 0
    """Their address."""
    whole: int = 0
    """The octets of each string, and those before its last piece."""
    length: int = 0
    words: int = 0
    """The address of the last pieces, or their beginnings, as words: the first octet lowest."""
    at: int = 0
    """The address at which such a word is written, its shift, and the octets below it there."""
    shift: int = 0
    head: int = 0
    pieces: int = 0
    """The address of the concatenated last pieces."""
    read: int = 0
    """The address of the automaton's verdict on each: bit 0 is 1 if the final state accepts; the other bits are the
    piece's octets read when a state last accepted, -1 if none did."""
    seen: int = 0
    """Before the last piece: the last accepting offset, the state, the bits so far of a begun character's number, and
    the expected units. Units below zero: there is no such output."""
    state: int = 0
    value: int = 0
    units: int = 0


class GridWords(NamedTuple):
    """The words after a :class:`LoopTask`: numbers and addresses of a grid's arrays."""

    octets: int
    """Of all pieces, one after the other, axis by axis."""
    starts: int
    """``[piece]``: its start in ``octets``; and one more entry: the end of the last piece."""
    axes: int
    """``[axis, 0]``: the number of its first piece; ``[axis, 1]``: the number of its pieces."""
    alike: int
    """``[choice of the last axis]``: the next choice of another length."""
    padded: int
    """``[choice of the last axis]``: its octets as a word, the first lowest, filled up with the octets after it."""
    verdicts: int
    """``[state, choice of the last axis]``: the verdict of the automaton, as in ``LoopTask.read``."""
    is_short: int
    """1 if no choice of the last axis is longer than a word: then the loop writes it."""
    is_placed: int
    """1 if the choice of the first axis is the address modulo :data:`PLACES`."""
    longest_last: int
    last_axis: int
    levels: int
    """``[axis, word of LEVEL]``."""
    line: int
    """The address of room for a string without its last piece, and of room for an earlier string."""
    earlier: int
    spare: int
    """The address of a word that is never read."""
    dirty: int
    """How far behind ``base`` there may be something else than what is around a string."""
    begun: int = -1
    """A string's number minus its last piece's number; below zero: nothing has been laid out."""


LEVEL = ("choice", "state", "seen", "length", "value", "units")
"""The words of an axis: its current choice, and what stands before it."""


def character_bits(layout: Layout) -> tuple[Octets, Array]:
    """The bits of a character's octets that belong to its number, in a layout whose numbers consist only of bits.

    Returns:
        ``[octet]``: the bits of the number in the octet as the first of a character. And the number's bits in a tail
        octet; then for each row the highest number, the octets, the first octet without the number's bits, and the
        same for the other octets.
    """
    lead, rows = np.zeros(256, np.uint8), [0]
    for octet in range(256):
        row = layout.announced(octet)
        lead[octet] = row.templates[0].bits(octet) if row else 0
    for row in layout.rows:
        head, *tails = row.templates
        rows += (row.numbers[-1], len(row.templates), head.fixed, tails[0].fixed if tails else 0)
        rows[0] = tails[0].free if tails else rows[0]
    return lead, np.array(rows, np.int64)


class Asking(ABC):
    """Asks functions at addresses in this process numbered strings of any kind."""

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
        self._automaton = ShiftAutomaton(expectation.automaton)
        self._lead, self._layout = character_bits(layout)
        self._signature = (expectation.strips_signature and layout.encode(SIGNATURE)) or b""

    def run(
        self, strings: Any, until: int, progress: Progress, kinds: mmap | bytearray | memoryview, origin: int
    ) -> None:
        """Ask all strings from ``progress.reached`` up to, but not including, ``until``.

        Args:
            strings: they have a ``size``: their number.
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
            lead=self._lead.ctypes.data,
            layout=self._layout.ctypes.data,
            layout_rows=len(self._layout) // 4,
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
    def _source(self, strings: Any, first: int) -> tuple[Memory, str, dict[str, int], Sequence[int]]:
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


class GridLoop(Asking):
    """Asks the strings of grids."""

    _grid: Grid | None = None
    """The grid that is in memory. It has at least one axis of judged pieces."""
    _text: Text | None = None

    def run(
        self, strings: Grid, until: int, progress: Progress, kinds: mmap | bytearray | memoryview, origin: int
    ) -> None:
        if strings.between:
            self._run_giants(strings, until, progress, memoryview(kinds), origin)
        else:
            super().run(strings, until, progress, kinds, origin)

    def _source(self, strings: Grid, first: int) -> tuple[Memory, str, dict[str, int], GridWords]:
        if self._grid is not strings:
            self._arrange(strings)
        self._levels[:, LEVEL.index("choice")] = strings.place(first)
        return self._memory, "lay_out_grid", {"earlier": strings.earlier}, self._words

    def _arrange(self, grid: Grid) -> None:
        """Put a grid's pieces, and what the automaton says of the last ones, into memory."""
        self._grid, self._memory = grid, (memory := Memory(self._abi, grid.longest, grid.around))
        self._levels = np.zeros((len(grid.axes), len(LEVEL)), np.int64)
        line = aligned(grid.longest + WORD)
        pieces, last = [piece for axis in grid.axes for piece in axis], grid.axes[-1]
        starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=starts[1:])
        sizes = [len(axis) for axis in grid.axes]
        axes = np.array([(sum(sizes[:axis]), size) for axis, size in enumerate(sizes)], np.int64)
        octets = np.frombuffer(b"".join(pieces) + bytes(WORD), np.uint8).copy()
        filler, longest = bytes([memory.behind]) * WORD, max(map(len, last))
        padded = np.frombuffer(b"".join((piece[:WORD] + filler)[:WORD] for piece in last), "<u8").astype(np.int64)
        verdicts = np.empty((len(self._automaton), len(last)), np.int64)
        ends = starts[axes[-1, 0] :]
        places = (array.ctypes.data for array in (octets, ends, verdicts))
        core()("read_choices", self._automaton.address, *places, *verdicts.shape)
        alike = _alike(np.diff(ends))
        self._arrays = line, octets, starts, axes, alike, padded, verdicts  # what C reads must stay
        self._words = GridWords(
            octets=octets.ctypes.data,
            starts=starts.ctypes.data,
            axes=axes.ctypes.data,
            alike=alike.ctypes.data,
            padded=padded.ctypes.data,
            verdicts=verdicts.ctypes.data,
            is_short=longest <= WORD,
            is_placed=grid.placed,
            longest_last=longest,
            last_axis=len(grid.axes) - 1,
            levels=self._levels.ctypes.data,
            line=line.ctypes.data,
            earlier=memory.before.ctypes.data,
            spare=memory.spare.ctypes.data,
            dirty=PLACES + grid.longest + WORD,  # an earlier run may have written here
        )

    def _run_giants(self, strings: Grid, until: int, progress: Progress, kinds: memoryview, origin: int) -> None:
        """Ask giant strings, each by a call that is judged here.

        Raises:
            OSError: there is no memory for them.
        """
        cells = aligned(CELLS)
        for index in range(progress.reached, until):
            head, *tail = strings.pieces(index)
            length = len(head) + strings.between + sum(map(len, tail))
            if self._text is None or self._text.most < length:
                if self._text is not None:
                    self._text.close()
                self._text = None
                self._text = Text(length + _MORE)
            around, behind = bytes([strings.around]), bytes([0 if self._abi.terminated else strings.around])
            address = self._text.placed(head, strings.between, b"".join(tail), around, behind)
            progress.words[INDEX] = index
            question = np.array((self._functions.ctypes.data, address, length, 0, 0, cells.ctypes.data), np.int64)
            answer = np.zeros(2, np.uint64)
            core()("ask_once", self._convention, question.ctypes.data, answer.ctypes.data)
            status, number = "ARX"[answer[0]], int(answer[1])
            right = self._expectation.automaton.accepts(strings.string(index))
            offset = expected_offset(strings, index, self._expectation.automaton)
            kinds[index - origin] = self._judged(status, number, offset, right=right)
            checked = (answer_code(status, number) + 1) * (index * ODD | 1)
            progress.words[NUMBER] = number
            progress.passed(length, well_formed=right, accepted=status == "A", checked=checked)

    def _judged(self, status: str, number: int, offset: int, *, right: bool) -> int:
        if status == "X":
            return BROKEN
        if right:
            return AGREES if status == "A" else REFUSED_WELL_FORMED
        if status == "A":
            return ACCEPTED_ILL_FORMED
        is_wrong = self._expectation.offsets and number not in (NOT_SAID, offset)
        return OTHER_OFFSET if is_wrong else AGREES


def _alike(lengths: Array) -> Array:
    """For each place, the end of its run of equal values."""
    edges = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(lengths))
    return edges[np.searchsorted(edges, np.arange(len(lengths)), side="right")].astype(np.int64)


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
