"""Ctrl-C, SIGTERM and a lost terminal end a run alike: the results so far are kept, and no target stays behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
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
