# pyright: basic
"""Compiles kernels: once for each machine, if machine code can be kept there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled(function: Callable[..., Any]) -> Any:
    """``function``, compiled by Numba when first called; it runs without the interpreter's lock.

    Machine code is kept beside the module, or in the user's cache folder where that cannot be written
    (``NUMBA_CACHE_DIR`` overrides both). Where neither can be written, each process compiles for itself.
    """
    try:
        return njit(function, cache=True, nogil=True)
    except RuntimeError:  # Numba has no writable cache folder
        return njit(function, nogil=True)
