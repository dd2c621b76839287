"""Calls C functions by their address from compiled code, in any process: for sweeps, campaigns and adapters.

What Numba compiled is loaded without it (``cached.py``). All other modules except ``answers`` need it, so import
them late.
"""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

WORD = 8
"""The octets of a machine word."""
ACCEPTED, REFUSED, BROKEN = range(3)
"""The outcomes of a call; :func:`~overlong.conformance.oracle.kinds.answer_code` calls them ``A``, ``R`` and ``X``."""
MACHINES = frozenset(("x86_64", "amd64", "aarch64", "arm64"))
"""The machines whose C calling convention is implemented; it is tested on the first."""


def available() -> bool:
    """True if loops can be compiled: Numba is installed, and the machine is a 64-bit POSIX one."""
    known = platform.machine().lower() in MACHINES and sys.maxsize > 1 << 32 and sys.platform != "win32"
    return known and find_spec("numba") is not None
