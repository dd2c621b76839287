"""Many targets, one table: each is certified in a process of its own, several at a time."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overlong.conformance.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

CONFORMS, DIVERGES, NOT_MEASURED, INCOMPLETE = "conforms", "diverges", "not measured", "incomplete"
NOTHING = "nothing to judge"
"""It was asked, and nothing that it does is said anywhere to be right or wrong."""
_STATES = {0: CONFORMS, 1: DIVERGES, 3: NOTHING, 4: INCOMPLETE}
"""By the exit status of ``overlong certify``, where it wrote a statement."""


@dataclass(frozen=True)
class Row:
    """What became of one target."""

    target: str
    state: str
    why: str = ""
    """Why it was not measured, or not wholly."""
    version: str = ""
    language: str = ""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: tuple[dict[str, Any], ...] = ()
    """As ``certificate.json`` has them."""
    restarts: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "language": self.language,
            "version": self.version,
            "state": self.state,
            "why": self.why,
            "claims": self.claims,
            "buckets": list(self.buckets),
            "restarts": self.restarts,
        }


class Matrix:
    """The certifications under way, which can be broken off together."""

    def __init__(self, words: Sequence[str], folder_of: Callable[[str], Path]) -> None:
        """``words`` are options of ``overlong certify``; ``folder_of`` says where a target's results go."""
        self._words = words
        self._folder_of = folder_of
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def rows(self, targets: Sequence[str], jobs: int, done: Callable[[Row], None]) -> list[Row]:
        """Certify each target, ``jobs`` at a time; ``done`` is told each row as it is known, in no order.

        An interruption ends all of them, and what they had measured stays.
        """
        rows: dict[str, Row] = {}
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(self._row, target) for target in targets]
            try:
                for future in as_completed(waiting):
                    row = future.result()
                    rows[row.target] = row
                    done(row)
            except KeyboardInterrupt:
                self._stop()
                for future in waiting:  # those that had not begun say so at once, the others when they have ended
                    row = future.result()
                    rows[row.target] = row
        return [rows[target] for target in targets]

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT)

    def _row(self, target: str) -> Row:
        """Certify one target through the command line: what it does to its process is its own."""
        started = time.monotonic()
        folder = str(self._folder_of(target))
        command = [sys.executable, "-m", "overlong", "certify", "--format", "json", "-q", "-o", folder, *self._words]
        with self._lock:
            if self._stopped:
                return Row(target, INCOMPLETE, "interrupted before it began")
            process = subprocess.Popen(
                [*command, target], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            self._running.add(process)
        written, said = process.communicate()
        with self._lock:
            self._running.discard(process)
        return row_of(target, process.returncode, written, said, time.monotonic() - started)


def row_of(target: str, status: int, written: bytes, said: bytes, seconds: float) -> Row:
    """The row that a run of ``overlong certify --format json`` makes."""
    words = said.decode("utf-8", "backslashreplace").strip().splitlines()
    why = printable(words[-1].removeprefix("overlong: ")) if words else ""
    try:
        predicate = json.loads(written)["predicate"]["overlong"]
    except (ValueError, KeyError, TypeError):
        state = INCOMPLETE if _STATES.get(status) == INCOMPLETE else NOT_MEASURED
        return Row(target, state, why or f"certifying it ended with status {status}", seconds=seconds)
    described = predicate["target"]
    state = _STATES.get(status, NOT_MEASURED)
    if state == NOTHING:
        mode = printable(described["error_mode"])
        why = why or f"it only replaces, in a way that is none of the error modes known here ({mode})"
    return Row(
        target,
        state,
        why,
        described["version"],
        described["language"],
        predicate["claims"],
        tuple(predicate["buckets"]),
        predicate["restarts"],
        seconds,
    )
