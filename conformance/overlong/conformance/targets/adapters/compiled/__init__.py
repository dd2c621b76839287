"""C functions called by their address from compiled code, in whatever process: by sweeps, campaigns and adapters.

All but this module needs Numba, so import it late.
"""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

MACHINES = frozenset(("x86_64", "amd64", "aarch64", "arm64"))
"""Where how a C function is called is known, and tested on the first."""


def available() -> bool:
    """Whether there can be a compiled loop: Numba is installed, and the machine is a 64-bit POSIX one."""
    known = platform.machine().lower() in MACHINES and sys.maxsize > 1 << 32 and sys.platform != "win32"
    return known and find_spec("numba") is not None
