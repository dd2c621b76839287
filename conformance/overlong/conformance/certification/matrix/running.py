"""The processes of a matrix: a few at a time, and ended together on an interruption."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from overlong.conformance.certification.matrix.row import KEPT_LINE, MatrixJob, MatrixRow, not_begun, row_of
from overlong.conformance.results.model import State
from overlong.conformance.support.process import environment, module
from overlong.conformance.support.provenance import timestamp
from overlong.conformance.vectors.suites import PROVING, QUICK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from overlong.conformance.certification.matrix.nursery import Forked, Nursery

SLOWEST = (
    *("chromium-textdecoder", "tcl", "perl-utf8", "postgresql", "ruby-encode", "perl-utf-8-strict", "java-readutf"),
    *("sqlite", "lxml", "npm-text-encoding-utf-8", "ocaml-uutf-decoder", "npm-text-encoding", "ruby", "guile-port"),
)
"""Decoders that take longer than most, roughly the longest first. The order affects only starts, not rows."""
_WORTH_A_NURSERY = 2
"""The number of targets per parallel job above which making the suites once pays off."""
_KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)


class Matrix:
    """The running certifications, which can be ended together."""

    def __init__(self, job: MatrixJob, output: Path, folders: Mapping[str, str]) -> None:
        """``job`` is common to all; ``folders`` has the folder in ``output`` for each target's results."""
        self._asked = job
        self._output = output
        self._folders = folders
        self._running: set[subprocess.Popen[bytes] | Forked] = set()
        self._nursery: Nursery | None = None
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
        ordered = slowest_first(targets)
        # The first workers start at once, while the nursery makes the suites.
        fresh = frozenset(ordered[:jobs])
        with contextlib.ExitStack() as stack:
            if self._asked.warm and sys.platform == "linux" and len(targets) - len(kept) > _WORTH_A_NURSERY * jobs:
                from overlong.conformance.certification.matrix.nursery import Nursery

                self._nursery = Nursery(self._asked.speaks, QUICK if self._asked.quick else PROVING)
                stack.callback(self._nursery.close)
            pool = stack.enter_context(ThreadPoolExecutor(jobs))
            waiting = [pool.submit(self._row, target, kept.get(target), anew=target in fresh) for target in ordered]
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
            if self._nursery is not None:
                self._nursery.close()  # wakes a thread that waits for the nursery
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(how)

    def _row(self, target: str, kept: tuple[MatrixRow, dict[str, Any]] | None, *, anew: bool) -> tuple[MatrixRow, bool]:
        """The row of one target, and True if it is the kept one; ``anew``: by a new process, not by the nursery."""
        started, when = time.monotonic(), timestamp()
        folder = self._folders[target]
        old, known = kept if kept is not None and kept[0].folder == folder else (None, None)
        job = replace(self._asked, target=target, folder=str(self._output / folder), known=known)
        with self._lock:
            if self._stopped:
                return not_begun(target), False
        process = self._worker(anew=anew)
        with self._lock:
            self._running.add(process)
            if self._stopped:  # just now
                process.send_signal(signal.SIGTERM)
        lifeline, process.stdin = process.stdin, None  # stays open until the worker or this process ends
        assert lifeline is not None
        with contextlib.suppress(BrokenPipeError):
            lifeline.write(json.dumps(asdict(job)).encode("ascii") + b"\n")
            lifeline.flush()
        written, said = process.communicate()
        with contextlib.suppress(BrokenPipeError):
            lifeline.close()
        with self._lock:
            self._running.discard(process)
        if old is not None and process.returncode == 0 and written == KEPT_LINE:
            return old, True
        row = row_of(target, process.returncode, written, said, time.monotonic() - started, when, folder)
        if self._stopped and row.state is State.NOT_MEASURED:  # it was killed before it could report that
            row = replace(row, state=State.INCOMPLETE, why="interrupted")
        return row, False

    def _worker(self, *, anew: bool) -> subprocess.Popen[bytes] | Forked:
        if self._nursery is not None and not anew:
            with contextlib.suppress(OSError):  # the nursery has ended: do without it
                return self._nursery.fork()
        return subprocess.Popen(
            module("overlong.conformance.certification.matrix.worker"),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches it only through this process
        )


def slowest_first(targets: Sequence[str]) -> list[str]:
    """The targets in starting order: first known slow ones, then the others in the given order."""
    return sorted(targets, key=lambda target: SLOWEST.index(target) if target in SLOWEST else len(SLOWEST))
