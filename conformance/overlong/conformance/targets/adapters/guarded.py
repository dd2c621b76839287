"""Memory between inaccessible pages: code that steps over its edge dies there, by a signal.

The memory is mapped twice. The harness writes through :attr:`Guarded.view`, anywhere in the process. The function
under test gets addresses from :attr:`Guarded.start` to :attr:`Guarded.end`, where the same octets are read-only
(or not), with inaccessible pages on both sides. So no call has to change the protection.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile

GUARD = 1 << 20
"""The inaccessible octets on each side: more than a careless loop skips in one step."""

_FIXED = 0x10  # MAP_FIXED, which Python does not name; 0x10 on Linux, macOS and the BSDs


class Guarded:
    """``size`` octets, rounded up to whole pages, between guards. They live as long as the process."""

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
