"""Adapter for what reads strings inside programs in C: ``readers.py jq PROGRAM`` and ``readers.py sqlite LIBRARY``.

jq's reader of JSON: a batch is an array of JSON strings, which jq writes back in ASCII. The octets between the quotes
are unchanged, except that ASCII octets which JSON forbids there are escaped. The escapes that jq writes name the code
points that it read.

SQLite's reader: text bound as UTF-8 is read back as UTF-16 (``sqlite3_column_text16``). SQLite checks nothing and
refuses nothing; it reads ill-formed octets by its own rule.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import contextlib
import ctypes
import json
import subprocess
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.documents import json_string
from overlong.conformance.targets.adapters.serving import Bug, fail, own_output, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO

_ROW = 100
_TRANSIENT = ctypes.c_void_p(-1)  # SQLite makes a copy that ends with the text
_NATIVE = f"utf-16-{'le' if sys.byteorder == 'little' else 'be'}"


def _reader_of_jq(program: str) -> Callable[[Sequence[bytes]], list[str]]:
    """The strings that a jq process reads from octets: it gets an array on a line, and writes it back on one."""
    words = [program, "--unbuffered", "--compact-output", "--ascii-output", "."]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(many: Sequence[bytes]) -> list[str]:
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"[%s]\n" % b",".join(map(json_string, many)))
            process.stdin.flush()
            line = process.stdout.readline()
        if not line.endswith(b"\n"):
            fail("jq has ended")
        strings: list[str] = json.loads(line)
        if len(strings) != len(many):
            fail(f"jq read {len(strings)} strings where {len(many)} stood")
        return strings

    return read


def jq(program: str, answers: FileIO) -> None:
    """Serve jq."""
    try:
        read = _reader_of_jq(program)
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{program} cannot be started: {error.strerror}")
    version = asked.stdout.strip()
    traits = {"version": version, "language": "C", "wrapper": "json-string", "error_mode": "replacement"}
    serve({"L": read}, "jq", traits, answers)


def _reader_of_sqlite(library: str) -> tuple[Callable[[bytes], str | Bug], str]:
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


def sqlite(library: str, answers: FileIO) -> None:
    """Serve SQLite."""
    read, version = _reader_of_sqlite(library)
    traits = {"version": f"SQLite {version}", "language": "C", "error_mode": "SQLite's own"}
    serve({"L": lambda many: list(map(read, many))}, "sqlite", traits, answers)


if __name__ == "__main__":
    {"jq": jq, "sqlite": sqlite}[sys.argv[1]](sys.argv[2], own_output())
