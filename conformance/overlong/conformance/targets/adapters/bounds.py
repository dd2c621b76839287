"""Tests whether a function stays within its memory: one input at a time, in many places, between inaccessible pages.

The order of the steps leaves one explanation for the first that fails: a call that succeeds with slack around its
input and crashes with a guard behind it has read past the end. The process that forked this one sees the crash and
reads the step from memory that outlives this one: the words :data:`ITEM`, :data:`STEP` and :data:`DETAIL`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile
from typing import TYPE_CHECKING, NoReturn

from overlong.conformance.targets.adapters.abi import ITERATE, Abi, AnswerReading
from overlong.conformance.targets.adapters.serving import column
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.targets.adapters.abi import Call
    from overlong.reference.questions import Question

CLEAN, OVER_READ, UNDER_READ, OVER_WRITE, UNWRITTEN, INPUT_CHANGED, PLACE, STATE = range(8)
"""The faults: the number in a refusal of ``G``; docs/protocol.md explains them."""
NOT_ASKED = 255

ITEM, STEP, DETAIL = range(3)
"""The words of that memory, each a u64."""
SLACK, WRITABLE, BEHIND, BEFORE, PLACES, ROOM, AFTER = range(1, 8)
"""The steps. :data:`DEATHS` gives the meaning of a crash in each; a crash in :data:`AFTER` is another input's."""
DEATHS = {BEHIND: OVER_READ, BEFORE: UNDER_READ, PLACES: PLACE, ROOM: OVER_WRITE}
NEIGHBOURS, AT_A_GUARD = 255, 254
"""Details of :data:`PLACE`; other values are the address modulo 64, plus one."""
EXACT_ROOM, LESS_ROOM, MORE_ROOM, AROUND_INPUT = 1, 2, 3, 4
"""Details of :data:`OVER_WRITE` and :data:`UNWRITTEN`."""

PAD = 4096
"""The octets around an input that has slack."""
_ALIGNMENTS = 64
_STRIDE = 3
"""Questions are asked at every third of these places: that is each residue modulo 16."""
_MARGIN = 256  # checked octets around the output
POISONS = (0xAA, 0x55)

_SIDE = 64  # octets
_SIDES = tuple(
    ((left * _SIDE)[-_SIDE:], (right * _SIDE)[:_SIDE])
    for left, right in (
        (b"a", b"a"),
        (b"\xf0\x9f\x98", b"\x80"),  # truncated characters, and tails that would complete them
        (b"\xff", b"\xff"),
        (b"\xe2\x82", b"\xac\x80"),
        (b"\0", b"\0"),
        (b"\xc3", b"\xbf"),
        (b"\xed", b"\xa0\x80"),
    )
)
"""The octets on both sides of an input."""
NEUTRAL = _SIDES[0][0]
"""The octets before an input whose answer is judged: what reads them finds the same each time, and nothing that could
begin a character. So a read before the start shows as such (:data:`BEFORE`), and not as a wrong answer."""
CUT_SHORT = (b"\xe2\x82", b"\xf0\x9f\x98", b"\xc3")
"""Asked between two calls: a decoder that keeps the state of a truncated character then answers differently."""
GUARD = 1 << 20
"""The inaccessible octets on each side: more than a careless loop skips in one step."""

_FIXED = 0x10  # MAP_FIXED, which Python does not name; 0x10 on Linux, macOS and the BSDs


def fault_columns(found: Sequence[int], details: Sequence[int]) -> tuple[bytes, ...]:
    """The answers to ``G``: the columns of faults and their details."""
    kinds = {CLEAN: b"A", NOT_ASKED: b"U"}
    wrong = [fault not in kinds for fault in found]
    return (
        b"".join(kinds.get(fault, b"R") for fault in found),
        column(fault if is_wrong else 0 for fault, is_wrong in zip(found, wrong, strict=True)),
        bytes(detail if is_wrong else 0 for detail, is_wrong in zip(details, wrong, strict=True)),
        bytes(0xFF if is_wrong else 0 for is_wrong in wrong),
        b"",
        b"",
    )


class Guarded:
    """``size`` octets, rounded up to whole pages, between inaccessible ones. They live as long as the process.

    The memory is mapped twice. The harness writes through :attr:`view`, anywhere in the process. The function under
    test gets addresses from :attr:`start` to :attr:`end`, where the same octets are read-only (or not): code that steps
    over an edge dies there, by a signal. So no call has to change the protection.
    """

    __slots__ = ("end", "size", "start", "view")
    start: int
    end: int
    size: int
    view: mmap.mmap

    def __init__(self, size: int, *, writable: bool) -> None:
        """Raises: OSError: the system refuses the memory."""
        if sys.platform == "win32":
            raise OSError("this system maps no memory twice")
        self.size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        file = _file()
        try:
            os.ftruncate(file, self.size)
            self.view = mmap.mmap(file, self.size)
            place = _map(None, self.size + 2 * GUARD, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)
            protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
            self.start = _map(place + GUARD, self.size, protection, mmap.MAP_SHARED | _FIXED, file)
        finally:
            os.close(file)
        self.end = self.start + self.size


def _file() -> int:
    """A file without a name; in memory where the system has such files (Linux)."""
    if sys.platform == "linux" and hasattr(os, "memfd_create"):
        return os.memfd_create("guarded")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _map(place: int | None, size: int, protection: int, flags: int, file: int) -> int:
    call = ctypes.CDLL(None, use_errno=True).mmap
    call.restype = ctypes.c_void_p
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    found = call(place, size, protection, flags, file, 0)
    if found is None or found == ctypes.c_void_p(-1).value:
        error = ctypes.get_errno()
        raise OSError(error, f"mmap: {os.strerror(error)}")
    return int(found)


class Memory:
    """The memory of inputs and outputs; it grows with them."""

    def __init__(self) -> None:
        self.longest = -1
        """The octets of the longest input that fits."""
        self.input: Guarded
        """Read-only for the function."""
        self.plain: Guarded
        """Writable, for calls that must not crash."""
        self.output: Guarded
        self.fit(1 << 14)

    def fit(self, length: int) -> None:
        """Make room for inputs of ``length`` octets and their output."""
        if length <= self.longest:
            return
        self.longest = 2 * length
        size = self.longest + 2 * PAD + 256
        self.input, self.plain = Guarded(size, writable=False), Guarded(size, writable=True)
        self.output = Guarded(4 * (4 * self.longest + 16) + 2 * PAD, writable=True)


class Wrong(Exception):
    """The function committed a fault and survived."""

    def __init__(self, fault: int, detail: int = 0) -> None:
        super().__init__(fault, detail)
        self.fault, self.detail = fault, detail


def the_same(first: AnswerReading, second: AnswerReading, detail: int, *, judged: bool = True) -> AnswerReading:
    """The answer to a call that was made twice, with different poison in the output.

    Raises:
        Wrong: part of the output was not written; or, if ``judged``, the second answer differs.
    """
    if first != second:
        if first[:3] == second[:3] and POISONS in zip(first.output, second.output, strict=True):
            raise Wrong(UNWRITTEN, detail)
        if judged:
            raise Wrong(STATE)
    return first


def rooms_for(abi: Abi, first: AnswerReading, length: int) -> Iterator[tuple[int, int]]:
    """The room that a function is given for the output of an input, enough and too little, with what it is."""
    needed = first.number if first.status == "A" else length
    rooms = (needed, needed - 1, needed // 2, 1, 0) if abi.bounded else (length,)
    for room in dict.fromkeys(each for each in rooms if 0 <= each <= needed or not abi.bounded):
        yield room, EXACT_ROOM if room == needed or not abi.bounded else LESS_ROOM


class Bounds:
    """Examines one function."""

    def __init__(self, call: Call, abi: Abi, unit: int, memory: Memory, shared: memoryview, size: int = 0) -> None:
        """Prepare.

        Args:
            call: calls the function.
            abi: how.
            unit: the octets of a unit written to memory; 0 if none is.
            memory: for inputs and outputs.
            shared: where the step is noted.
            size: of a function that answers a question, the octets of a unit of its input, at multiples of which it
                stands.
        """
        self._call, self._abi, self._unit = call, abi, unit
        self._memory, self._shared = memory, shared
        self._size = size

    def of_question(self, question: Question, argument: int) -> Bounds:
        """What examines the calls of one question. A converter gets room as decoders do, not that of the argument."""
        size, call = FORMS[question.given].size, self._call

        def asked(address: int, length: int, out: int, units: int) -> AnswerReading:
            return call(address, length // size, out if question.written else argument, units)

        unit = FORMS[question.written].size if question.written else 0
        return Bounds(asked, self._abi, unit, self._memory, self._shared, size)

    def _at(self, step: int, detail: int = 0) -> None:
        """Note that a step begins."""
        self._shared[STEP], self._shared[DETAIL] = step, detail

    def examine(self, octets: bytes, leave_out: frozenset[int]) -> tuple[int, int]:
        """The fault and its detail. Steps whose fault was reported often enough are skipped."""
        self._memory.fit(len(octets) + 1)
        try:
            if SLACK in leave_out:
                self._writable(octets)
            else:
                self._examine(octets, leave_out)
        except Wrong as wrong:
            return wrong.fault, wrong.detail
        return (NOT_ASKED if leave_out - {AFTER} else CLEAN), 0

    def changes(self, octets: bytes) -> tuple[int, int]:
        """The function's changes to its input, found by a call in writable memory."""
        self._memory.fit(len(octets) + 1)
        try:
            self._writable(octets)
        except Wrong as wrong:
            return wrong.fault, wrong.detail
        return INPUT_CHANGED, 0  # it wrote the same octets again

    def slack(self, octets: bytes) -> None:
        """Run only the first step."""
        self._at(SLACK)
        self._ask(self._placed(octets, PAD, 0), len(octets), PAD, self._abi.room(len(octets)), POISONS[0], MORE_ROOM)

    def _examine(self, octets: bytes, leave_out: frozenset[int]) -> None:
        length, room = len(octets), self._abi.room(len(octets))
        self._at(SLACK)
        first = self._twice(self._placed(octets, PAD, 0), length, PAD, room, MORE_ROOM)
        if AFTER not in leave_out and not self._size:  # the argument of a question has no answer about another text
            self._after_others(first, octets)
        at_guards = self._at_guards(octets, leave_out)
        if not leave_out & {BEHIND, BEFORE, PLACES}:  # what reads outside its input depends on what stands there
            self._everywhere(first, octets, room)
        for address, said in at_guards:
            if said != first:
                self._at(PLACES, AT_A_GUARD)
                self._explain(first, octets, address, PAD, AT_A_GUARD, None)
        if self._unit and ROOM not in leave_out:
            self._rooms(first, octets)

    def _at_guards(self, octets: bytes, leave_out: frozenset[int]) -> list[tuple[int, AnswerReading]]:
        """Call with a guard behind the input, and with one before it: the addresses, and the answers there.

        Both calls come before any comparison, so a death by a guard is told before what else depends on the place. On
        the other side stand the same octets as at the first call.
        """
        left, right = _SIDES[0]
        whole, memory, length = octets + b"\0" * self._abi.terminated, self._memory.input, len(octets)
        said: list[tuple[int, AnswerReading]] = []
        for step, address, place, framed in (
            (BEHIND, memory.end - len(whole), memory.size - len(whole) - len(left), left + whole),
            (BEFORE, memory.start, 0, whole + right),
        ):
            if step not in leave_out:
                self._at(step)
                memory.view[place : place + len(framed)] = framed
                room = self._abi.room(length)
                said.append((address, self._ask(address, length, PAD, room, POISONS[0], MORE_ROOM)))
        return said

    def _everywhere(self, first: AnswerReading, octets: bytes, room: int) -> None:
        """Check that the answer at each address modulo 64, among different neighbours, equals the first one.

        Most of the time of an examination passes here, so the loop does what :meth:`_placed` and :meth:`_ask` do.

        Raises:
            Wrong: it does not.
        """
        length, memory, unit, call, shared = len(octets), self._memory.input, self._unit, self._call, self._shared
        framed = [b"".join((left, octets, b"\0" * self._abi.terminated, right)) for left, right in _SIDES]
        view, start, size = memory.view, memory.start, len(framed[0])
        # a call for each character already meets other alignments
        stride = _ALIGNMENTS // 4 + 1 if self._abi is ITERATE and length > 8 else self._size * _STRIDE or 1
        shared[STEP] = PLACES
        for alignment in range(0, _ALIGNMENTS, stride):
            shared[DETAIL] = alignment + 1
            place = PAD + alignment
            view[place - _SIDE : place - _SIDE + size] = framed[alignment % len(_SIDES)]
            out = PAD + (alignment * unit) % _ALIGNMENTS
            if unit:
                self._alike(first, octets, start + place, out, alignment + 1, place)
            elif call(start + place, length, 0, room) != first:
                self._explain(first, octets, start + place, out, alignment + 1, place)

    def _after_others(self, first: AnswerReading, octets: bytes) -> None:
        """Check that the answer after a call on another input equals the first one.

        Raises:
            Wrong: it is not.
        """
        for step, asked in ((step, asked) for other in CUT_SHORT for step, asked in ((AFTER, other), (SLACK, octets))):
            self._at(step)
            room, poison = self._abi.room(len(asked)), POISONS[0]
            said = self._ask(self._placed(asked, PAD, 0), len(asked), PAD, room, poison, MORE_ROOM)
            if step == SLACK and said != first:
                raise Wrong(STATE)

    def _alike(
        self,
        first: AnswerReading,
        octets: bytes,
        address: int,
        out: int,
        detail: int,
        interior: int,
    ) -> None:
        """Check that the answer at this address equals the first one. ``interior``: the place between other octets.

        Raises:
            Wrong: it differs.
        """
        length, room = len(octets), self._abi.room(len(octets))
        if self._ask(address, length, out, room, POISONS[0], MORE_ROOM) != first:
            self._explain(first, octets, address, out, detail, interior)

    def _explain(
        self, first: AnswerReading, octets: bytes, address: int, out: int, detail: int, interior: int | None
    ) -> NoReturn:
        """Say what a differing answer depends on.

        A repetition at the first place separates place from time; swapped neighbours show whether they are the cause.

        Raises:
            Wrong: always.
        """
        length, room = len(octets), self._abi.room(len(octets))
        if self._ask(address, length, out, room, POISONS[0], MORE_ROOM) == first:
            raise Wrong(STATE)
        if self._ask(self._placed(octets, PAD, 0), length, PAD, room, POISONS[0], MORE_ROOM) != first:
            raise Wrong(STATE)
        if interior is None:  # its neighbours were those of the first call
            raise Wrong(PLACE, detail)
        other = self._ask(self._placed(octets, interior, 0), length, out, room, POISONS[0], MORE_ROOM)
        raise Wrong(PLACE, NEIGHBOURS if other == first else detail)

    def _rooms(self, first: AnswerReading, octets: bytes) -> None:
        """Give output room that ends at a guard, enough and too little. These answers are not judged."""
        address, length, size = self._placed(octets, PAD, 0), len(octets), self._memory.output.size
        for room, detail in rooms_for(self._abi, first, length):
            self._at(ROOM, detail)
            self._twice(address, length, size - room * self._unit, room, detail, judged=False)

    def _placed(self, octets: bytes, place: int, sides: int) -> int:
        """Write an input among neighbours, and return its address."""
        left, right = _SIDES[sides]
        whole = b"".join((left, octets, b"\0" * self._abi.terminated, right))
        start = place - len(left)
        self._memory.input.view[start : start + len(whole)] = whole
        return self._memory.input.start + place

    def _twice(
        self, address: int, length: int, out: int, room: int, detail: int, *, judged: bool = True
    ) -> AnswerReading:
        """Make two calls, with different poison in the output.

        Raises:
            Wrong: the second answer differs, or part of the output was not written.
        """
        first, second = (self._ask(address, length, out, room, poison, detail) for poison in POISONS)
        return the_same(first, second, detail, judged=judged)

    def _ask(self, address: int, length: int, out: int, room: int, poison: int, detail: int) -> AnswerReading:
        """Make one call, with poison in the output and around it.

        Raises:
            Wrong: it wrote outside the output.
        """
        unit = self._unit
        if not unit:
            return self._call(address, length, 0, room)
        output = self._memory.output
        low, end = max(out - _MARGIN, 0), out + room * unit
        high = min(end + _MARGIN, output.size)
        output.view[low:high] = bytes([poison]) * (high - low)
        reading = self._call(address, length, output.start + out, room)
        if output.view[low:out] != bytes([poison]) * (out - low) or output.view[end:high] != bytes([poison]) * (
            high - end
        ):
            raise Wrong(OVER_WRITE, detail)
        if reading.status != "A" or reading.number > room:
            return reading
        return reading._replace(output=reading.output + output.view[out : out + reading.number * unit])

    def _writable(self, octets: bytes) -> None:
        """Call in writable memory, and check for changes there.

        Raises:
            Wrong: the function changed something.
        """
        self._at(WRITABLE)
        left, right = _SIDES[0]
        whole = octets + b"\0" * self._abi.terminated
        plain, start, end = self._memory.plain, PAD - len(left), PAD + len(whole)
        plain.view[start : end + len(right)] = left + whole + right
        length = len(octets)
        self._ask(plain.start + PAD, length, PAD, self._abi.room(length), POISONS[0], MORE_ROOM)
        if plain.view[PAD:end] != whole:
            raise Wrong(INPUT_CHANGED)
        if (plain.view[start:PAD], plain.view[end : end + len(right)]) != (left, right):
            raise Wrong(OVER_WRITE, AROUND_INPUT)
