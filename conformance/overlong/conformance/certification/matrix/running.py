"""The processes of a matrix: so many at a time, ended together when it is interrupted."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.certification.matrix.row import MatrixRow, not_begun, row_of
from overlong.conformance.results.model import State
from overlong.conformance.support.interpreter import environment, module
from overlong.conformance.support.provenance import timestamp
from overlong.conformance.targets.resolve import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from overlong.conformance.certification.matrix.statement import Kept

KEPT_LINE = b'{"kept": true}\n'
"""What a worker writes if the target is still the known one."""


@dataclass(frozen=True)
class MatrixJob:
    """One target for a worker, who gets it as a line of JSON."""

    speaks: str
    """The dialect that it is measured by."""
    quick: bool
    """Leave out the scalar values; else all suites are asked, and no sweeps."""
    limits: Limits
    expected: str = ""
    """The file of expected deviations; empty for that of the project."""
    target: str = ""
    folder: str = ""
    """For its results."""
    known: dict[str, Any] | None = None
    """The target as an earlier matrix had it: if it is still that, there is nothing to do. None: it is measured."""

    @classmethod
    def read(cls, line: bytes) -> MatrixJob:
        """The job that a line holds."""
        said: dict[str, Any] = json.loads(line)
        said["limits"] = Limits(**said["limits"])
        return cls(**said)


class Matrix:
    """The certifications under way, which can be broken off together."""

    def __init__(self, job: MatrixJob, output: Path, folders: Mapping[str, str]) -> None:
        """``job`` is what all are asked; ``folders`` says where in ``output`` a target's results go."""
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
        kept: Mapping[str, Kept] | None = None,
    ) -> list[MatrixRow]:
        """Certify each target, ``jobs`` at a time.

        An interruption ends all of them, and what they had measured stays; a second one waits for nothing.

        Args:
            targets: their names, each once.
            jobs: how many at a time.
            done: told each row as it is known, in no order, and whether it is a kept one.
            kept: rows that need not be measured if their target is still the same.
        """
        rows: dict[str, MatrixRow] = {}
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(self._row, target, (kept or {}).get(target)) for target in targets]
            try:
                for future in as_completed(waiting):
                    row, old = future.result()
                    rows[row.target] = row
                    done(row, old)
            except KeyboardInterrupt:
                self._stop(signal.SIGTERM)  # a shell may have made them deaf to SIGINT
                try:
                    for future in waiting:  # those that had not begun say so at once, the others when they have ended
                        future.result()
                except KeyboardInterrupt:
                    self._stop(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
                rows.update((row.target, row) for row, _ in (future.result() for future in waiting))
            except OSError:  # what was measured cannot be written
                self._stop(signal.SIGTERM)
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

    def _row(self, target: str, kept: Kept | None) -> tuple[MatrixRow, bool]:
        """The row of one target, and whether it is the kept one."""
        started, when = time.monotonic(), timestamp()
        folder = self._folders[target]
        if kept is not None and kept.row.folder != folder:
            kept = None
        known = kept.target if kept else None
        job = replace(self._asked, target=target, folder=str(self._output / folder), known=known)
        with self._lock:
            if self._stopped:
                return not_begun(target), False
            process = subprocess.Popen(
                module("overlong.conformance.certification.matrix.worker"),
                env=environment(),
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
