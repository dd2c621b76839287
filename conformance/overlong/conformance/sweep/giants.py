"""Asks a function strings of thousands of millions of octets that nobody makes: a few dozen calls, each judged here.

The text of any length lies in a few MiB of memory: the same block, mapped again and again (Linux).
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    ODD,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    answer_code,
)
from overlong.conformance.protocol.wire import NOT_SAID
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.distances import LONGEST
from overlong.conformance.sweep.grid import LETTER
from overlong.conformance.sweep.request import INDEX
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.request import Progress
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.automaton import Automaton

BLOCK = 1 << 21
"""The octets of the block: few enough for the cache, and a few thousand blocks make the longest text."""
_PAGE = mmap.PAGESIZE
_NOTHING, _READ, _WRITE = 0, 1, 2  # PROT_… of Linux (sys/mman.h), and MAP_… below
_SHARED, _PRIVATE, _FIXED, _ANONYMOUS, _RESERVES_NOTHING = 0x01, 0x02, 0x10, 0x20, 0x4000
_FAILED = (1 << 64) - 1


class Text:
    """Letters in memory, in which strings can be placed, one at a time. Only pages with other octets are its own."""

    def __init__(self, most: int) -> None:
        """``most``: the most octets of a string.

        Raises:
            OSError: the system gives no memory, or no addresses.
        """
        libc = ctypes.CDLL(None, use_errno=True)
        self._map, self._unmap = libc.mmap, libc.munmap
        self._map.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._map.restype = ctypes.c_void_p
        self._unmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.most = most
        self._size = -(-(most + 3 * _PAGE) // BLOCK) * BLOCK  # a page before a string, and one behind it
        self._own = list[tuple[int, int]]()
        self._file = _file_of_letters()
        try:
            anywhere = _PRIVATE | _ANONYMOUS | _RESERVES_NOTHING
            self._start = self._mapped(None, self._size, _NOTHING, anywhere, -1, 0)
            for place in range(0, self._size, BLOCK):
                self._share(place, BLOCK)
        except OSError:
            self.close()
            raise

    _start = 0

    def placed(self, head: bytes, letters: int, tail: bytes, around: bytes, behind: bytes) -> int:
        """The address of ``head``, so many letters, and ``tail``, until the next call.

        ``around`` and ``behind``: the octet that stands before the string, and the one that stands behind it.
        """
        for place, octets in self._own:
            self._share(place, octets)
        self._own.clear()
        end = _PAGE + len(head) + letters + len(tail)
        self._write(0, around * _PAGE + head)
        self._write(end - len(tail), tail + behind * (_PAGE + -end % _PAGE))
        return self._start + _PAGE

    def close(self) -> None:
        """Give the memory back."""
        os.close(self._file)
        if self._start:
            self._unmap(self._start, self._size)

    def _write(self, place: int, octets: bytes) -> None:
        """Write octets on pages of their own."""
        first, end = place // _PAGE * _PAGE, -(-(place + len(octets)) // _PAGE) * _PAGE
        for page in range(first, end, _PAGE):
            if not any(at <= page < at + size for at, size in self._own):
                self._own.append((page, _PAGE))
                self._mapped(self._start + page, _PAGE, _READ | _WRITE, _PRIVATE | _FIXED, self._file, page % BLOCK)
        ctypes.memmove(self._start + place, octets, len(octets))

    def _share(self, place: int, octets: int) -> None:
        self._mapped(self._start + place, octets, _READ, _SHARED | _FIXED, self._file, place % BLOCK)

    def _mapped(self, *words: Any) -> int:
        address = int(self._map(*words) or 0)
        if address == _FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return address


def _file_of_letters() -> int:
    """A file in memory that is the block."""
    if sys.platform != "linux":
        raise OSError("Linux only")
    file = os.memfd_create("overlong-text")
    if os.write(file, LETTER * BLOCK) < BLOCK:
        os.close(file)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return file


@cache
def why_none() -> str:
    """The reason why the longest strings of the plan cannot be made here; empty if they can."""
    if sys.platform != "linux" or not hasattr(os, "memfd_create"):
        return "Linux only"
    try:
        Text(LONGEST).close()
    except OSError as error:
        return f"the system gives no {thousands(LONGEST)} octets of addresses ({error.strerror}): see ulimit -v"
    return ""


_CELLS = 64
_MORE = 1 << 10
"""More octets than the strings of one power differ by: what was mapped, and read, serves them all."""


class GiantLoop:
    """The loop of ``compiled.py``, for grids with letters between."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers) -> None:
        """``addresses``: of the function.

        Raises:
            NoCore: there is no core in C.
        """
        self._abi, self._expected = abi, expected
        self._convention = core().convention(abi.name)
        self._function = ctypes.c_uint64(addresses[0])
        self._cells = (ctypes.c_uint8 * _CELLS)()
        self._text: Text | None = None

    def run(self, strings: Grid, until: int, progress: Progress, kinds: memoryview, origin: int) -> None:
        """Ask the strings from ``progress.reached`` up to, but not including, ``until``.

        Raises:
            OSError: there is no memory for them.
        """
        for index in range(progress.reached, until):
            head, *tail = strings.pieces(index)
            length = len(head) + strings.between + sum(map(len, tail))
            address = self._placed(head, strings.between, b"".join(tail), length, strings.around)
            progress.words[INDEX] = index
            status, number = self._ask(address, length)
            right = self._expected.automaton.accepts(strings.string(index))
            offset = expected_offset(strings, index, self._expected.automaton)
            kinds[index - origin] = self._judged(status, number, offset, right=right)
            checked = (answer_code(status, number) + 1) * (index * ODD | 1)
            progress.answered(length, well_formed=right, accepted=status == "A", checked=checked, number=number)

    def _placed(self, head: bytes, letters: int, tail: bytes, length: int, around: int) -> int:
        if self._text is None or self._text.most < length:
            if self._text is not None:
                self._text.close()
            self._text = None
            self._text = Text(length + _MORE)
        behind = 0 if self._abi.terminated else around
        return self._text.placed(head, letters, tail, bytes([around]), bytes([behind]))

    def _ask(self, address: int, length: int) -> tuple[str, int]:
        """The status of an answer, and its number."""
        function, cells = ctypes.addressof(self._function), ctypes.addressof(self._cells)
        question = (ctypes.c_uint64 * 6)(function, address, length, 0, 0, cells)
        answer = (ctypes.c_uint64 * 2)()
        core()("ask_once", self._convention, ctypes.addressof(question), ctypes.addressof(answer))
        return "ARX"[answer[0]], answer[1]

    def _judged(self, status: str, number: int, offset: int, *, right: bool) -> int:
        if status == "X":
            return BROKEN
        if right:
            return AGREES if status == "A" else REFUSED_WELL_FORMED
        if status == "A":
            return ACCEPTED_ILL_FORMED
        is_wrong = self._expected.offsets and number not in (NOT_SAID, offset)
        return OTHER_OFFSET if is_wrong else AGREES


def expected_offset(strings: Grid, index: int, automaton: Automaton) -> int:
    """Where the first error of a string begins: as without the letters between, or as many octets later."""
    octets, (head, *_) = strings.string(index), strings.pieces(index)
    offset = max(end for end in range(len(octets) + 1) if automaton.accepts(octets[:end]))
    return offset if offset < len(head) else offset + strings.between
