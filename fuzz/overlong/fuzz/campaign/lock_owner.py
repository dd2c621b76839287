"""The process that works on a campaign's folder, told from any other that ever had its number."""

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
    """A process, as others on the folder see it."""

    host: str
    boot: str
    """The start of the host; empty where the system does not tell."""
    pid: int
    begun: str
    """When it began, in the system's own ticks since that start; empty where the system does not tell."""
    token: str
    """Chosen by chance: two campaigns of one process are told apart."""

    @classmethod
    def here(cls) -> LockOwner:
        """The process that asks."""
        pid = os.getpid()
        return cls(socket.gethostname(), _boot(), pid, _begun(pid), uuid.uuid4().hex)

    def may_be_at_work(self, seconds: float, patience: float) -> bool:
        """Whether its claims are to be left alone.

        Args:
            seconds: since it was last heard of.
            patience: seconds for which a process on another host is believed to live without a word.
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
