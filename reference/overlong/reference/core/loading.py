"""Loads the core into this process."""

from __future__ import annotations

import ctypes
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from overlong.reference.core.building import NotBuilt, built, in_a_line, ready

NoCore = NotBuilt
"""There is no core; the message is one line with the reason, and what helps."""

_WORDS = {
    "convention_of": 1,
    "loop_over_runs": 3,
    "loop_over_single": 3,
    "ask_once": 3,
    "read_results": 4,
    "lay_out_grid": 1,
    "read_choices": 6,
    "make_input": 1,
    "write_inputs": 7,
    "answer_inputs": 1,
    "call_alone": 1,
    "call_together": 1,
    "read_columns": 9,
    "number_columns": 7,
    "reach_features": 4,
    "find_first_error": 4,
    "find_numbers": 5,
}
"""The functions of the core, with the number of their parameters, each a word of 64 bits."""


class Core:
    """The core's functions, by their names: each takes addresses and numbers, and other threads run meanwhile."""

    def __init__(self, path: Path) -> None:
        """Raises: NoCore: it cannot be loaded, or lacks a function."""
        try:
            self._library = ctypes.CDLL(str(path))
            self._functions = {name: self._library[name] for name in _WORDS}
        except (OSError, AttributeError) as error:
            raise NoCore(f"loading the core failed: {in_a_line(str(error))}") from error
        for name, function in self._functions.items():
            function.argtypes = [ctypes.c_int64] * _WORDS[name]
            function.restype = ctypes.c_int64 if name == "convention_of" else None

    def __call__(self, name: str, *words: int) -> int:
        """Call a function; what it returns, if it returns something."""
        return self._functions[name](*words) or 0

    def address(self, name: str) -> int:
        """The address of a function."""
        return ctypes.cast(self._functions[name], ctypes.c_void_p).value or 0

    def convention(self, name: str) -> int:
        """The address of a calling convention (``adapters/abi.py``)."""
        spelt = ctypes.create_string_buffer(name.encode())
        found = self("convention_of", ctypes.addressof(spelt))
        assert found, f"the core calls functions by {name}"
        return found


@cache
def _loaded() -> Core | NoCore:
    if sys.platform == "win32" or sys.maxsize < 1 << 32 or sys.byteorder != "little":
        return NoCore("the core is made for 64-bit POSIX systems with little-endian numbers")
    try:
        for path in ready():
            with suppress(NoCore):  # it is damaged, of another system, or where no program may be
                return Core(path)
        with tempfile.TemporaryDirectory(prefix="overlong-core-") as folder:
            fresh = built(Path(folder))
            for path in ready():
                with suppress(NoCore):
                    return Core(path)
            return Core(fresh)
    except (NoCore, OSError) as error:
        return NoCore(str(error))


def core() -> Core:
    """The core, built if it is not kept.

    Raises:
        NoCore: there is none.
    """
    found = _loaded()
    if isinstance(found, NoCore):
        raise found
    return found


def why_not() -> str:
    """The reason why there is no core, and what helps; empty if there is one."""
    found = _loaded()
    return str(found) if isinstance(found, NoCore) else ""
