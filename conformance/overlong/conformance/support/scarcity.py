"""Words for memory, processes or files that the system refuses to this program: these are no internal errors."""

from __future__ import annotations

import errno

_OF_NUMBERS = {
    errno.ENOMEM: "memory is short; allow more (ulimit -v), or free some",
    errno.EAGAIN: "no further process or thread can start; allow more of them (ulimit -u) or more memory (ulimit -v)",
    errno.EMFILE: "no further file can be opened; allow more (ulimit -n)",
    errno.ENFILE: "no further file can be opened on this machine; close some",
}


def scarce(error: BaseException) -> str:
    """A line with what is short and the remedy; empty if the error has another cause."""
    if isinstance(error, MemoryError):
        number = errno.ENOMEM
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        number = errno.EAGAIN
    elif isinstance(error, ImportError) and "failed to map segment" in str(error):
        number = errno.ENOMEM
    elif isinstance(error, OSError) and error.filename is None:
        number = error.errno or 0
    else:
        return ""
    said = _OF_NUMBERS.get(number, "")
    return said and f"{said}; the run is incomplete"
