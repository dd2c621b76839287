"""Guards standard streams that are closed, full, or no longer read, so that results do not depend on them.

A shell closes them with ``2>&-``. Then the next opened file gets their number, and output goes into that file, or a
process reads it as its input. And a failed write must not end a run early with the exit code of a divergence: the
guard drops the text, and reports the loss at the end.
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
    """Drops text that cannot be written, and keeps the first error."""

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
    """The standard streams of this process, from the beginning to the end of a program."""

    def __init__(self) -> None:
        """Open closed streams on the null device, and guard both outputs. Call this before anything else."""
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, os.O_RDWR if number != 1 else os.O_RDONLY)  # a write to stdout fails
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
                os.set_inheritable(number, True)  # noqa: FBT003 (its only value)
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] (it is None if it was closed)
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout, self._output = _guarded(sys.stdout, 1)
        sys.stderr, _ = _guarded(sys.stderr, 2)

    def exit_code(self, code: int) -> int:
        """The exit code: ``code``, unless output was lost; then it also writes a message."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        error = self._output.error if self._output else None
        if error is None or error.errno in _NOT_READ:  # a reader that closed early has read all it wanted
            return code
        sys.stderr.write(f"overlong: standard output is incomplete: {error.strerror}; write it elsewhere\n")
        sys.stderr.flush()
        return code or _INCOMPLETE


_NOT_READ = {errno.EPIPE, errno.EINVAL} if os.name == "nt" else {errno.EPIPE}


def _guarded(stream: TextIO | None, number: int) -> tuple[TextIO, _Guarded | None]:
    """The stream with the same settings, guarded; one that is no file, like a Windows console, stays as it is."""
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
