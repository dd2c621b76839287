"""The finished part of a sweep, in a SQLite file that survives the end of its process at any moment.

A header identifies the sweep, and each shard's result is a row. A row is committed once, whole, with its own
digest; so a sweep resumes after any interruption, and ends with the same result as without.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any, Self

from overlong.conformance.oracle.target import KINDS, LEFT_OUT, Fault
from overlong.conformance.results.sweeps import Shard, ShardResult
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import held

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

LEDGER = "sweep.sqlite"
SCHEMA = 1
HEADER = {
    "target": "another target",
    "identity": "another file or command of the target, with the digest",
    "says": "another version of the target",
    "profile": "another profile",
    "operation": "another operation",
    "plans": "other plans",
    "version": "another version of this program",
}
"""What identifies a sweep: all that its digests depend on, except the answers; and the words if it is another one."""

_APPLICATION = int.from_bytes(b"ovlg", "big")
"""SQLite's application_id, which marks overlong's files."""
_TABLES = (
    "CREATE TABLE header (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE shard (plan TEXT, grid INTEGER, first INTEGER, count INTEGER, strings INTEGER, octets INTEGER,
    well_formed INTEGER, accepted INTEGER, checksum TEXT, counts TEXT, kinds_digest TEXT, kinds BLOB, faults TEXT,
    seconds REAL, digest TEXT, PRIMARY KEY (plan, grid, first))""",
)
_COLUMNS = "plan, grid, first, count, strings, octets, well_formed, accepted, checksum, counts, kinds_digest, faults"
_PIECE = 1 << 20
_WAIT = 0.2  # seconds to wait for another process
_START_OVER = "remove it to start over, or choose another"
_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full; make room, and go on with --resume",
    sqlite3.SQLITE_IOERR: "it cannot be written; make room or look at the disk, and go on with --resume",
    sqlite3.SQLITE_READONLY: "it may not be written; choose another folder with -o",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; choose another folder with -o",
    sqlite3.SQLITE_PERM: "it may not be written; choose another folder with -o",
    sqlite3.SQLITE_BUSY: "another sweep is writing it; wait for its end, or choose another folder with -o",
    sqlite3.SQLITE_NOTADB: "it is no ledger of a sweep; remove it, or choose another folder with -o",
    sqlite3.SQLITE_CORRUPT: f"it is damaged; {_START_OVER} folder with -o",
}
"""Remedies, by SQLite's error code."""


class LedgerError(Exception):
    """The file cannot be used, or not for this sweep. The message names the file and the remedy."""


class Ledger:
    """The open file. Only one process writes it at a time."""

    def __init__(self, path: Path, header: dict[str, str], *, resume: bool) -> None:
        """Open the ledger of a sweep with a value for each name of :data:`HEADER`: a new one, or an existing one.

        A finished ledger is begun anew, unless the sweep is resumed: then all its shards count as done.

        Raises:
            LedgerError: it cannot be written; it is no ledger, or damaged, in use, or from another version or sweep; or
                it is unfinished, and no option decides about it.
        """
        self.path, self._name = path, printable(str(path))
        if path.is_symlink():  # the folder may be a stranger's, and the link lead out of it
            raise LedgerError(f"{self._name}: a symbolic link; name the folder that it leads to")
        with self._errors():
            address = f"{path.resolve().as_uri()}?mode=rwc"
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_WAIT)
            try:
                self._begin(header, resume=resume)
            except BaseException:
                self._connection.close()
                raise

    @contextlib.contextmanager
    def _errors(self) -> Generator[None]:
        """Turn errors with the file into messages of one line."""
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF  # the low octet is the error, the rest a detail
            why = _REMEDIES.get(code) or f"{printable(str(error))}; {_START_OVER} with -o"
            raise LedgerError(f"{self._name}: {why}") from error
        except OSError as error:
            why = error.strerror or printable(str(error))
            raise LedgerError(f"{self._name}: {why}; choose another folder with -o") from error
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:  # of a row
            raise LedgerError(f"{self._name}: it is damaged; remove it to start over") from error

    def _begin(self, header: dict[str, str], *, resume: bool) -> None:
        ask = self._connection.execute
        ask("PRAGMA locking_mode = EXCLUSIVE")  # without shared memory between processes, any file system works
        begun = self._has_begun()
        ask("PRAGMA journal_mode = WAL")
        with held(), self._connection:  # it takes effect wholly or not at all, and no signal interrupts it
            ask("BEGIN EXCLUSIVE")
            if not begun:
                for statement in (
                    *_TABLES,
                    f"PRAGMA application_id = {_APPLICATION}",
                    f"PRAGMA user_version = {SCHEMA}",
                ):
                    ask(statement)
            self._take(header, resume=resume)
        ask("PRAGMA synchronous = NORMAL")

    def _has_begun(self) -> bool:
        """True if the file has tables, and they are ours."""
        ask = self._connection.execute
        (application,), (schema,) = ask("PRAGMA application_id").fetchone(), ask("PRAGMA user_version").fetchone()
        (tables,) = ask("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != _APPLICATION:
            raise LedgerError(f"{self._name}: it belongs to another program; choose another folder with -o")
        if schema > SCHEMA:
            raise LedgerError(
                f"{self._name}: a newer version of overlong wrote it; use that, or choose another folder with -o"
            )
        return bool(tables)

    def _take(self, header: dict[str, str], *, resume: bool) -> None:
        ask = self._connection.execute
        there = dict(ask("SELECT name, value FROM header").fetchall())
        if there and resume:
            for name, value in header.items():
                if there.get(name) != value:
                    raise LedgerError(
                        f"{self._name}: begun with {HEADER[name]}: {printable(str(there.get(name)), 80)}, not "
                        f"{printable(value, 80)}; repeat the command that began it, or choose another folder with -o"
                    )
            # ask skipped strings again: the limit may differ now
            ask("DELETE FROM shard WHERE counts LIKE ?", (f'%"{LEFT_OUT}":%',))
        elif there and not there.get("finished") and self.strings:
            raise LedgerError(
                f"{self._name}: a sweep that was not finished; go on with --resume, remove the file to start over, "
                "or choose another folder with -o"
            )
        else:
            ask("DELETE FROM shard")
            ask("DELETE FROM header")
            self._connection.executemany("INSERT INTO header VALUES (?, ?)", header.items())

    def has(self, shard: Shard) -> bool:
        """True if a shard is done.

        Raises:
            LedgerError: the file cannot be read, or was begun with shards of another size.
        """
        with self._errors():
            found = self._connection.execute(
                "SELECT count FROM shard WHERE plan = ? AND grid = ? AND first = ?",
                (shard.plan, shard.grid, shard.first),
            ).fetchone()
        if found is not None and found[0] != shard.count:
            raise LedgerError(f"{self._name}: begun with shards of another size; remove the file to start over")
        return found is not None

    @property
    def strings(self) -> int:
        """The number of strings in its shards.

        Raises:
            LedgerError: the file cannot be read.
        """
        with self._errors():
            return int(self._connection.execute("SELECT coalesce(sum(count), 0) FROM shard").fetchone()[0])

    def add(self, result: ShardResult) -> None:
        """Commit a shard once; ``result``: from :func:`counted`.

        Raises:
            LedgerError: it cannot be written; its earlier content is intact.
        """
        row = _row(result)
        with self._errors():
            self._connection.execute(
                f"INSERT OR IGNORE INTO shard ({_COLUMNS}, kinds, seconds, digest) VALUES (?{', ?' * 14})",  # noqa: S608
                (*row, result.kinds, result.seconds, _digest(row, result.kinds)),
            )

    def results(self, plan: str) -> Iterator[ShardResult]:
        """The finished shards of a plan, in order, each read when needed.

        Raises:
            LedgerError: a row is damaged.
        """
        with self._errors():
            rows = self._connection.execute(
                f"SELECT {_COLUMNS}, kinds, seconds, digest FROM shard WHERE plan = ? ORDER BY grid, first",  # noqa: S608
                (plan,),
            )
            for *row, kinds, seconds, digest in rows:
                if _digest(tuple(row), kinds) != digest:
                    raise LedgerError(f"{self._name}: a row is damaged; remove the file to start over")
                yield _result(row, kinds, seconds)

    def finish(self) -> None:
        """Note that the sweep has ended, and that its results are written.

        Raises:
            LedgerError: the file cannot be written.
        """
        with self._errors():
            self._connection.execute("INSERT OR REPLACE INTO header VALUES ('finished', 'yes')")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file. It never raises: committed data are safe."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()


def counted(result: ShardResult) -> ShardResult:
    """A result with the sums of its kinds, which the process that ran the shard checks and computes.

    Raises:
        ValueError: its kinds do not fit its shard.
    """
    if not result.kinds:
        return result
    unpacking, digest, counts, length = zlib.decompressobj(), hashlib.sha256(), Counter[int](), 0
    packed = result.kinds
    while packed and length <= result.shard.count:
        piece = unpacking.decompress(packed, _PIECE)
        packed = unpacking.unconsumed_tail
        digest.update(piece)
        length += len(piece)
        rest = piece.translate(None, b"\0")
        while rest:  # one code at a time: there are few
            code, before = rest[0], len(rest)
            rest = rest.translate(None, bytes([code]))
            counts[code] += before - len(rest)
    if length != result.shard.count or not unpacking.eof:
        raise ValueError(f"{result.shard.key}: kinds of {length} strings")
    if strange := set(counts) - set(KINDS):
        raise ValueError(f"{result.shard.key}: there is no kind {min(strange)}")
    return replace(result, counts=dict(sorted(counts.items())), kinds_digest=digest.hexdigest())


def _row(result: ShardResult) -> tuple[Any, ...]:
    """A row without kinds, seconds and digest. Checksums are text, because they exceed SQLite's signed integers."""
    numbers = result.strings, result.octets, result.well_formed, result.accepted
    counts = json.dumps({str(code): count for code, count in result.counts.items()})
    faults = json.dumps([astuple(fault) for fault in result.faults])
    return (*astuple(result.shard), *numbers, f"{result.checksum:016x}", counts, result.kinds_digest, faults)


def _digest(row: tuple[Any, ...], kinds: bytes) -> str:
    return hashlib.sha256("\t".join(map(str, row)).encode() + b"\0" + kinds).hexdigest()


def _result(row: list[Any], kinds: bytes, seconds: float) -> ShardResult:
    *place, strings, octets, well_formed, accepted, checksum, counts, kinds_digest, faults = row
    told = tuple(Fault(*fault) for fault in json.loads(faults))
    result = ShardResult(Shard(*place), strings, octets, well_formed, accepted, int(checksum, 16), kinds, told, seconds)
    of_kinds = {int(code): number for code, number in json.loads(counts).items()}
    return replace(result, counts=of_kinds, kinds_digest=kinds_digest)
