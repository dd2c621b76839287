"""Ends the processes that a library's function has left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from overlong.conformance.targets.adapters.one_shot import ADOPT, adopted
from overlong.conformance.targets.adapters.serving import MOST_LEFT

if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")


class Leftovers:
    """The processes that calls leave behind. This process adopts what they start in turn; only Linux can do that."""

    def __init__(self) -> None:
        """Processes that exist now, since loading started them, are no leftovers."""
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
        self._own = frozenset(adopted())
        self._ended = 0

    def end(self) -> None:
        """Kill them, but only a limited number in all.

        After that, a function that leaves one at every call has too many, and the supervisor ends it: to kill all would
        let it run for hours, since a fork takes as long as thousands of calls.
        """
        if self._ended >= MOST_LEFT or not _has_children():
            return
        for child in [each for each in adopted() if each not in self._own]:
            self._ended += 1
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except OSError:  # it belongs to another user, or another thread has waited for it
                continue


def _has_children() -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
