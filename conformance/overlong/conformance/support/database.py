"""SQLite files of ours: opened, told from those of others, changed in transactions; what goes wrong, in one line."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from overlong.conformance.support.interruption import held
from overlong.conformance.support.printable import printable

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
"""Remedies, by what SQLite calls the failure."""


@dataclass(frozen=True)
class Sort:
    """A sort of database, and what is said where one cannot be used."""

    application: int
    """What the file says of itself (SQLite's application_id): it marks our files."""
    schema: int
    tables: tuple[str, ...]
    """How to make them."""
    error: type[Exception]
    """An error that a user can mend; its message is one line that names the file and the remedy."""
    damaged: str
    """Said of contents that overlong never writes."""
    otherwise: str
    """What to do about what SQLite says in words of its own."""
    remedies: Mapping[int, str] = field(default_factory=dict[int, str])
    """Said of failures, by what SQLite calls them."""

    @contextlib.contextmanager
    def errors_of(self, path: Path) -> Generator[None]:
        """What goes wrong with a file, in one line.

        Raises:
            Exception: of :attr:`error`: something did.
        """
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF  # the low octet says what, the rest where
            why = {**_REMEDIES, **self.remedies}.get(code) or f"{printable(str(error))}; {self.otherwise}"
            raise self.error(f"{printable(str(path))}: {why}") from error
        except OSError as error:
            why = error.strerror or printable(str(error))
            raise self.error(f"{printable(str(path))}: {why}; choose another folder with -o") from error
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:  # what a row holds
            raise self.error(f"{printable(str(path))}: {self.damaged}") from error


class Database:
    """A file, open."""

    sort: ClassVar[Sort]

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    @contextlib.contextmanager
    def _connected(cls, path: Path, how: str, wait: float) -> Generator[Self]:
        """The file, open; closed again if what is done first with it fails.

        Args:
            path: of the file.
            how: SQLite's words for it: ``mode=ro``, ``mode=rw`` or ``mode=rwc``.
            wait: seconds for other processes.

        Raises:
            Exception: of the sort's: it cannot be opened.
        """
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
        """Whether tables are in it.

        Raises:
            Exception: of the sort's: it is of another program, or of a newer version of this one.
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
        """One transaction: all of it, or nothing, and no signal in between."""
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
        """Let go of the file. Never raises: what was committed is safe."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
