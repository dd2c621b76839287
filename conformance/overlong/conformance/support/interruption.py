"""Ctrl-C, SIGTERM and a lost terminal end a run alike: what was measured is kept, and no target is left behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType


ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a run as Ctrl-C does, where there are such."""


class Interrupted(KeyboardInterrupt):
    """The run was asked to end.

    A class of its own, because CPython, run as ``python -m``, ends itself by SIGINT if a plain KeyboardInterrupt ever
    passed through ``exec`` of a string (dataclasses and named tuples are made so), whatever caught it later: the exit
    code would be lost.
    """


class _State:
    """Whether a signal may interrupt now. The main thread's: others never get one."""

    holds = 0
    """How many :func:`held` are under way."""
    afterwards = 0
    """What :attr:`holds` becomes when a signal interrupts, so that a second one does not disturb its handling."""
    waiting = False
    """Whether a signal came that was held back."""


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """What a signal's handler does.

    Raises:
        Interrupted: unless that is to wait: see :func:`held`.
    """
    if _State.holds:
        _State.waiting = True
        return
    _State.waiting, _State.holds = False, _State.afterwards
    raise Interrupted


def listen() -> None:
    """From now on these signals interrupt.

    A Ctrl-C that is ignored (as in a shell's background job) stays so, and so does SIGHUP (``nohup``).
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    for number in ENDINGS:
        if number == signal.SIGTERM or signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


@contextlib.contextmanager
def listening() -> Generator[None]:
    """While this lasts, SIGTERM, a lost terminal and Ctrl-C interrupt, if that is possible and they are not ignored."""
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
            if handler is not None:  # it was not Python's
                signal.signal(number, handler)
        _State.waiting = False  # what ended ended already, by this or by an error


@contextlib.contextmanager
def held() -> Generator[None]:
    """While this lasts, signals wait: what must happen wholly or not at all does.

    Raises:
        Interrupted: at the end, if one came meanwhile and nothing else was raised.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.holds += 1  # from here on nothing comes in between
    try:
        yield
    finally:
        _State.holds -= 1
    if not _State.holds and _State.waiting:
        interrupt(0, None)


@contextlib.contextmanager
def released() -> Generator[None]:
    """Within :func:`held`: a part that one signal may interrupt; then they are held again, also while it is handled.

    Raises:
        Interrupted: one came, here or before.
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
