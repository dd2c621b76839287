"""The process that works on a campaign's folder, distinguished from any other process with the same number."""

from __future__ import annotations

import contextlib
import os
import socket
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class LockOwner:
    """The identity of a process for others on the folder."""

    host: str
    boot: str
    """The start of the host; empty if the system does not report it."""
    pid: int
    begun: str
    """The start of the process, in ticks since the host's start; empty if the system does not report it."""
    token: str
    """A random token, which distinguishes two campaigns of one process."""

    @classmethod
    def here(cls) -> LockOwner:
        """The calling process."""
        pid = os.getpid()
        return cls(socket.gethostname(), _boot(), pid, _begun(pid), uuid.uuid4().hex)

    def may_be_at_work(self, seconds: float, patience: float) -> bool:
        """True if the process may still be at work, so that its claims must stay.

        Args:
            seconds: since its last sign of life.
            patience: seconds without a sign of life after which a process on another host counts as dead.
        """
        if self.host != socket.gethostname():
            return seconds < patience
        if self.boot != _boot():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # it belongs to another user
            pass
        return self.begun == _begun(self.pid)


@lru_cache(maxsize=1)
def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def _begun(pid: int) -> str:
    """Field 22 of proc(5)'s stat, which follows the name of the program in parentheses."""
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    return ""
