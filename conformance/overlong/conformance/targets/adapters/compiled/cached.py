# pyright: basic
"""Numba's compiler, with its cache on disk where that is possible."""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from numba import cfunc, types

from overlong.conformance.targets.adapters import abi

if TYPE_CHECKING:
    from collections.abc import Callable


_NO_CACHE = (RuntimeError, OSError, ImportError, AttributeError, EOFError, UnpicklingError)
"""Errors of a cache: no writable folder, no room, or files that are damaged or belong to other modules."""


@cache
def sources(*others: Path) -> str:
    """A digest of the sources of compiled loops: these, and any others that a loop uses."""
    files = (*sorted(Path(__file__).parent.glob("*.py")), Path(abi.__file__), *others)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def edition(*others: Path) -> Any:
    """The type of an empty first parameter: Numba's cache checks types, but the age of only one file."""
    return types.Opaque(f"Edition({sources(*others)})")


class Compiled:
    """A compiled function of an empty first parameter and numbers; it returns nothing."""

    def __init__(self, function: Callable[..., None], first: Any, *others: Any) -> None:
        """Compile it for these types, or load it."""
        signature = types.void(first, *others)
        try:
            self._kept: Any = cfunc(signature, cache=True, error_model="numpy")(function)
        except _NO_CACHE:
            self._kept = cfunc(signature, error_model="numpy")(function)
        self.address = int(self._kept.address or 0)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * len(others))(self.address)

    def __call__(self, *numbers: int) -> None:
        """Call it; other threads run meanwhile."""
        self._call(None, *numbers)
