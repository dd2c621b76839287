"""A matrix: certifies many targets for one table, each in its own process, several at a time.

Here are the row of a target, the processes of all jobs, which end together on an interruption, and
``matrix.json``, the file of all rows. That file is rewritten after each row, so that ``--resume`` finds all finished
rows, however the matrix ended. Its schema is ``schemas/matrix-1.schema.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import subprocess
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.certification.matrix_worker import INCOMPLETE, KEPT_LINE, MatrixJob
from overlong.conformance.results.model import FAILS, State
from overlong.conformance.results.records import cause_of, document, regular, spelt, state_recorded
from overlong.conformance.results.results_file import RESULTS
from overlong.conformance.support import process
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.support.provenance import environment, generator, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """The result of one target, in the order of ``matrix.json``."""

    target: str
    language: str = ""
    version: str = ""
    state: State
    why: str = ""
    """The reason why it was not measured, or not completely."""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The buckets in the form of ``certificate.json``."""
    restarts: int = 0
    folder: str = ""
    """The folder of ``results.jsonl`` in the matrix's folder; empty if nothing was measured."""
    time: str = ""
    """The time of the measurement."""
    seconds: float = 0.0
    set_aside: str = ""
    """In words, the vectors that were not asked because of declared traits."""

    def as_json(self) -> dict[str, Any]:
        fields = {**asdict(self), "state": self.state.value}
        return fields if self.set_aside else {name: each for name, each in fields.items() if name != "set_aside"}

    @classmethod
    def read(cls, row: dict[str, Any]) -> MatrixRow:
        """The row that :meth:`as_json` wrote."""
        fields: dict[str, Any] = {**row, "state": State(row["state"]), "buckets": list(row["buckets"])}
        return cls(**fields)


def not_begun(target: str) -> MatrixRow:
    """The row of a target that is not asked yet."""
    return MatrixRow(target=target, state=State.INCOMPLETE, why="interrupted before it began")


def row_of(
    target: str, status: int, written: bytes, said: bytes, seconds: float, when: str = "", folder: str = ""
) -> MatrixRow:
    """The row from a worker's output.

    Args:
        target: its name.
        status: the exit status of its process.
        written: its stdout.
        said: its stderr; the last line has the reason for a missing statement.
        seconds: the duration.
        when: the time of its start.
        folder: the folder of its results.
    """
    words = said.decode("utf-8", "backslashreplace").strip().splitlines()
    why = printable(words[-1].removeprefix("overlong: ")) if words else ""
    seconds = round(seconds, 3)
    incomplete = status == INCOMPLETE
    try:
        measured = json.loads(written)["predicate"]["overlong"]
        described, claims = measured["target"], measured["claims"]
        mode = printable(described["error_mode"])
        state = state_recorded(claims, tuple(map(cause_of, measured["buckets"])), incomplete=incomplete)
        if state is State.NOTHING:
            why = why or f"it only replaces streams, by no error mode known here ({mode})"
        elif stale := len(measured.get("stale", ())):
            why = why or counted(stale, "stale expectation")
        return MatrixRow(
            target=target,
            language=described["language"],
            version=described["version"],
            state=state,
            why=why,
            claims=claims,
            buckets=measured["buckets"],
            restarts=measured["restarts"],
            folder=folder,
            time=when,
            seconds=seconds,
            set_aside=measured.get("set_aside", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        state = State.INCOMPLETE if incomplete else State.NOT_MEASURED
        why = why or f"certifying it ended with status {status}"
        return MatrixRow(target=target, state=state, why=why, time=when, seconds=seconds)


STATEMENT = "matrix.json"
SCHEMA = "overlong/matrix-1"
_WHOLE = (State.CONFORMS, State.EXPECTED, State.EXCEPT, State.DIVERGES, State.NOTHING)
"""The states of rows whose target need not be asked again."""
_CONFIGURATION = ("overlong.toml", "pyproject.toml")
"""The files of the current folder that define names and expected deviations."""


def conditions_here(profile: str, options: Sequence[str], expected: Path | None) -> dict[str, Any]:
    """The conditions of rows, as ``matrix.json`` has them: a row of other conditions does not belong to this matrix.

    Args:
        profile: its name with its version.
        options: the options of ``overlong certify``.
        expected: the file of expected deviations, if one is named.

    Raises:
        OSError: a file of the current folder that defines names or expected deviations cannot be read.
    """
    paths = [path for path in map(Path, _CONFIGURATION) if path.is_file()] + ([expected] if expected else [])
    files = {str(path): {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in paths}
    return {"profile": profile, "options": list(options), "files": files}


def statement(
    rows: Sequence[MatrixRow], conditions: Mapping[str, Any], command: str, incomplete: str = ""
) -> dict[str, Any]:
    """The content of ``matrix.json``.

    Args:
        rows: the rows in the order of the table.
        conditions: the conditions of their measurement.
        command: the command line that measures them.
        incomplete: the reason why rows are missing or incomplete; empty if none is.
    """
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "time": timestamp(),
        "command": command,
        "environment": environment(),
        **conditions,
        "incomplete": incomplete,
        "targets": [row.as_json() for row in rows],
    }


def write_statement(folder: Path, document: dict[str, Any]) -> None:
    """Write ``matrix.json`` into a folder.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    with written_whole(folder / STATEMENT) as file:
        file.write(spelt(document, indent=2) + "\n")


def rows_to_keep(folder: Path, conditions: Mapping[str, Any]) -> dict[str, tuple[MatrixRow, dict[str, Any]]]:
    """The rows of an earlier matrix in this folder, measured completely by this version under these conditions.

    Each comes with the target in the header of its results, its greeting and the digest of its files: the row stays
    valid if that is unchanged. Damaged rows are omitted, and so measured again.
    """
    try:
        found = document(folder / STATEMENT)
        same = all(found[name] == said for name, said in conditions.items())
        if not same or found["schema"] != SCHEMA or found["generator"] != generator():
            return {}
        rows = list(map(MatrixRow.read, found["targets"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    kept = ((row, _target_of(row, folder, conditions)) for row in rows if row.state in _WHOLE)
    return {row.target: (row, target) for row, target in kept if target is not None}


def _target_of(row: MatrixRow, folder: Path, conditions: Mapping[str, Any]) -> dict[str, Any] | None:
    """The target of a row's results; None if these belong to another row, are incomplete, or may be judged differently.

    Expected deviations expire on a certain day.
    """
    try:
        if conditions["files"] and FAILS in row.claims.values() and row.time[:10] != timestamp()[:10]:
            return None
        path = folder / row.folder / RESULTS
        regular(path)
        with path.open(encoding="ascii") as file:
            first = file.readline()
            (last,) = deque(file, 1)
        header, footer = json.loads(first), json.loads(last)
        whole = footer["record"] == "footer" and footer["claims"] == row.claims and header["generator"] == generator()
        return cast("dict[str, Any]", header["target"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


SLOWEST = (
    *("chromium-textdecoder", "tcl", "perl-utf8", "postgresql", "ruby-encode", "perl-utf-8-strict", "java-readutf"),
    *("sqlite", "lxml", "npm-text-encoding-utf-8", "ocaml-uutf-decoder", "npm-text-encoding", "ruby", "guile-port"),
)
"""Decoders that take longer than most, roughly the longest first. The order affects only starts, not rows."""
_KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)


class Matrix:
    """The running certifications, which can be ended together."""

    def __init__(self, job: MatrixJob, output: Path, folders: Mapping[str, str]) -> None:
        """``job`` is common to all; ``folders`` has the folder in ``output`` for each target's results."""
        self._asked = job
        self._output = output
        self._folders = folders
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def rows(
        self,
        targets: Sequence[str],
        jobs: int,
        done: Callable[[MatrixRow, bool], None],
        kept: Mapping[str, tuple[MatrixRow, dict[str, Any]]] | None = None,
    ) -> list[MatrixRow]:
        """Certify each target, ``jobs`` at a time.

        An interruption ends all of them and keeps their results so far; a second one ends without waiting.

        The slowest begin first, so that none runs alone at the end.

        Args:
            targets: their names, each once; rows come back in this order.
            jobs: the number to run at a time.
            done: called with each finished row, in any order, and True if it is a kept row.
            kept: rows that need no measurement if their target, which comes with each, is unchanged.
        """
        rows: dict[str, MatrixRow] = {}
        kept = kept or {}
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(self._row, target, kept.get(target)) for target in slowest_first(targets)]
            try:
                for future in as_completed(waiting):
                    row, old = future.result()
                    rows[row.target] = row
                    done(row, old)
            except KeyboardInterrupt:
                self._stop(signal.SIGTERM)  # a shell may have made them ignore SIGINT
                try:
                    for future in waiting:  # waiting ones return at once, running ones when they have ended
                        future.result()
                except KeyboardInterrupt:
                    self._stop(_KILL)
                rows.update((row.target, row) for row, _ in (future.result() for future in waiting))
            except OSError:  # the results cannot be written
                self._stop(signal.SIGTERM)
                raise
        return [rows[target] for target in targets]

    @property
    def interrupted(self) -> bool:
        return self._stopped

    def _stop(self, how: signal.Signals) -> None:
        with self._lock:
            self._stopped = True
            for worker in self._running:
                with contextlib.suppress(ProcessLookupError):
                    worker.send_signal(how)

    def _row(self, target: str, kept: tuple[MatrixRow, dict[str, Any]] | None) -> tuple[MatrixRow, bool]:
        """The row of one target, and True if it is the kept one."""
        started, when = time.monotonic(), timestamp()
        folder = self._folders[target]
        old, known = kept if kept is not None and kept[0].folder == folder else (None, None)
        job = replace(self._asked, target=target, folder=str(self._output / folder), known=known)
        with self._lock:
            if self._stopped:
                return not_begun(target), False
        worker = subprocess.Popen(
            process.module("overlong.conformance.certification.matrix_worker"),
            env=process.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches it only through this process
        )
        with self._lock:
            self._running.add(worker)
            if self._stopped:  # just now
                worker.send_signal(signal.SIGTERM)
        lifeline, worker.stdin = worker.stdin, None  # stays open until the worker or this process ends
        assert lifeline is not None
        with contextlib.suppress(BrokenPipeError):
            lifeline.write(json.dumps(asdict(job)).encode("ascii") + b"\n")
            lifeline.flush()
        written, said = worker.communicate()
        with contextlib.suppress(BrokenPipeError):
            lifeline.close()
        with self._lock:
            self._running.discard(worker)
        if old is not None and worker.returncode == 0 and written == KEPT_LINE:
            return old, True
        row = row_of(target, worker.returncode, written, said, time.monotonic() - started, when, folder)
        if self._stopped and row.state is State.NOT_MEASURED:  # it was killed before it could report that
            row = replace(row, state=State.INCOMPLETE, why="interrupted")
        return row, False


def slowest_first(targets: Sequence[str]) -> list[str]:
    """The targets in starting order: first known slow ones, then the others in the given order."""
    return sorted(targets, key=lambda target: SLOWEST.index(target) if target in SLOWEST else len(SLOWEST))
