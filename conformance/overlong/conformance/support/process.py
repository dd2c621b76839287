"""Signals and standard streams of this process, and the Python processes that it starts.

Ctrl-C, SIGTERM and a lost terminal end a run alike: the results so far are kept, and no target stays behind.

A shell closes a standard stream with ``2>&-``. Then the next opened file gets its number, and output goes into that
file, or a process reads it as its input. And a failed write must not end a run early with the exit code of a
divergence: the guard drops the text, and reports the loss at the end.

For a program started as a module, Python puts the current folder before the standard library; for a file, it puts that
file's folder there. ``-P`` (Python 3.11) leaves both out. An empty entry of ``PYTHONPATH`` means the current folder,
too: mostly it comes from ``PYTHONPATH=$PYTHONPATH:more``, and is an accident. All other entries stay as the user gave
them. No other module starts Python.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from types import FrameType


ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals of this system that end a run as Ctrl-C does."""


class Interrupted(KeyboardInterrupt):
    """The user, or the system, ended the run.

    It is a class of its own because of CPython: run as ``python -m``, it ends itself by SIGINT if a plain
    KeyboardInterrupt ever passed through ``exec`` of a string (which makes dataclasses and named tuples), even if it
    was caught later. The exit code would be lost.
    """


class _State:
    """The state of signals in the main thread; other threads never get signals."""

    holds = 0
    """The number of active :func:`held` contexts."""
    afterwards = 0
    """The value of :attr:`holds` after a signal interrupts, so that a second signal does not disturb its handling."""
    waiting = False
    """True if a held signal is pending."""


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """The handler of the signals.

    Raises:
        Interrupted: unless :func:`held` defers it.
    """
    if _State.holds:
        _State.waiting = True
        return
    _State.waiting, _State.holds = False, _State.afterwards
    raise Interrupted


def listen() -> None:
    """Let these signals interrupt from now on.

    An ignored Ctrl-C (as in a shell's background job) stays ignored, and so does SIGHUP (``nohup``).
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    for number in ENDINGS:
        if number == signal.SIGTERM or signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def no_more_interruptions() -> None:
    """From here on signals change neither what this process reports nor its exit code: both are known.

    They are ignored, because Python removes its own handlers when it ends. Where :func:`listen` was not called, as in a
    program that only uses a function of this one, nothing changes.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, *ENDINGS):
            if signal.getsignal(number) is interrupt:
                signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def listening() -> Generator[None]:
    """In this context, SIGTERM, a lost terminal and Ctrl-C interrupt, if it is possible and they are not ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDINGS)}
    for number, handler in before.items():
        if handler is signal.default_int_handler or (handler is not signal.SIG_IGN and number in ENDINGS):
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: a handler that was not installed from Python
                signal.signal(number, handler)
        _State.waiting = False  # the run has ended, by a signal or by an error


@contextlib.contextmanager
def held() -> Generator[None]:
    """In this context, signals wait, for work that must happen wholly or not at all.

    Raises:
        Interrupted: at the end, if a signal came meanwhile and no other exception was raised.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.holds += 1  # from here on no signal interrupts
    try:
        yield
    finally:
        _State.holds -= 1
    if not _State.holds and _State.waiting:
        interrupt(0, None)


@contextlib.contextmanager
def released() -> Generator[None]:
    """A part of :func:`held` that one signal may interrupt; signals are held again after it, and during its handling.

    Raises:
        Interrupted: a signal came, here or before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _State.holds
    _State.afterwards, _State.holds = before, 0
    try:
        if _State.waiting:
            interrupt(0, None)
        yield
    finally:
        _State.holds, _State.afterwards = before, 0


_OPTIONS, _BARE = ("-P",), ("-I", "-S")
_PATH, _SAFE = "PYTHONPATH", "PYTHONSAFEPATH"
_OURS = "by overlong"
"""The value of the variable, by which overlong recognises its own setting: Python takes any word for yes."""


def script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file."""
    return [sys.executable, *_OPTIONS, str(file), *words]


def module(name: str, *words: str) -> list[str]:
    """The command line that runs a module."""
    return [sys.executable, *_OPTIONS, "-m", name, *words]


def bare_script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file with the standard library only, whatever the environment says."""
    return [sys.executable, *_BARE, str(file), *words]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str] | None:
    """The environment for a new process, with ``more``; None if it equals the environment of this process."""
    whole = {**os.environ, **(more or {})}
    path = without_empty_entries(whole.get(_PATH, ""))
    if path == whole.get(_PATH, ""):
        return whole if more else None
    return {**whole, _PATH: path}


def without_empty_entries(path: str) -> str:
    """A search path without empty entries, which would mean the current folder."""
    return os.pathsep.join(filter(None, path.split(os.pathsep)))


@contextlib.contextmanager
def safe_for_children() -> Generator[None]:
    """In this context, processes that :mod:`multiprocessing` starts do not import from the current folder.

    Such a process calls :func:`as_before` before it starts others.
    """
    before = {name: os.environ.get(name) for name in (_PATH, _SAFE)}
    if path := before[_PATH]:
        os.environ[_PATH] = without_empty_entries(path)
    if not before[_SAFE]:
        os.environ[_SAFE] = _OURS
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def as_before() -> None:
    """Restore the user's environment, for the processes that this one starts."""
    if os.environ.get(_SAFE) == _OURS:
        del os.environ[_SAFE]


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
