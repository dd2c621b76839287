"""Decoders of databases."""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path

from overlong.conformance.support.interpreter import script
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said

_DEBIANS = Path("/usr/lib/postgresql")
_PROGRAMS = ("initdb", "postgres")


@lru_cache(maxsize=1)
def _sqlite() -> str | None:
    """The name of the library."""
    from ctypes.util import find_library

    return find_library("sqlite3")


def _sqlite_missing() -> str:
    return "" if _sqlite() else "no library sqlite3 is found; install SQLite 3 (Debian: apt install libsqlite3-0)"


def _postgresql() -> Path | None:
    """The folder of the server's programs: Debian has each version in a folder of its own, none on PATH."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    versions = [each for each in _DEBIANS.glob("*") if each.name.isdecimal()]
    folders += [each / "bin" for each in sorted(versions, key=lambda each: int(each.name), reverse=True)]
    return next((each for each in folders if all((each / name).is_file() for name in _PROGRAMS)), None)


def _postgresql_missing() -> str:
    if os.name != "posix":
        return "its adapter needs POSIX"
    return (
        "" if _postgresql() else "no initdb and postgres are found; install PostgreSQL (Debian: apt install postgresql)"
    )


DATABASES = (
    Builtin(
        "sqlite",
        "C",
        "SQLite's reader, from UTF-8 to UTF-16",
        _sqlite_missing,
        lambda: script(ADAPTERS / "sqlite.py", str(_sqlite())),
    ),
    Builtin(
        "postgresql",
        "C",
        "PostgreSQL's convert_from(bytea, 'UTF8')",
        _postgresql_missing,
        lambda: script(ADAPTERS / "postgresql.py", str(_postgresql())),
        lambda: said(f"{_postgresql()}/postgres", "--version"),
    ),
)
