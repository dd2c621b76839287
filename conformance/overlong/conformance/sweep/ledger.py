"""The finished part of a sweep, in a SQLite file that survives the end of its process at any moment.

A header identifies the sweep, and each shard's result is a row. A row is committed once, whole, with its own
digest; so a sweep resumes after any interruption, and ends with the same result as without.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from overlong.conformance.oracle.target import KINDS, LEFT_OUT, Fault
from overlong.conformance.results.sweeps import Shard, ShardResult
from overlong.conformance.support.database import Database, Sort
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEDGER = "sweep.sqlite"
SCHEMA = 1
_TABLES = (
    "CREATE TABLE header (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE shard (plan TEXT, grid INTEGER, first INTEGER, count INTEGER, strings INTEGER, octets INTEGER,
    well_formed INTEGER, accepted INTEGER, checksum TEXT, counts TEXT, kinds_digest TEXT, kinds BLOB, faults TEXT,
    seconds REAL, digest TEXT, PRIMARY KEY (plan, grid, first))""",
)
_COLUMNS = "plan, grid, first, count, strings, octets, well_formed, accepted, checksum, counts, kinds_digest"
_PIECE = 1 << 20


class LedgerError(Exception):
    """The file cannot be used, or not for this sweep. The message names the file and the remedy."""


_SORT = Sort(
    int.from_bytes(b"ovlg", "big"), SCHEMA, _TABLES, LedgerError, "it is damaged; remove it to start over",
    "remove it to start over, or choose another with -o",
    {
        sqlite3.SQLITE_BUSY: "another sweep is writing it; wait for its end, or choose another folder with -o",
        sqlite3.SQLITE_NOTADB: "it is no ledger of a sweep; remove it, or choose another folder with -o",
        sqlite3.SQLITE_CORRUPT: "it is damaged; remove it to start over, or choose another folder with -o",
    },
)  # fmt: skip


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


@dataclass(frozen=True)
class LedgerEntry:
    """A shard's checked result, and the sums of its kinds, computed by the process that ran the shard."""

    result: ShardResult
    counts: dict[int, int]
    """The number of strings of each kind, except agreement."""
    kinds_digest: str
    """SHA-256 of the uncompressed kinds; empty if all agree."""

    @classmethod
    def of(cls, result: ShardResult) -> Self:
        """The entry of a result.

        Raises:
            ValueError: its kinds do not fit its shard.
        """
        if not result.kinds:
            return cls(result, {}, "")
        unpacking, digest, counts, length = zlib.decompressobj(), hashlib.sha256(), Counter[int](), 0
        packed = result.kinds
        while packed and length <= result.shard.count:
            piece = unpacking.decompress(packed, _PIECE)
            packed = unpacking.unconsumed_tail
            digest.update(piece)
            length += len(piece)
            _count(piece, counts)
        if length != result.shard.count or not unpacking.eof:
            raise ValueError(f"{result.shard.key}: kinds of {length} strings")
        if strange := set(counts) - set(KINDS):
            raise ValueError(f"{result.shard.key}: there is no kind {min(strange)}")
        return cls(result, dict(sorted(counts.items())), digest.hexdigest())


def _count(kinds: bytes, counts: Counter[int]) -> None:
    """Count the occurrences of each code except 0, one code at a time: there are few."""
    rest = kinds.translate(None, b"\0")
    while rest:
        code, before = rest[0], len(rest)
        rest = rest.translate(None, bytes([code]))
        counts[code] += before - len(rest)


class Ledger(Database):
    """The open file. Only one process writes it at a time."""

    sort = _SORT

    @classmethod
    def open(cls, path: Path, header: dict[str, str], *, resume: bool) -> Ledger:
        """The ledger of a sweep with a value for each name of :data:`HEADER`: a new one, or an existing one.

        A finished ledger is begun anew, unless the sweep is resumed: then all its shards count as done.

        Raises:
            LedgerError: it cannot be written; it is no ledger, or damaged, in use, or from another version or sweep; or
                it is unfinished, and no option decides about it.
        """
        with cls._connected(path, "mode=rwc", 0.2) as ledger:
            ledger.begin(header, resume=resume)
        return ledger

    def begin(self, header: dict[str, str], *, resume: bool) -> None:
        """Begin a sweep, or continue the existing one.

        Raises:
            LedgerError: as :meth:`open`.
        """
        ask = self._connection.execute
        ask("PRAGMA locking_mode = EXCLUSIVE")  # without shared memory between processes, any file system works
        begun = self.has_begun()
        ask("PRAGMA journal_mode = WAL")
        with self._changing("EXCLUSIVE"):
            if not begun:
                self._make_tables()
            self._take(header, resume=resume)

    def _take(self, header: dict[str, str], *, resume: bool) -> None:
        ask = self._connection.execute
        there = dict(ask("SELECT name, value FROM header").fetchall())
        if there and resume:
            self._compare(there, header)
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

    def _compare(self, there: dict[str, str], header: dict[str, str]) -> None:
        for name, value in header.items():
            if there.get(name) != value:
                raise LedgerError(
                    f"{self._name}: begun with {HEADER[name]}: {printable(str(there.get(name)), 80)}, not "
                    f"{printable(value, 80)}; repeat the command that began it, or choose another folder with -o"
                )

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

    def add(self, entry: LedgerEntry) -> None:
        """Commit a shard once.

        Raises:
            LedgerError: it cannot be written; its earlier content is intact.
        """
        result = entry.result
        row = _row(entry)
        with self._errors():
            self._connection.execute(
                "INSERT OR IGNORE INTO shard VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row[:-1], result.kinds, row[-1], result.seconds, _digest(row, result.kinds)),
            )

    def entries(self, plan: str) -> Iterator[LedgerEntry]:
        """The finished shards of a plan, in order, each read when needed.

        Raises:
            LedgerError: a row is damaged.
        """
        with self._errors():
            rows = self._connection.execute(
                f"SELECT {_COLUMNS}, faults, kinds, seconds, digest FROM shard WHERE plan = ? ORDER BY grid, first",  # noqa: S608
                (plan,),
            )
            for *row, kinds, seconds, digest in rows:
                if _digest(tuple(row), kinds) != digest:
                    raise LedgerError(f"{self._name}: a row is damaged; remove the file to start over")
                yield _entry(row, kinds, seconds)

    @property
    def finished(self) -> bool:
        """True if its sweep has ended."""
        with self._errors():
            return bool(self._connection.execute("SELECT 1 FROM header WHERE name = 'finished'").fetchone())

    def finish(self) -> None:
        """Note that the sweep has ended, and that its results are written.

        Raises:
            LedgerError: the file cannot be written.
        """
        with self._errors():
            self._connection.execute("INSERT OR REPLACE INTO header VALUES ('finished', 'yes')")


def _row(entry: LedgerEntry) -> tuple[Any, ...]:
    """A row without kinds, seconds and digest. Checksums are text, because they exceed SQLite's signed integers."""
    result = entry.result
    shard = result.shard
    numbers = result.strings, result.octets, result.well_formed, result.accepted
    counts = json.dumps({str(code): count for code, count in entry.counts.items()})
    faults = json.dumps([astuple(fault) for fault in result.faults])
    place = shard.plan, shard.grid, shard.first, shard.count
    return (*place, *numbers, f"{result.checksum:016x}", counts, entry.kinds_digest, faults)


def _digest(row: tuple[Any, ...], kinds: bytes) -> str:
    return hashlib.sha256("\t".join(map(str, row)).encode() + b"\0" + kinds).hexdigest()


def _entry(row: list[Any], kinds: bytes, seconds: float) -> LedgerEntry:
    plan, grid, first, count, strings, octets, well_formed, accepted, checksum, counts, kinds_digest, faults = row
    told = tuple(Fault(*fault) for fault in json.loads(faults))
    result = ShardResult(
        Shard(plan, grid, first, count), strings, octets, well_formed, accepted, int(checksum, 16), kinds, told
    )
    return LedgerEntry(
        replace(result, seconds=seconds), {int(code): number for code, number in json.loads(counts).items()},
        kinds_digest,
    )  # fmt: skip
