"""Many targets, one table: each is certified in a process of its own, several at a time.

``matrix.json`` is written anew after each row, so that whatever ends a matrix, what it had measured is there for
``--resume``. Its schema is ``schemas/matrix-1.schema.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.clock import timestamp
from overlong.conformance.printable import printable
from overlong.conformance.report.model import State
from overlong.conformance.results import generator, written_whole
from overlong.conformance.runner import FAILS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

STATEMENT, RESULTS = "matrix.json", "results.jsonl"
SCHEMA = "overlong/matrix-1"
_STATES = {0: State.CONFORMS, 1: State.DIVERGES, 3: State.NOTHING, 4: State.INCOMPLETE}
"""By the exit status of ``overlong certify``, where it wrote a statement."""
_WHOLE = (State.CONFORMS, State.EXPECTED, State.DIVERGES, State.NOTHING)
"""What becomes of a target that need not be asked again."""
_CONFIGURATION = ("overlong.toml", "pyproject.toml")
"""Files of the current folder that say what a name means, and what is expected of it."""


@dataclass(frozen=True)
class Row:
    """What became of one target."""

    target: str
    state: State
    why: str = ""
    """Why it was not measured, or not wholly."""
    version: str = ""
    language: str = ""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: tuple[dict[str, Any], ...] = ()
    """As ``certificate.json`` has them."""
    restarts: int = 0
    folder: str = ""
    """In the folder of the matrix, where ``results.jsonl`` is; empty if nothing was measured."""
    time: str = ""
    """When it was measured."""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "language": self.language,
            "version": self.version,
            "state": self.state.value,
            "why": self.why,
            "claims": self.claims,
            "buckets": list(self.buckets),
            "restarts": self.restarts,
            "folder": self.folder,
            "time": self.time,
            "seconds": self.seconds,
        }


def not_begun(target: str) -> Row:
    """The row of a target that nobody has asked yet."""
    return Row(target, State.INCOMPLETE, "interrupted before it began")


@dataclass(frozen=True)
class Kept:
    """A row of an earlier matrix that can stand if its target is still the same."""

    row: Row
    target: dict[str, Any]
    """As the header of its results has it: what it says of itself, and the digest of its files."""


@dataclass(frozen=True)
class Conditions:
    """What rows were measured under: one that was measured under others is no row of this matrix."""

    profile: str
    """``rfc3629@1``."""
    options: tuple[str, ...]
    """Those of ``overlong certify``."""
    files: dict[str, str]
    """SHA-256 of each file that says what a name means or what is expected."""

    @staticmethod
    def here(profile: str, options: Sequence[str], expected: Path | None) -> Conditions:
        """Those of the current folder.

        Args:
            profile: its name with its version.
            options: of ``overlong certify``.
            expected: the file of expected deviations, if one is named.

        Raises:
            OSError: a file cannot be read.
        """
        paths = [path for path in map(Path, _CONFIGURATION) if path.is_file()] + ([expected] if expected else [])
        return Conditions(
            profile, tuple(options), {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        )


@dataclass(frozen=True)
class Job:
    """One target for a worker, who gets it as a line of JSON."""

    target: str
    folder: str
    """For its results."""
    options: tuple[str, ...]
    known: dict[str, Any] | None = None
    """The target as an earlier matrix had it: if it is still that, there is nothing to do. None: it is measured."""


def statement(rows: Sequence[Row], conditions: Conditions, command: str, incomplete: str = "") -> dict[str, Any]:
    """What ``matrix.json`` holds.

    Args:
        rows: in the order of the table.
        conditions: that they were measured under.
        command: the command line that measures them.
        incomplete: why rows are missing or not whole; empty if none is.
    """
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "time": timestamp(),
        "command": command,
        "environment": {"system": platform.system(), "machine": platform.machine()},
        "profile": conditions.profile,
        "options": list(conditions.options),
        "files": {name: {"sha256": digest} for name, digest in conditions.files.items()},
        "incomplete": incomplete,
        "targets": [row.as_json() for row in rows],
    }


def write(folder: Path, document: dict[str, Any]) -> None:
    """Write ``matrix.json`` into a folder.

    Raises:
        OSError: it cannot be written; then what was there still is.
    """
    with written_whole(folder / STATEMENT) as file:
        file.write(json.dumps(document, indent=2) + "\n")


def rows_to_keep(folder: Path, conditions: Conditions) -> dict[str, Kept]:
    """The rows of an earlier matrix in this folder that were measured by this version, wholly, under these conditions.

    What is damaged is left out: it is measured again.
    """
    try:
        found = json.loads((folder / STATEMENT).read_text("ascii"))
        files = {name: of["sha256"] for name, of in found["files"].items()}
        same = Conditions(found["profile"], tuple(found["options"]), files) == conditions
        if not same or found["schema"] != SCHEMA or found["generator"] != generator():
            return {}
        rows = [_read_row(row) for row in found["targets"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    kept = ((row, _target_of(row, folder, conditions)) for row in rows if row.state in _WHOLE)
    return {row.target: Kept(row, target) for row, target in kept if target is not None}


def _read_row(row: dict[str, Any]) -> Row:
    """What :meth:`Row.as_json` gave."""
    read: dict[str, Any] = {**row, "state": State(row["state"]), "buckets": tuple(row["buckets"])}
    return Row(**read)


def _target_of(row: Row, folder: Path, conditions: Conditions) -> dict[str, Any] | None:
    """The target of a row's results; None if they are not those of the row, to their end, or may be judged otherwise.

    Expected deviations run out, by the day.
    """
    try:
        if conditions.files and FAILS in row.claims.values() and row.time[:10] != timestamp()[:10]:
            return None
        with (folder / row.folder / RESULTS).open(encoding="ascii") as file:
            first = file.readline()
            (last,) = deque(file, 1)
        header, footer = json.loads(first), json.loads(last)
        whole = footer["record"] == "footer" and footer["claims"] == row.claims and header["generator"] == generator()
        return cast("dict[str, Any]", header["target"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


class Matrix:
    """The certifications under way, which can be broken off together."""

    def __init__(self, options: Sequence[str], output: Path, folders: Mapping[str, str]) -> None:
        """``options`` are those of ``overlong certify``; ``folders`` says where in ``output`` a target's results go."""
        self._options = tuple(options)
        self._output = output
        self._folders = folders
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def rows(
        self,
        targets: Sequence[str],
        jobs: int,
        done: Callable[[Row, bool], None],
        kept: Mapping[str, Kept] | None = None,
    ) -> list[Row]:
        """Certify each target, ``jobs`` at a time.

        An interruption ends all of them, and what they had measured stays; a second one waits for nothing.

        Args:
            targets: their names, each once.
            jobs: how many at a time.
            done: told each row as it is known, in no order, and whether it is a kept one.
            kept: rows that need not be measured if their target is still the same.
        """
        rows: dict[str, Row] = {}
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(self._row, target, (kept or {}).get(target)) for target in targets]
            try:
                for future in as_completed(waiting):
                    row, old = future.result()
                    rows[row.target] = row
                    done(row, old)
            except KeyboardInterrupt:
                self._stop(signal.SIGINT)
                try:
                    for future in waiting:  # those that had not begun say so at once, the others when they have ended
                        future.result()
                except KeyboardInterrupt:
                    self._stop(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
                rows.update((row.target, row) for row, _ in (future.result() for future in waiting))
            except OSError:  # what was measured cannot be written
                self._stop(signal.SIGINT)
                raise
        return [rows[target] for target in targets]

    @property
    def interrupted(self) -> bool:
        return self._stopped

    def _stop(self, how: signal.Signals) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(how)

    def _row(self, target: str, kept: Kept | None) -> tuple[Row, bool]:
        """The row of one target, and whether it is the kept one."""
        started, when = time.monotonic(), timestamp()
        folder = self._folders[target]
        if kept is not None and kept.row.folder != folder:
            kept = None
        job = Job(target, str(self._output / folder), self._options, kept.target if kept else None)
        with self._lock:
            if self._stopped:
                return not_begun(target), False
            process = subprocess.Popen(
                [sys.executable, "-m", "overlong.conformance.matrix_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C reaches it through us, once
            )
            self._running.add(process)
        lifeline, process.stdin = process.stdin, None  # stays open until the worker has ended, or we have
        assert lifeline is not None
        with contextlib.suppress(BrokenPipeError):
            lifeline.write(json.dumps(asdict(job)).encode("ascii") + b"\n")
            lifeline.flush()
        written, said = process.communicate()
        with contextlib.suppress(BrokenPipeError):
            lifeline.close()
        with self._lock:
            self._running.discard(process)
        if kept is not None and process.returncode == 0 and written == KEPT_LINE:
            return kept.row, True
        row = row_of(target, process.returncode, written, said, time.monotonic() - started, when, folder)
        if self._stopped and row.state is State.NOT_MEASURED:  # it was killed before it could say so
            row = replace(row, state=State.INCOMPLETE, why="interrupted")
        return row, False


KEPT_LINE = b'{"kept": true}\n'
"""What a worker writes if the target is still the known one."""


def row_of(
    target: str, status: int, written: bytes, said: bytes, seconds: float, when: str = "", folder: str = ""
) -> Row:
    """The row that a run of ``overlong certify --format json`` makes.

    Args:
        target: its name.
        status: of the run's process.
        written: its stdout.
        said: its stderr, whose last line says why there is no statement.
        seconds: that it took.
        when: it began.
        folder: of its results.
    """
    words = said.decode("utf-8", "backslashreplace").strip().splitlines()
    why = printable(words[-1].removeprefix("overlong: ")) if words else ""
    seconds = round(seconds, 3)
    state = _STATES.get(status, State.NOT_MEASURED)
    try:
        measured = json.loads(written)["predicate"]["overlong"]
        described, claims = measured["target"], measured["claims"]
        mode = printable(described["error_mode"])
        if state is State.CONFORMS and FAILS in claims.values():
            state = State.EXPECTED
        if state is State.NOTHING:
            why = why or f"it only replaces, in a way that is none of the error modes known here ({mode})"
        return Row(
            target,
            state,
            why,
            described["version"],
            described["language"],
            claims,
            tuple(measured["buckets"]),
            measured["restarts"],
            folder,
            when,
            seconds,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        state = state if state is State.INCOMPLETE else State.NOT_MEASURED
        return Row(target, state, why or f"certifying it ended with status {status}", time=when, seconds=seconds)
