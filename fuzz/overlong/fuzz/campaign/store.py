"""What a campaign has done and found, in a SQLite file that survives the end of any process at any moment.

Units of input numbers are claimed, run, and what came of them is committed: so they are *harvested*. Results are
triaged in the order of their numbers, by one process at a time, each in one transaction: so they are *done*. That
order, not speed, decides what is found; and a unit counts wholly or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import sqlite3
import time
import zlib
from dataclasses import astuple, dataclass, field, replace
from types import UnionType
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.database import Database, Sort
from overlong.conformance.support.printable import printable
from overlong.fuzz.campaign.lock_owner import LockOwner
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.stored import StoredFinding
from overlong.fuzz.campaign.written import finding_as_json, finding_of_text, result_as_text, result_of_text
from overlong.fuzz.execution.divergence import Fingerprint
from overlong.fuzz.execution.engine import BLOCK, UnitResult, WorkUnit

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path


DATABASE = "campaign.db"
SCHEMA = 1
PATIENCE = 600.0
"""Seconds without a word after which a process on another host is taken for dead."""
_HEARD = 20.0  # seconds between two words of a process that is at work
_WAIT = 30.0  # seconds for another process's transaction
_LARGEST = 1 << 28  # octets of a result's text; more is none
_TABLES = (
    "CREATE TABLE header (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE seed (place INTEGER PRIMARY KEY, octets BLOB)",
    "CREATE TABLE claimant (token TEXT PRIMARY KEY, host TEXT, boot TEXT, pid INTEGER, begun TEXT, heard REAL)",
    """CREATE TABLE span (first INTEGER PRIMARY KEY, count INTEGER, state TEXT, token TEXT, executions INTEGER,
    octets INTEGER, seconds REAL, coverage INTEGER, ended REAL, harvest BLOB)""",
    "CREATE INDEX unfinished ON span (first) WHERE state <> 'done'",
    "CREATE TABLE total (inputs INTEGER, executions INTEGER, octets INTEGER, coverage INTEGER)",
    "CREATE TABLE asked (target TEXT, operation TEXT, executions INTEGER, PRIMARY KEY (target, operation))",
    "CREATE TABLE finding (id TEXT PRIMARY KEY, number INTEGER, count INTEGER, body TEXT)",
    """CREATE TABLE fingerprint (target TEXT, operation TEXT, kind TEXT, place TEXT, finding TEXT, count INTEGER,
    octave INTEGER, PRIMARY KEY (target, operation, kind, place))""",
    "CREATE TABLE feature (number INTEGER PRIMARY KEY)",
    "CREATE TABLE discovery (seconds REAL, executions INTEGER, features INTEGER, finding TEXT)",
    "CREATE TABLE note (text TEXT PRIMARY KEY)",
)
ALREADY = "a campaign has begun there; go on with --resume, or choose another folder with -o"
NO_CAMPAIGN = "no campaign has begun there; leave out --resume, or name the folder of one"
_DAMAGED = "it is damaged; choose another folder with -o"
SORT = Sort(
    int.from_bytes(b"ovfz", "big"), SCHEMA, _TABLES, CampaignError, _DAMAGED, "choose another folder with -o",
    {
        sqlite3.SQLITE_BUSY: "other processes keep it busy; go on with --resume, with fewer of them",
        sqlite3.SQLITE_NOTADB: "it is no campaign; choose another folder with -o",
        sqlite3.SQLITE_CORRUPT: _DAMAGED,
    },
)  # fmt: skip
_Kind = type | UnionType
_HARVEST = int, int, str, bytes
"""The kinds of the columns of a harvested unit: first, count, state, harvest."""
_CLAIMED, _FREE, _HARVESTED, _DONE = "claimed", "free", "harvested", "done"


@dataclass
class Known:
    """A fingerprint that was seen before."""

    finding: str
    """The id of what its first example was found to be; empty if it was not examined."""
    count: int
    octave: int
    """The last one in which an example was looked at; 0 if it was counted, and none has come yet."""


@dataclass(frozen=True)
class Discovery:
    """A moment at which something was new."""

    seconds: float
    """Seconds of campaign time."""
    executions: int
    """Until then."""
    features: int
    """Features of the reference, reached until then."""
    finding: str
    """The id of the new one; empty if only features are new."""


@dataclass
class Triaged:
    """What one result changes; committed together with its unit."""

    fingerprints: dict[Fingerprint, Known] = field(default_factory=dict[Fingerprint, Known])
    """New ones and those that change, as they are afterwards."""
    findings: list[StoredFinding] = field(default_factory=list[StoredFinding])
    """New ones, in order, and known ones with another example; their counts are what is to be added."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """What is to be added to the counts of findings that stay as they are."""
    features: frozenset[int] = frozenset()
    """New ones."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Totals:
    """Sums over what is harvested."""

    inputs: int
    executions: int
    octets: int
    coverage: int
    """Edges of a target's code, the most that a unit has told."""
    features: int
    """Features of the reference, reached by what is triaged."""
    waiting: int
    """Units that are harvested and not yet triaged."""


class Store(Database):
    """The file, open. Several processes may have it open, and none keeps another waiting for long."""

    sort = SORT

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._owner = LockOwner.here()
        self._heard = float("-inf")
        status = path.stat()
        self._file = status.st_dev, status.st_ino

    @classmethod
    def create(cls, path: Path, header: dict[str, str], seeds: tuple[bytes, ...]) -> Store:
        """The store of a new campaign.

        Raises:
            CampaignError: there is one already; it cannot be written.
        """
        with cls._connected(path, "mode=rwc", _WAIT) as store:
            store.begin(header, seeds)
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """The store of a campaign that has begun.

        Raises:
            CampaignError: there is none; it is of another program or version, damaged, or cannot be written.
        """
        return cls._begun(path, "mode=rw")

    @classmethod
    def read(cls, path: Path) -> Store:
        """The store of a campaign, to be read only: its folder need not be writable.

        Raises:
            CampaignError: there is none; it is of another program or version, or damaged.
        """
        writable = os.access(path.parent, os.W_OK)
        unfinished = path.with_name(path.name + "-wal").exists()
        return cls._begun(path, "mode=ro" if writable or unfinished else "immutable=1")

    @classmethod
    def _begun(cls, path: Path, how: str) -> Store:
        """The store of a campaign that has begun, with SQLite's words for how it is opened."""
        none = CampaignError(f"{printable(str(path.parent))}: {NO_CAMPAIGN}")
        if not path.is_file():
            raise none
        with cls._connected(path, how, _WAIT) as store:
            if not store.has_begun():
                raise none
        return store

    def begin(self, header: dict[str, str], seeds: tuple[bytes, ...]) -> None:
        """Put a new campaign into an empty file.

        Raises:
            CampaignError: another is there.
        """
        already = CampaignError(f"{printable(str(self.path.parent))}: {ALREADY}")
        if self.has_begun():
            raise already
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._changing():
            if self.has_begun():  # another process was first
                raise already
            self._put_first(header, seeds)

    def _put_first(self, header: dict[str, str], seeds: tuple[bytes, ...]) -> None:
        self._make_tables()
        header = {**header, "seeds": digest_of(seeds)}
        self._connection.executemany("INSERT INTO header VALUES (?, ?)", header.items())
        self._connection.executemany("INSERT INTO seed VALUES (?, ?)", enumerate(seeds))
        self._connection.execute("INSERT INTO total VALUES (0, 0, 0, 0)")

    @contextlib.contextmanager
    def _changing(self, how: str = "IMMEDIATE") -> Generator[None]:
        with self._errors():
            self._still_there()
        with super()._changing(how):
            yield

    def _still_there(self) -> None:
        """SQLite writes on to a file that has no name any more: what it keeps then is lost."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._file:
            raise CampaignError(f"{self._name}: it was removed or replaced; begin again in another folder with -o")

    # What it is ------------------------------------------------------------------------------------------------------

    @property
    def header(self) -> dict[str, str]:
        """What was said when the campaign began.

        Raises:
            CampaignError: the file cannot be read.
        """
        return dict(self._rows("header", (str, str), "SELECT name, CAST(value AS TEXT) FROM header"))

    @contextlib.contextmanager
    def part_of_header(self, name: str) -> Generator[str]:
        """A text that was written when the campaign began.

        Raises:
            CampaignError: it is not there, or not what the caller can read.
        """
        header = self.header
        try:
            yield header[name]
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self._damaged(f"header, {name}") from error

    def _rows(self, table: str, kinds: tuple[_Kind, ...], question: str, *values: object) -> list[Any]:
        """Rows of a table. SQLite keeps any value in any column, and the file may be a stranger's.

        Raises:
            CampaignError: the file cannot be read, or a value is of another kind than the campaign has written.
        """
        with self._errors():
            rows = self._connection.execute(question, values).fetchall()
        for row in rows:
            self._check(table, kinds, row)
        return rows

    def _check(self, table: str, kinds: tuple[_Kind, ...], row: tuple[object, ...]) -> None:
        if not all(map(isinstance, row, kinds)):
            raise self._damaged(f"table {table}, {printable(repr(row), 80)}")

    def _damaged(self, place: str) -> CampaignError:
        return CampaignError(f"{self._name}: {place}: {_DAMAGED}")

    @property
    def seeds(self) -> tuple[bytes, ...]:
        """The inputs that the campaign began with, in order.

        Raises:
            CampaignError: the file is damaged.
        """
        seeds = tuple(octets for (octets,) in self._rows("seed", (bytes,), "SELECT octets FROM seed ORDER BY place"))
        if self.header.get("seeds") != digest_of(seeds):
            raise self._damaged("table seed")
        return seeds

    # Units and workers -----------------------------------------------------------------------------------------------

    def join(self) -> None:
        """Say that this process works on the campaign; said again now and then, it is believed.

        Raises:
            CampaignError: the file cannot be written.
        """
        if time.monotonic() - self._heard < _HEARD:
            return
        with self._changing():
            self._connection.execute(
                "INSERT OR REPLACE INTO claimant VALUES (?, ?, ?, ?, ?, ?)",
                (self._mine, self._owner.host, self._owner.boot, self._owner.pid, self._owner.begun,
                 time.time()),
            )  # fmt: skip
        self._heard = time.monotonic()

    @property
    def _mine(self) -> str:
        return self._owner.token

    def leave(self) -> None:
        """Give back what this process has claimed and not run. Never raises: claims of the dead are taken over."""
        with contextlib.suppress(CampaignError), self._changing():
            self._connection.execute(
                "UPDATE span SET state = ?, token = '' WHERE state = ? AND token = ?", (_FREE, _CLAIMED, self._mine)
            )
            self._connection.execute("DELETE FROM claimant WHERE token = ?", (self._mine,))
            self._connection.execute("DELETE FROM header WHERE name = 'absorbs' AND value = ?", (self._mine,))
        self._heard = float("-inf")

    @property
    def others(self) -> int:
        """How many other processes are at work on the campaign.

        Raises:
            CampaignError: the file cannot be read.
        """
        with self._errors():
            return len(self._alive() - {self._mine})

    def _alive(self) -> set[str]:
        """The tokens of those that may be at work."""
        now = time.time()
        rows = self._connection.execute("SELECT host, boot, pid, begun, token, heard FROM claimant").fetchall()
        return {row[4] for row in rows if LockOwner(*row[:5]).may_be_at_work(now - row[5], PATIENCE)}

    def claim(self, count: int, runs: int | None = None, *, left_by_others: bool = False) -> WorkUnit | None:
        """A unit to run: one that was begun and left, else the next inputs. None if there are none.

        Args:
            count: how many inputs are wanted. Whole blocks, or a part that two blocks have not in common.
            runs: how many inputs the campaign is to have.
            left_by_others: only units that were left.

        Raises:
            CampaignError: the file cannot be written.
        """
        self.join()
        with self._changing():
            ask = self._connection.execute
            rows = ask(
                "SELECT first, count, token FROM span WHERE state <> 'done' AND state <> 'harvested' ORDER BY first"
            ).fetchall()
            alive = {self._mine, *self._alive()} if rows else set[str]()
            for first, size, token in rows:
                self._check("span", (int, int, str | None), (first, size, token))
                if token not in alive:
                    ask("UPDATE span SET state = ?, token = ? WHERE first = ?", (_CLAIMED, self._mine, first))
                    return WorkUnit(first, size)
            first = self._next()
            if left_by_others or (runs is not None and first >= runs):
                return None
            size = _fitting(first, count)
            if runs is not None:
                size = min(size, runs - first)
            ask(
                "INSERT INTO span (first, count, state, token) VALUES (?, ?, ?, ?)", (first, size, _CLAIMED, self._mine)
            )
            return WorkUnit(first, size)

    def _next(self) -> int:
        """The number of the first input that was never claimed."""
        row = self._connection.execute("SELECT first + count FROM span ORDER BY first DESC LIMIT 1").fetchone()
        return int(row[0]) if row else 0

    def commit(self, result: UnitResult, seconds: float = 0.0) -> bool:
        """Commit what came of a unit that this process claimed; whether it still was this process's.

        Args:
            result: all of it.
            seconds: of campaign time.

        Raises:
            CampaignError: the file cannot be written; all that was there before is still there.
        """
        text = _packed(result)
        with self._changing():
            changed = self._connection.execute(
                "UPDATE span SET state = ?, executions = ?, octets = ?, seconds = ?, coverage = ?, ended = ?, "
                "harvest = ? WHERE first = ? AND count = ? AND state = ? AND token = ?",
                (_HARVESTED, result.executions, result.octets, result.seconds, result.coverage, time.time(), text,
                 result.unit.first, result.unit.count, _CLAIMED, self._mine),
            ).rowcount  # fmt: skip
            if changed:
                self._connection.execute(
                    "UPDATE total SET inputs = inputs + ?, executions = executions + ?, octets = octets + ?, "
                    "coverage = max(coverage, ?)",
                    (result.unit.count, result.executions, result.octets, result.coverage),
                )
                self._connection.executemany(
                    "INSERT INTO asked VALUES (?, ?, ?) "
                    "ON CONFLICT (target, operation) DO UPDATE SET executions = executions + excluded.executions",
                    ((*of, count) for of, count in result.asked.items()),
                )
                self._spent(seconds)
        return bool(changed)

    def next_result(self) -> UnitResult | None:
        """The first that is not triaged, if all before it are, and if no other process triages.

        Raises:
            CampaignError: the file cannot be written, or is damaged.
        """
        with self._changing():
            ask = self._connection.execute
            row = ask(
                "SELECT first, count, state, harvest FROM span WHERE state <> 'done' ORDER BY first LIMIT 1"
            ).fetchone()
            if row is None or row[2] != _HARVESTED:
                return None
            self._check("span", _HARVEST, row)
            absorbs = ask("SELECT value FROM header WHERE name = 'absorbs'").fetchone()
            if absorbs is not None and absorbs[0] != self._mine and absorbs[0] in self._alive():
                return None
            ask("INSERT OR REPLACE INTO header VALUES ('absorbs', ?)", (self._mine,))
        first, count, _, packed = row
        return self._unpacked(packed, WorkUnit(first, count))

    @property
    def faults_wait(self) -> bool:
        """Whether a fault of an unexamined sort was seen, and is not triaged.

        Raises:
            CampaignError: the file cannot be read, or is damaged.
        """
        rows = self._rows(
            "span", _HARVEST, "SELECT first, count, state, harvest FROM span WHERE state = ? ORDER BY first", _HARVESTED
        )
        return any(
            not each.peer and self.known(each.fingerprint) is None
            for first, count, _, packed in rows
            for each in self._unpacked(packed, WorkUnit(first, count)).divergences
        )

    def _unpacked(self, packed: bytes, unit: WorkUnit) -> UnitResult:
        """Raises: CampaignError: it is damaged."""
        try:
            unpacking = zlib.decompressobj()
            return result_of_text(unpacking.decompress(packed, _LARGEST).decode("ascii"), unit)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error) as error:
            raise self._damaged(f"table span, inputs from {unit.first} on") from error

    def triaged(self, unit: WorkUnit, change: Triaged, seconds: float, rest: UnitResult | None = None) -> None:
        """Commit what a result means, and that its unit is done; or what is left of it.

        Args:
            unit: of the result that :meth:`next_result` gave.
            change: what it changes.
            seconds: of campaign time.
            rest: of the result, not yet triaged: :meth:`next_result` gives that next.

        Raises:
            CampaignError: the file cannot be written; or another process has triaged it.
        """
        with self._changing():
            ask, many = self._connection.execute, self._connection.executemany
            state, packed = (_DONE, None) if rest is None else (_HARVESTED, _packed(rest))
            if ask(
                "UPDATE span SET state = ?, token = '', harvest = ? WHERE first = ? AND state = ?",
                (state, packed, unit.first, _HARVESTED),
            ).rowcount != 1:  # fmt: skip
                raise CampaignError(f"{self._name}: another process has continued it; use --resume")
            many(
                "INSERT OR REPLACE INTO fingerprint VALUES (?, ?, ?, ?, ?, ?, ?)",
                ((*print_, *astuple(known)) for print_, known in change.fingerprints.items()),
            )
            many("INSERT OR IGNORE INTO feature VALUES (?)", ((number,) for number in change.features))
            many("INSERT OR IGNORE INTO note VALUES (?)", ((note,) for note in change.notes))
            names = [finding.id for finding in change.findings]
            new = [name for name in names if not ask("SELECT 1 FROM finding WHERE id = ?", (name,)).fetchone()]
            for finding in change.findings:
                self._put(finding)
            many("UPDATE finding SET count = count + ? WHERE id = ?", ((n, name) for name, n in change.counts.items()))
            if new or change.features:
                (executions,) = ask(
                    "SELECT coalesce(sum(executions), 0) FROM span WHERE first <= ?", (unit.first,)
                ).fetchone()
                (features,) = ask("SELECT count(*) FROM feature").fetchone()
                many(
                    "INSERT INTO discovery VALUES (?, ?, ?, ?)",
                    ((seconds, executions, features, each) for each in new or [""]),
                )
            self._spent(seconds)

    def _put(self, finding: StoredFinding) -> None:
        ask = self._connection.execute
        there = ask("SELECT number, count FROM finding WHERE id = ?", (finding.id,)).fetchone()
        if there is None:
            there = ask("SELECT coalesce(max(number), 0) + 1, 0 FROM finding").fetchone()
        number, count = there
        body = json.dumps(finding_as_json(replace(finding, count=0)))
        ask("INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?)", (finding.id, number, count + finding.count, body))

    def note(self, notes: Iterable[str]) -> None:
        """Keep what a user should know.

        Raises:
            CampaignError: the file cannot be written.
        """
        if rows := [(note,) for note in notes]:
            with self._changing():
                self._connection.executemany("INSERT OR IGNORE INTO note VALUES (?)", rows)

    def spent(self, seconds: float) -> None:
        """Campaign time has come to this.

        Raises:
            CampaignError: the file cannot be written.
        """
        with self._changing():
            self._spent(seconds)

    def _spent(self, seconds: float) -> None:
        self._connection.execute("INSERT OR IGNORE INTO header VALUES ('seconds', '0')")
        self._connection.execute(
            "UPDATE header SET value = max(CAST(value AS REAL), ?) WHERE name = 'seconds'", (seconds,)
        )

    # What is found ---------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Seconds of campaign time, over all runs.

        Raises:
            CampaignError: the file cannot be read.
        """
        if "seconds" not in self.header:
            return 0.0
        with self.part_of_header("seconds") as text:
            if not math.isfinite(seconds := float(text)):
                raise ValueError
            return seconds

    @property
    def totals(self) -> Totals:
        """How much was done.

        Raises:
            CampaignError: the file cannot be read.
        """
        rows = self._rows(
            "total",
            (int,) * 6,
            "SELECT inputs, executions, octets, coverage, (SELECT count(*) FROM feature), "
            "(SELECT count(*) FROM span WHERE state <> 'done' AND state = 'harvested') FROM total",
        )
        if len(rows) != 1:
            raise self._damaged("table total")
        return Totals(*rows[0])

    @property
    def asked(self) -> dict[tuple[str, str], int]:
        """Executions by target and operation, as far as engines have told.

        Raises:
            CampaignError: the file cannot be read.
        """
        rows = self._rows("asked", (str, str, int), "SELECT * FROM asked ORDER BY target, operation")
        return {(target, operation): executions for target, operation, executions in rows}

    @property
    def findings(self) -> list[StoredFinding]:
        """All, in the order in which they were found.

        Raises:
            CampaignError: the file cannot be read, or is damaged.
        """
        return self._findings("SELECT id, body, count FROM finding ORDER BY number")

    def finding(self, name: str) -> StoredFinding | None:
        """The one of that id.

        Raises:
            CampaignError: the file cannot be read, or is damaged.
        """
        return next(iter(self._findings("SELECT id, body, count FROM finding WHERE id = ?", name)), None)

    def _findings(self, question: str, *values: object) -> list[StoredFinding]:
        rows = self._rows("finding", (str, str, int), question, *values)
        try:
            return [finding_of_text(name, body, count, self.path) for name, body, count in rows]
        except ValueError as error:
            raise CampaignError(str(error)) from error

    def known(self, fingerprint: Fingerprint) -> Known | None:
        """What is known of a fingerprint.

        Raises:
            CampaignError: the file cannot be read.
        """
        rows = self._rows(
            "fingerprint",
            (str, int, int),
            "SELECT finding, count, octave FROM fingerprint "
            "WHERE target = ? AND operation = ? AND kind = ? AND place = ?",
            *fingerprint,
        )
        return Known(*rows[0]) if rows else None

    def distinct(self, target: str, kind: str) -> int:
        """How many fingerprints of a target and kind have come with an example.

        Raises:
            CampaignError: the file cannot be read.
        """
        with self._errors():
            row = self._connection.execute(
                "SELECT count(*) FROM fingerprint WHERE target = ? AND kind = ? AND octave", (target, kind)
            ).fetchone()
        return int(row[0])

    @property
    def not_looked_at(self) -> list[tuple[str, str, int, int]]:
        """Unexamined fingerprints of each target and kind, and how many inputs had them.

        Raises:
            CampaignError: the file cannot be read.
        """
        return self._rows(
            "fingerprint",
            (str, str, int, int),
            "SELECT target, kind, count(*), sum(count) FROM fingerprint WHERE finding = '' AND octave "
            "GROUP BY target, kind ORDER BY target, kind",
        )

    @property
    def features(self) -> frozenset[int]:
        """Features of the reference, reached by what is triaged.

        Raises:
            CampaignError: the file cannot be read.
        """
        return frozenset(number for (number,) in self._rows("feature", (int,), "SELECT number FROM feature"))

    @property
    def discoveries(self) -> list[Discovery]:
        """When what was new, in order.

        Raises:
            CampaignError: the file cannot be read.
        """
        kinds = int | float, int, int, str
        rows = self._rows(
            "discovery", kinds, "SELECT seconds, executions, features, finding FROM discovery ORDER BY rowid"
        )
        return [Discovery(*row) for row in rows]

    @property
    def notes(self) -> list[str]:
        """What a user should know, each safe to show.

        Raises:
            CampaignError: the file cannot be read.
        """
        return [text for (text,) in self._rows("note", (str,), "SELECT text FROM note ORDER BY rowid")]


def _packed(result: UnitResult) -> bytes:
    return zlib.compress(result_as_text(result).encode("ascii"), 1)


def _fitting(first: int, count: int) -> int:
    """How many inputs from ``first`` on: whole blocks if there is room for one, else no more than the block has."""
    rest = BLOCK - first % BLOCK
    if rest < BLOCK or count < BLOCK:
        return min(count, rest)
    return count - count % BLOCK


def digest_of(seeds: Iterable[bytes]) -> str:
    """SHA-256 of inputs in order."""
    whole = hashlib.sha256()
    for octets in seeds:
        whole.update(len(octets).to_bytes(8, "big") + octets)
    return whole.hexdigest()
