"""Calls C functions by their address from compiled code, in any process: for sweeps, campaigns and adapters.

All other modules of this package need Numba, so import them late.
"""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

MACHINES = frozenset(("x86_64", "amd64", "aarch64", "arm64"))
"""The machines whose C calling convention is implemented; it is tested on the first."""


def available() -> bool:
    """True if loops can be compiled: Numba is installed, and the machine is a 64-bit POSIX one."""
    known = platform.machine().lower() in MACHINES and sys.maxsize > 1 << 32 and sys.platform != "win32"
    return known and find_spec("numba") is not None
