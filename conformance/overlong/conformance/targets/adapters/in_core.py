"""Answers of a shared library's function to a batch of inputs, each between guards, called by the core in C.

``adapters/shared_library.py`` does the same by ctypes, one input at a time. The order is the same here, at thirty
times the speed.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.targets.adapters.abi import ITERATE, UNIT, Called, within
from overlong.conformance.targets.adapters.bounds import NEUTRAL, PAD, Guarded
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.conformance.targets.adapters.bounds import Memory

ACCEPTED, REFUSED, BROKEN = range(3)
"""The outcomes of a call; :func:`~overlong.conformance.oracle.target.answer_code` calls them ``A``, ``R`` and ``X``."""
_STATUSES = bytes.maketrans(bytes((ACCEPTED, REFUSED, BROKEN)), b"ARX")
_WORD = 8
_WIPE_ON_FORK = 18  # MADV_WIPEONFORK, which Python does not name
_WORDS = 1 << 64


class AnswersTask(NamedTuple):
    """The words of ``reference/core/answers.c``: numbers and addresses."""

    by: int
    functions: int
    """The address of the function's address."""
    octets: int
    """The address of the next input."""
    lengths: int
    """The address of the lengths of all inputs, each a u32."""
    next: int
    """The number of the next input."""
    inputs: int
    """The number of inputs."""
    item: int
    """The address for the number of the current input, which the process that watches this one reads."""
    written: int
    """The end of inputs, right before a guard: its writable address, and the address that the function sees."""
    ends: int
    before: int
    """The octet before an input, and how often it stands there."""
    times: int
    terminated: int
    """1 if an octet 00 ends an input."""
    unit: int
    """The octets of an output unit; 0: there is no output."""
    out: int
    room: int
    """The output units with room for each octet, and the additional units."""
    more: int
    cells: int
    statuses: int
    numbers: int
    kept: int
    """The address for the next kept output."""
    original: int
    """The address of :attr:`Answers._original`."""
    returned: int = 0
    """The results of the last call."""
    second: int = 0
    one: int = 0
    two: int = 0


class Answers:
    """Asks one function."""

    def __init__(self, abi: Abi, address: int, memory: Memory, item: int) -> None:
        """Prepare for one convention.

        Args:
            abi: a convention of one call for each input.
            address: that of the function.
            memory: the memory of inputs and output.
            item: the address of a word for the number of the current input.

        Raises:
            NoCore: there is no core in C.
        """
        assert abi is not ITERATE
        assert not abi.functions
        self._abi, self._memory, self._unit = abi, memory, UNIT.get(abi.units, 0)
        self._core, self._convention = core(), core().convention(abi.name)
        self._cells = Guarded(64, writable=True)
        self._original = _word_without_heirs()
        self._functions, self._item = array("q", [address]), item

    def to(self, payload: bytes) -> tuple[bytes, bytes, list[bytes]]:
        """Statuses, numbers and output of the response to a batch in its request format (docs/protocol.md)."""
        count = int.from_bytes(payload[:4], "big")
        lengths = array("I", payload[4 : 4 + 4 * count])
        _swap(lengths)
        self._memory.fit(max(lengths) + 1)
        memory, room = self._memory, self._abi.room
        more, each = room(0), room(1) - room(0)
        total = len(payload) - 4 - 4 * count
        statuses, numbers = bytearray(count), array("I", bytes(4 * count))
        kept = bytearray((each * total + more * count) * self._unit + _WORD)
        octets = ctypes.cast(ctypes.c_char_p(payload), ctypes.c_void_p).value or 0
        task = AnswersTask(
            by=self._convention,
            functions=address(self._functions),
            octets=octets + 4 + 4 * count,
            lengths=address(lengths),
            next=0,
            inputs=count,
            item=self._item,
            written=address(memory.input.view) + memory.input.size,
            ends=memory.input.end,
            before=NEUTRAL[0],
            times=len(NEUTRAL),
            terminated=self._abi.terminated,
            unit=self._unit,
            out=memory.output.start + PAD,
            room=each,
            more=more,
            cells=self._cells.start,
            statuses=address(statuses),
            numbers=address(numbers),
            kept=address(kept),
            original=address(self._original),
        )
        process = os.getpid()
        words = array("q", task)
        said: list[
            tuple[int, int, bytes]
        ] = []  # of breaches of the convention: the input, the output's offset, and the words
        while True:
            self._core("answer_inputs", address(words))
            told = AnswersTask(*words)
            if os.getpid() != process:
                os._exit(0)  # the function forked, and this is the fork
            if told.next and statuses[told.next - 1] == BROKEN:
                number = told.next - 1
                text = self._words(told, lengths[number])
                numbers[number] = len(text)
                said.append((number, told.kept - task.kept, text))
            if told.next == count:
                break
        _swap(numbers)
        output = self._output(kept, told.kept - task.kept, said)
        return bytes(statuses).translate(_STATUSES), numbers.tobytes(), output

    def _words(self, told: AnswersTask, length: int) -> bytes:
        """The fault in the last answer, in words."""
        abi, room = self._abi, self._abi.room(length)
        kinds = [each for each in abi.parameters if each in ("cell", "cell32")]
        cells = [
            value % _WORDS if kind == "cell" else value
            for kind, value in zip(kinds, (told.one, told.two), strict=False)
        ]
        signed = abi.result in ("bool", "int", "ssize", "pair")
        returned = told.returned if signed else told.returned % _WORDS
        address = self._memory.input.end - length - abi.terminated
        called = Called(returned, told.second % _WORDS, tuple(cells), address, length, room)
        return within(room, abi.read(called)).text.encode()

    def _output(self, kept: bytearray, size: int, said: Sequence[tuple[int, int, bytes]]) -> list[bytes]:
        """All output in big-endian units, with the words about breaches of the convention in their places."""
        parts, begin = list[bytes](), 0
        for _, end, text in said:
            parts += [self._big_endian(kept[begin:end]), text]
            begin = end
        return [*parts, self._big_endian(kept[begin:size])]

    def _big_endian(self, units: bytearray) -> bytes:
        if self._unit < 2:
            return bytes(units)
        swapped = array("I" if self._unit == 4 else "H", bytes(units))
        _swap(swapped)
        return swapped.tobytes()


def _word_without_heirs() -> mmap.mmap:
    """A page with a 1, which is 0 in forks of this process, if the system can do that (Linux).

    The loop reads it after each call: to ask for the process's number takes longer than most functions. Elsewhere, a
    fork is noticed when it has asked the rest of its batch.
    """
    if sys.platform == "win32":
        raise OSError("this system has no forks")
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page[0] = 1
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # before Linux 4.14, and in some emulators
            page.madvise(_WIPE_ON_FORK)
    return page


def address(memory: Any) -> int:
    """The address of a writable buffer; it is fixed for the buffer's lifetime."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _swap(numbers: array[int]) -> None:
    if sys.byteorder == "little":
        numbers.byteswap()
