"""SQLite files of overlong: opening, recognition, transactions, and errors as messages of one line."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import held

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full; make room, and go on with --resume",
    sqlite3.SQLITE_IOERR: "it cannot be written; make room or look at the disk, and go on with --resume",
    sqlite3.SQLITE_READONLY: "it may not be written; choose another folder with -o",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; choose another folder with -o",
    sqlite3.SQLITE_PERM: "it may not be written; choose another folder with -o",
}
"""Remedies, by SQLite's error code."""


@dataclass(frozen=True)
class Sort:
    """A sort of database, and the messages for one that cannot be used."""

    application: int
    """SQLite's application_id, which marks overlong's files."""
    schema: int
    tables: tuple[str, ...]
    """The statements that create the tables."""
    error: type[Exception]
    """The error, which a user can fix; its message is one line that names the file and the remedy."""
    damaged: str
    """The message for contents that overlong never writes."""
    otherwise: str
    """The remedy for failures with SQLite's own message."""
    remedies: Mapping[int, str] = field(default_factory=dict[int, str])
    """Further messages, by SQLite's error code."""

    @contextlib.contextmanager
    def errors_of(self, path: Path) -> Generator[None]:
        """Turn errors with a file into messages of one line.

        Raises:
            Exception: an :attr:`error`: something went wrong.
        """
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF  # the low octet is the error, the rest a detail
            why = {**_REMEDIES, **self.remedies}.get(code) or f"{printable(str(error))}; {self.otherwise}"
            raise self.error(f"{printable(str(path))}: {why}") from error
        except OSError as error:
            why = error.strerror or printable(str(error))
            raise self.error(f"{printable(str(path))}: {why}; choose another folder with -o") from error
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:  # of a row
            raise self.error(f"{printable(str(path))}: {self.damaged}") from error


class Database:
    """An open file."""

    sort: ClassVar[Sort]

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    @contextlib.contextmanager
    def _connected(cls, path: Path, how: str, wait: float) -> Generator[Self]:
        """Open the file; close it again if the first operations on it fail.

        Args:
            path: the path of the file.
            how: SQLite's mode: ``mode=ro``, ``mode=rw`` or ``mode=rwc``.
            wait: the seconds to wait for other processes.

        Raises:
            Exception: the sort's error: the file cannot be opened.
        """
        if path.is_symlink():  # the folder may be a stranger's, and the link lead out of it
            raise cls.sort.error(f"{printable(str(path))}: a symbolic link; name the folder that it leads to")
        with cls.sort.errors_of(path):
            address = f"{path.resolve().as_uri()}?{how}"
            connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=wait)
            try:
                yield cls(path, connection)
                connection.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                connection.close()
                raise

    @property
    def _name(self) -> str:
        return printable(str(self.path))

    def _errors(self) -> contextlib.AbstractContextManager[None]:
        return self.sort.errors_of(self.path)

    def has_begun(self) -> bool:
        """True if the file has tables.

        Raises:
            Exception: the sort's error: the file belongs to another program, or to a newer version of overlong.
        """
        ask = self._connection.execute
        (application,), (schema,) = ask("PRAGMA application_id").fetchone(), ask("PRAGMA user_version").fetchone()
        tables = ask("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and application != self.sort.application:
            raise self.sort.error(f"{self._name}: it belongs to another program; choose another folder with -o")
        if schema > self.sort.schema:
            raise self.sort.error(
                f"{self._name}: a newer version of overlong wrote it; use that, or choose another folder with -o"
            )
        return bool(tables)

    def _make_tables(self) -> None:
        for table in self.sort.tables:
            self._connection.execute(table)
        self._connection.execute(f"PRAGMA application_id = {self.sort.application}")
        self._connection.execute(f"PRAGMA user_version = {self.sort.schema}")

    @contextlib.contextmanager
    def _changing(self, how: str = "IMMEDIATE") -> Generator[None]:
        """One transaction: it takes effect wholly or not at all, and no signal interrupts it."""
        with held(), self._errors():
            try:
                self._connection.execute(f"BEGIN {how}")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file. It never raises: committed data are safe."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
