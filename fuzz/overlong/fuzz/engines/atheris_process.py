"""The process of Atheris: contained like a target, read while it lives, and certain to end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.support.interpreter import bare_script, environment
from overlong.conformance.support.printable import printable
from overlong.conformance.targets import process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

_SUPERVISOR = str(Path(process.__file__).with_name("supervisor.py"))
_KEPT = 1 << 13
_COVERAGE = re.compile(rb"\bcov: (\d+)")
_ERROR = re.compile(rb"ERROR: libFuzzer: ([^\n(]+)")
_LINE = re.compile(rb"[^\n]*\n")
_ENDING = 6.0  # seconds in which all processes must end


class AtherisProcess:
    """One run. It drains the standard streams, and keeps the coverage and the last line."""

    def __init__(self, command: Sequence[str], *, memory: int, sandbox: bool) -> None:
        """Start it.

        Args:
            command: the program and its arguments.
            memory: the octets that it may allocate; 0 for no limit. Only the supervisor enforces it.
            sandbox: use a supervisor, if the system has one.

        Raises:
            OSError: it cannot start.
        """
        self.coverage = 0
        """The edges of the target that it reached, counted by libFuzzer."""
        self._tail = b""
        self._lifeline: IO[bytes] | None = None
        self._report: IO[bytes] | None = None
        theirs: list[int] = []
        surroundings = dict(environment() or os.environ)
        surroundings.pop("PYTHONFAULTHANDLER", None)
        try:
            if sandbox and process.can_supervise():
                ending, lifeline = os.pipe()
                self._lifeline = os.fdopen(lifeline, "wb", 0)
                theirs.append(ending)
                report, reporting = os.pipe()
                self._report = os.fdopen(report, "rb", 0)
                theirs.append(reporting)
                given = [str(ending), str(reporting), str(memory)]
                command = bare_script(_SUPERVISOR, *given, "--", *command)
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
                pass_fds=theirs,
                env=surroundings,
            )
        except BaseException:
            self._let_go()
            raise
        finally:
            for end in theirs:
                os.close(end)
        self._drainer = threading.Thread(target=self._drain, daemon=True)
        self._drainer.start()

    def wait(self, seconds: float) -> int | None:
        """Its exit status, negative for a signal; None if it still runs after the seconds given."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it and all its children. Never raises."""
        self._let_go()  # then the supervisor kills everything, and ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._popen.poll() is None and process.can_supervise():
                self._popen.wait(_ENDING)
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ENDING)
        self._drainer.join(1)
        if self._popen.stdout is not None and not self._drainer.is_alive():
            self._popen.stdout.close()

    @property
    def complaint(self) -> str:
        """libFuzzer's reason for the end, such as ``timeout after 2 seconds``; safe to show, empty if there is none."""
        self._drainer.join(1)
        said = _ERROR.findall(self._tail)
        return printable(said[-1].decode("utf-8", "backslashreplace").strip()) if said else ""

    @property
    def last_words(self) -> str:
        """The last line that it wrote, safe to show."""
        self._drainer.join(1)
        lines = [line for line in self._tail.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
        return printable(lines[-1].strip()) if lines else ""

    def _drain(self) -> None:
        assert self._popen.stdout is not None
        rest = b""
        with contextlib.suppress(OSError, ValueError):
            while octets := self._popen.stdout.read(1 << 16):
                rest += octets
                for line in _LINE.findall(rest):
                    if found := _COVERAGE.search(line):
                        self.coverage = max(self.coverage, int(found[1]))
                rest = rest[rest.rfind(b"\n") + 1 :][-_KEPT:]
                self._tail = (self._tail + octets)[-_KEPT:]

    def _let_go(self) -> None:
        for pipe in (self._lifeline, self._report):
            if pipe is not None:
                pipe.close()
