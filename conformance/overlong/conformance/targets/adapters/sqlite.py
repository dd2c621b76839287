"""Adapter for SQLite's UTF-8 reader: text bound as UTF-8 is read back as UTF-16 (``sqlite3_column_text16``).

SQLite checks nothing and refuses nothing; it reads ill-formed octets by its own rule.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import ctypes
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.serving import Bug, fail, own_output, serve

if TYPE_CHECKING:
    from collections.abc import Callable

_ROW = 100
_TRANSIENT = ctypes.c_void_p(-1)  # SQLite makes a copy that ends with the text
_NATIVE = f"utf-16-{'le' if sys.byteorder == 'little' else 'be'}"


def reader(library: str) -> tuple[Callable[[bytes], str | Bug], str]:
    """The text that SQLite reads in a string, by a statement that returns its bound value; and SQLite's version."""
    try:
        sqlite = ctypes.CDLL(library)
    except OSError as error:
        fail(f"{library} cannot be loaded: {error}")
    pointer, number = ctypes.c_void_p, ctypes.c_int
    sqlite.sqlite3_libversion.restype = ctypes.c_char_p
    sqlite.sqlite3_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(pointer)]
    sqlite.sqlite3_prepare_v2.argtypes = [pointer, ctypes.c_char_p, number, ctypes.POINTER(pointer), pointer]
    sqlite.sqlite3_bind_text.argtypes = [pointer, number, ctypes.c_char_p, number, pointer]
    sqlite.sqlite3_step.argtypes = sqlite.sqlite3_reset.argtypes = [pointer]
    sqlite.sqlite3_column_text16.argtypes = sqlite.sqlite3_column_bytes16.argtypes = [pointer, number]
    sqlite.sqlite3_column_text16.restype = pointer
    database, statement = pointer(), pointer()
    if sqlite.sqlite3_open(b":memory:", database) or sqlite.sqlite3_prepare_v2(
        database, b"SELECT ?", -1, statement, None
    ):
        fail("SQLite opens no database in memory")

    def read(octets: bytes) -> str | Bug:
        sqlite.sqlite3_reset(statement)
        code = sqlite.sqlite3_bind_text(statement, 1, octets, len(octets), _TRANSIENT)
        if code or sqlite.sqlite3_step(statement) != _ROW:
            return Bug(f"SQLite gives no row (bind: {code})")
        text = sqlite.sqlite3_column_text16(statement, 0)
        units = ctypes.string_at(text, sqlite.sqlite3_column_bytes16(statement, 0))
        return units.decode(_NATIVE, "surrogatepass")

    return read, sqlite.sqlite3_libversion().decode("ascii", "backslashreplace")


def main() -> None:
    """Serve the library that the command line names."""
    answers = own_output()
    read, version = reader(sys.argv[1])
    traits = {"version": f"SQLite {version}", "language": "C", "error_mode": "SQLite's own"}
    serve({"L": lambda many: list(map(read, many))}, "sqlite", traits, answers)


if __name__ == "__main__":
    main()
