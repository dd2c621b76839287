"""Ctrl-C, SIGTERM and a lost terminal end a run alike: what was measured is kept, and no target is left behind."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType


ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a run as Ctrl-C does, where there are such."""


class Interrupted(KeyboardInterrupt):
    """Somebody wants the run to end.

    A class of its own, because CPython, run as ``python -m``, ends itself by SIGINT if a plain KeyboardInterrupt ever
    passed through ``exec`` of a string (dataclasses and named tuples are made so), whatever caught it later: the exit
    code would be lost.
    """


def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """What a signal's handler does.

    Raises:
        Interrupted: always.
    """
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
