"""Standard streams that are closed, full, or no longer read: what is measured does not depend on them.

A shell closes them with ``2>&-``. Then the next file that is opened gets their number, and what is written to it, or
a process that takes it for its input, goes astray. And a stream that cannot be written to must not end a run in its
midst with the exit code of a decoder that diverges: what it refuses is dropped, and said at the end.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import Any, TextIO

_INCOMPLETE = 4


class _Guarded(io.FileIO):
    """Drops what cannot be written, and keeps the first error."""

    error: OSError | None = None

    def write(self, octets: Any, /) -> int:
        while self.error is None:
            try:
                written = super().write(octets)
            except OSError as error:
                self.error = error
            else:
                if written is not None:
                    return written
                select.select((), (self,), ())  # another process made it non-blocking
        return memoryview(octets).nbytes


class StandardStreams:
    """Those of this process, from the beginning to the end of a program."""

    def __init__(self) -> None:
        """Open those that are closed, on the null device, and guard both outputs. To be called before all else."""
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
                os.set_inheritable(number, True)  # noqa: FBT003 (its only value)
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] (so it is where it was closed)
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout, self._output = _guarded(sys.stdout, 1)
        sys.stderr, _ = _guarded(sys.stderr, 2)

    def exit_code(self, code: int) -> int:
        """The one to leave with, where all that was to be said would have been ``code``; says what was lost."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        error = self._output.error if self._output else None
        if error is None or error.errno in _NOT_READ:  # a reader that left early has seen what it wanted
            return code
        sys.stderr.write(f"overlong: standard output is incomplete: {error.strerror}; write it elsewhere\n")
        sys.stderr.flush()
        return code or _INCOMPLETE


_NOT_READ = {errno.EPIPE, errno.EINVAL} if os.name == "nt" else {errno.EPIPE}


def _guarded(stream: TextIO | None, number: int) -> tuple[TextIO, _Guarded | None]:
    """A stream as it was, guarded; one that is something else, as consoles are on Windows, stays."""
    if stream is not None:
        octets: Any = getattr(stream, "buffer", None)
        if not isinstance(getattr(octets, "raw", octets), io.FileIO) or stream.fileno() != number:
            return stream, None
    raw = _Guarded(number, "wb", closefd=False)
    buffer = io.BufferedWriter(raw)
    if stream is None:
        return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True), raw
    stream.flush()
    return (
        io.TextIOWrapper(
            buffer,
            stream.encoding,
            stream.errors,
            line_buffering=bool(getattr(stream, "line_buffering", False)),
            write_through=bool(getattr(stream, "write_through", False)),
        ),
        raw,
    )
