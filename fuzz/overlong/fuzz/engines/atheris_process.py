"""The process of Atheris: contained like a target, read while it lives, and certain to end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Crashed, TimedOut
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import environment, module
from overlong.conformance.support.strict_json import loads
from overlong.conformance.targets import process
from overlong.fuzz.engines.atheris_child import Orders, SharedMemory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from overlong.conformance.targets.limits import Limits

_KEPT = 1 << 13
_COVERAGE = re.compile(rb"\bcov: (\d+)")
_ERROR = re.compile(rb"ERROR: libFuzzer: ([^\n(]+)")
_LINE = re.compile(rb"[^\n]*\n")
_LOOK = 0.2  # seconds between looks at it
_STARTING = 60.0  # seconds in which it must ask its first input
_ENDING = 6.0  # seconds in which all processes must end


class AtherisProcess:
    """One run: its orders, its process, whose standard streams are drained, and what it found."""

    def __init__(self, folder: Path, orders: Orders, target: str, limits: Limits) -> None:
        """Start nothing yet.

        Args:
            folder: for its files.
            orders: what it is to do.
            target: the name, safe to show.
            limits: of the process; only the supervisor enforces that of memory.
        """
        self.folder = folder
        self.memory = SharedMemory(Path(orders.memory), new=True)
        self.coverage = 0
        """The edges of the target that it reached, counted by libFuzzer."""
        self.starting = 0.0
        """The seconds before its first input."""
        self.culprit: tuple[bytes, Crashed | TimedOut] | None = None
        """The input that ended it, and the kind of end."""
        self._orders, self._target, self._limits = orders, target, limits
        self._tail = b""
        self._lifeline: IO[bytes] | None = None
        self._report: IO[bytes] | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._drainer = threading.Thread(target=self._drain, daemon=True)

    def run(self) -> int:
        """Run it to its end; return the number of inputs.

        Raises:
            TargetError: it asked nothing, or did not end in the target.
            OSError: it cannot start.
        """
        path = self.folder / "orders.json"
        path.write_text(json.dumps(asdict(self._orders)), encoding="utf-8")
        self._popen = running = self._started(module(Orders.__module__, str(path)))
        self._drainer.start()
        seen, since = 0, (began := time.monotonic())
        patience = self._limits.timeout * 2 + 5
        while (status := _status(running, _LOOK)) is None:
            asked = self.memory.executions
            if asked != seen:
                if not seen:
                    self.starting = time.monotonic() - began
                seen, since = asked, time.monotonic()
            elif time.monotonic() - since > (patience if seen else max(patience, _STARTING)):
                self.end()  # libFuzzer's own alarm does not go off either
                break
        if not seen:  # it ended before the first look
            self.starting = time.monotonic() - began
        self._drainer.join(1)
        self._judge(status)
        return self.memory.executions

    def _started(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start it; through the supervisor if the system has one."""
        surroundings = dict(environment() or os.environ)
        surroundings.pop("PYTHONFAULTHANDLER", None)
        memory = self._limits.memory if self._limits.sandbox and process.can_supervise() else None
        popen, self._lifeline, self._report = process.started(
            command, memory, environment=surroundings, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        return popen

    def _judge(self, status: int | None) -> None:
        """Why it ended. Status 0 proves nothing: ``os._exit(0)`` has it, too."""
        said = _ERROR.findall(self._tail)  # as libFuzzer says it: "timeout after 2 seconds"
        complaint = printable(said[-1].decode("utf-8", "backslashreplace").strip()) if said else ""
        at_hand = self.memory.at_hand
        if at_hand is not None:
            hung = status is None or complaint.startswith("timeout")
            says = complaint or (
                f"signal {-status}" if status is not None and status < 0 else f"exited with status {status}"
            )
            self.culprit = at_hand, TimedOut(self._limits.timeout) if hung else Crashed(f"under Atheris: {says}")
        elif status != 0:
            lines = [line for line in self._tail.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
            last_words = printable(lines[-1].strip()) if lines else ""
            raise TargetError(f"{self._target}: the atheris engine: {complaint or last_words}")

    def told(self) -> tuple[list[bytes], list[bytes]]:
        """The first input of each fingerprint; and inputs that together reach all that it reached of the reference.

        A truncated last line does not count.

        Raises:
            TargetError: the child did not write a line so; the target may write there, too.
        """
        found, outbox = (list[bytes](), list[bytes]()), Path(self._orders.outbox)
        if outbox.exists():
            for number, line in enumerate(outbox.read_bytes().split(b"\n")[:-1], 1):
                try:
                    said = loads(line, outbox.name, line=number)
                    found[bool(said["reaches"])].append(bytes.fromhex(said["octets"]))
                except (ValueError, LookupError, TypeError) as error:
                    raise TargetError(
                        f"{self._target}: the atheris engine: line {number} of what it found is damaged"
                    ) from error
        return found

    def end(self) -> None:
        """End it and all its children. Never raises."""
        self._let_go()  # then the supervisor kills everything, and ends
        running = self._popen
        if running is None:
            return
        if running.poll() is None and process.can_supervise():
            _status(running, _ENDING)
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(running.pid, signal.SIGKILL)
        _status(running, _ENDING)
        self._drainer.join(1)
        if running.stdout is not None and not self._drainer.is_alive():
            running.stdout.close()

    def close(self) -> None:
        """End it; its files stay."""
        self.end()
        self.memory.close()

    def _drain(self) -> None:
        assert self._popen is not None
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


def _status(running: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status, negative for a signal; None if it still runs after the seconds given."""
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
