"""Strings of thousands of millions of octets that nobody makes: where their errors are, and the memory they lie in.

Text of any length lies in a few MiB of memory: the same block, mapped again and again (Linux).
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.distances import LONGEST
from overlong.conformance.sweep.grid import LETTER

if TYPE_CHECKING:
    from overlong.conformance.sweep.grid import Grid
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


def expected_offset(strings: Grid, index: int, automaton: Automaton) -> int:
    """Where the first error of a string begins: as without the letters between, or as many octets later."""
    octets, (head, *_) = strings.string(index), strings.pieces(index)
    offset = max(end for end in range(len(octets) + 1) if automaton.accepts(octets[:end]))
    return offset if offset < len(head) else offset + strings.between
