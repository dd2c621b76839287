"""One running target: a process, its pipes, and frames. It cannot hang, flood or take down the harness.

Three threads serve a process: one writes requests, one reads responses into a bounded queue, one drains
stderr and keeps its last octets. Threads rather than ``select``, because pipes cannot be selected on Windows.

On Linux a supervisor runs between the two: it limits the target's memory, and when the target ends, all processes that
it started end too (see ``supervisor.py``). The pipes connect directly to the target, so they lose no speed. Elsewhere,
or on request, the process leads its own group (POSIX), and the whole group is killed. How it ended is told in words.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut
from overlong.conformance.protocol.wire import HEAD, LARGEST_FRAME, LARGEST_GREETING, ProtocolError, frame
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import bare_script
from overlong.conformance.support.process import environment as environment_of
from overlong.conformance.targets.adapters.serving import write_all

if TYPE_CHECKING:
    from collections.abc import Sequence

_POSIX = sys.platform != "win32"
_READ = 1 << 18
_PIPE = 1 << 20
_ATOMIC = 512  # octets that a writable pipe takes at once, by POSIX
_STDERR_KEPT = 4096
_QUEUED = 64  # reads that may wait for the harness; after that the target waits
_DYING = 5.0  # seconds for a process to end after its output or its input
_READ_UP = 0.5  # seconds to read what an ended process has written
_REAPED = 5.0  # seconds for a killed process to be reaped
_KILLED = 6.0  # seconds for all processes to be gone; the supervisor gives up earlier
_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_UNCONFINED = (
    "nothing here would keep its signals from other processes (no PID namespace, no Landlock, no seccomp), and one "
    "kill(-1) would end all that you run; --limit sandbox=off starts it all the same"
)
_BETWEEN_LOOKS = 0.001  # seconds
_LOOK = 100  # milliseconds after which a silent pipe's reader checks that the pipe still has a writer
_SHORT = (MemoryError, SystemError)
"""What CPython raises where memory is short; the second has no message of its own."""
_ADVICE = re.compile(r"note: run with .*|Node\.js v[0-9.]+|exit status \d+")
"""The last lines that Rust, Node.js and ``go run`` print after any failure."""
_TRACE = re.compile(
    r"at .+|\.{3} \d+ more|\}"  # JavaScript, Java
    r"|.+\.go:\d+( \+0x[0-9a-f]+)?"
    r"|\[C\]: in .+|.+:\d+: in .+"  # Lua
    r"|from .+:\d+:in .+"  # Ruby
    r"|thrown in .+ on line \d+"  # PHP
)
"""The end of a stack trace below the error."""
_ERROR = re.compile(r".*(Error|Exception|error: )\b.*|panic: .*|lua\S*: .+|PHP Fatal error: .*")
CROWDED = re.compile(r"it (had more than \d+ processes at once; overlong ended it)")
"""What the supervisor says of such a target."""


class Ended(Exception):
    """The target gave no response; ``why`` is its failure, ``words`` the last line of its stderr."""

    def __init__(self, why: Crashed | TimedOut | Misbehaved, words: str = "") -> None:
        super().__init__(why, words)
        self.why = why
        self.words = words


class Response(NamedTuple):
    """One response frame."""

    request: int
    status: bytes
    payload: bytes


_Read = tuple[float, list[Response]] | Greeting | Ended | MemoryError
"""What the reader thread has read: responses, with the moment when they had arrived; or that memory was short."""


class Process:
    """A target's process. Read its greeting before the first request."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: dict[str, str] | None = None,
        sandbox: bool = True,
        memory: int = 0,
        folder: str | None = None,
        inherited: Sequence[int] = (),
    ) -> None:
        """Start ``command`` without waiting for it.

        Args:
            command: the program and its arguments.
            environment: variables in addition to those of the harness.
            sandbox: run it under a supervisor, if this system has one.
            memory: the octets that each of its processes may allocate; 0 for no limit. Only the supervisor limits it.
            folder: the folder to start it in, if not the current one.
            inherited: descriptors that it gets; here they are closed.

        Raises:
            OSError: it could not be started at all.
        """
        self._reported = b""
        self._isolation = "process group" if _POSIX else "single process"
        self._memory = memory if sandbox and can_supervise() else None
        self._popen, self._lifeline, self._report = started(
            command, self._memory, environment=environment_of(environment), folder=folder, inherited=inherited
        )
        self._following = 0  # the number of the next request
        self._queued = self._written = 0  # requests given to the writer thread, and those it has finished
        self._requests: queue.SimpleQueue[tuple[bytes, ...] | None] = queue.SimpleQueue()
        self._responses: queue.Queue[_Read] = queue.Queue(_QUEUED)
        self._ready: deque[Response] = deque()
        self.arrived = 0.0
        """The moment when the last response that was received had arrived, by :func:`time.monotonic`."""
        self._last = (-1, 0.0)  # the last request whose response has arrived, received or not, and the moment
        self._stderr = b""
        self._closing = threading.Event()
        self._pipes = [cast("IO[bytes]", each) for each in (self._popen.stdin, self._popen.stdout, self._popen.stderr)]
        self._greeting: Greeting | None = None
        self.version = ""
        """The version of the decoder, if the greeting lacks it."""
        try:
            for pipe in self._pipes[:2]:
                widen(pipe)
            self._threads = [
                threading.Thread(target=serve, args=(pipe,), daemon=True)
                for serve, pipe in zip((self._write, self._read, self._drain), self._pipes, strict=True)
            ]
            for thread in self._threads:
                thread.start()
        except BaseException:  # Ctrl-C: no other code knows of the process yet
            with self._popen:  # closes the pipes and waits
                self._kill_all()
            self._read_report()  # this closes the pipe
            raise

    @property
    def isolation(self) -> str:
        """Its containment and its limit on memory: ``PID namespace, 4 GiB of memory a process``.

        Instead of the namespace it may be a ``process tree``; without a supervisor it is the ``process group``.
        """
        self._read_report()
        limit = f", {size_in_words(self._memory)} of memory a process" if self._memory else ""
        return self._isolation + limit

    def greeting(self, timeout: float) -> Greeting:
        """The greeting, its first line; only the first call waits for it.

        Raises:
            Ended: it exited, hung or wrote something else.
            OSError: it could not be started at all.
        """
        if self._greeting is None:
            try:
                first = self._next(timeout)
            except Ended:
                if error := self._read_report():
                    raise OSError(error, _UNCONFINED if error == errno.EOPNOTSUPP else os.strerror(error)) from None
                raise
            assert isinstance(first, Greeting), "the reader puts the greeting first"
            self._greeting = first if first.version else replace(first, version=self.version)
        return self._greeting

    @property
    def is_alive(self) -> bool:
        """True if it has not ended, and can still answer."""
        return self._popen.poll() is None and self._threads[1].is_alive()

    def numbers(self, count: int) -> int:
        """Take the next numbers for requests, modulo 2 to the 32. Returns the first."""
        first = self._following
        self._following = (first + count) & 0xFFFFFFFF
        return first

    @property
    def idle_for(self) -> float:
        """The seconds since it has answered everything, whether or not the answers were received; 0 if it has not."""
        answered, since = self._last
        return time.monotonic() - since if answered == (self._following - 1) & 0xFFFFFFFF else 0.0

    def send(self, request: int, body: bytes) -> None:
        """Send a request, possibly through the writer thread."""
        self.send_frames(frame(request, body))

    def send_frames(self, *frames: bytes) -> None:
        """Send requests given as frames, whole or in a few parts. Only the writer thread may block."""
        if self._queued == self._written and sum(map(len, frames)) <= _ATOMIC and self._takes_at_once():
            with contextlib.suppress(OSError, ValueError):  # the reader sees the end and says why
                write_all(self._pipes[0], frames)
            return
        self._queued += 1
        self._requests.put(frames)

    def _takes_at_once(self) -> bool:
        """True if the pipe has room for a short request: then writing costs less than waking a thread."""
        if sys.platform == "win32":
            return False
        ready = select.poll()
        try:
            ready.register(self._pipes[0], select.POLLOUT)
        except ValueError:  # it was closed
            return False
        return ready.poll(0) == [(self._pipes[0].fileno(), select.POLLOUT)]

    def receive(self, timeout: float) -> Response:
        """The next response.

        Raises:
            Ended: there is none: the process ended, broke the protocol or stayed silent; it has been killed.
        """
        while not self._ready:
            arrived = self._next(timeout)
            assert isinstance(arrived, tuple)
            self.arrived, some = arrived
            self._ready.extend(some)
        return self._ready.popleft()

    def exit_reason(self) -> str:
        """The line of stderr with the reason for its end, safe to show."""
        self._threads[2].join(0.2)
        return exit_reason(self._stderr.decode("utf-8", "backslashreplace"))

    def close(self) -> str:
        """End its input, wait a little, and kill the rest. Returns a fault of the ending, if any."""
        self._requests.put(None)
        wrong = ""
        code = self._wait(_DYING)
        if code is None:
            wrong = "at the end of its input it did not exit"
        elif code != 0:
            wrong = f"at the end of its input it {ended_how(code)}; it should exit with status 0"
        else:
            self._threads[1].join(_READ_UP)
        if not wrong and (self._ready or not self._responses.empty()):
            with contextlib.suppress(queue.Empty):
                if self._ready or isinstance(self._responses.get_nowait(), tuple):
                    wrong = "it sent a response that was not asked for"
        self.kill()
        return wrong

    def kill(self) -> None:
        """Kill the process and everything that it started, and close the pipes."""
        self._closing.set()
        self._kill_all()
        self._requests.put(None)
        self._wait(_REAPED)
        self._read_report()
        while True:  # a reader may wait for room
            with contextlib.suppress(queue.Empty):
                while True:
                    self._responses.get_nowait()
            self._threads[1].join(0.01)
            if not (_POSIX and self._threads[1].is_alive()):
                break
        for thread in self._threads:
            thread.join(0.5)
        for thread, pipe in zip(self._threads, self._pipes, strict=True):
            if not thread.is_alive():
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(queue.Full):  # another thread may wait for a response
            self._responses.put_nowait(Ended(Crashed("was ended by overlong")))

    def _wait(self, seconds: float, unless: threading.Event | None = None) -> int | None:
        """Wait for its end, at most that long, and less if an event is set; the status, or None if it runs on.

        ``Popen.wait`` with a limit sleeps between two looks, too, but up to 50 ms.
        """
        deadline = time.monotonic() + seconds
        while (code := self._popen.poll()) is None and time.monotonic() < deadline:
            if unless is not None and unless.is_set():
                break
            time.sleep(_BETWEEN_LOOKS)
        return code

    def _kill_all(self) -> None:
        if self._lifeline is not None:
            self._lifeline.close()  # the supervisor then kills everything, and ends
            if self._wait(_KILLED) is not None:
                return
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._popen.kill()

    def _read_report(self) -> int:
        """Read the supervisor's report; returns an errno if the command could not be executed."""
        if self._report is not None and not self._report.closed:
            self._reported += self._report.read() or b""
            if self._popen.poll() is not None:
                self._report.close()
        isolation, _, error = self._reported.decode("ascii").partition("\n")
        self._isolation = isolation or self._isolation
        return int(error or 0)

    def _next(self, timeout: float) -> tuple[float, list[Response]] | Greeting:
        try:
            arrived = self._responses.get(timeout=timeout)
        except queue.Empty:
            self.kill()
            raise Ended(TimedOut(timeout), self.exit_reason()) from None
        if isinstance(arrived, Ended):
            self.kill()
            raise Ended(arrived.why, self.exit_reason())
        if isinstance(arrived, MemoryError):  # ours: no fault of the target
            self.kill()
            raise arrived
        return arrived

    def _write(self, pipe: IO[bytes]) -> None:
        while (parts := self._requests.get()) is not None:
            try:
                write_all(pipe, parts)
            except (OSError, ValueError):
                return  # the reader sees the end and says why
            self._written += 1
        with contextlib.suppress(OSError):
            pipe.close()

    def _drain(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError, *_SHORT):
            while octets := self._more(pipe):
                self._stderr = (self._stderr + octets)[-_STDERR_KEPT:]

    def _read(self, pipe: IO[bytes]) -> None:
        buffer = bytearray()
        try:
            greeting = self._read_greeting(pipe, buffer)
            if greeting is None:
                self._put(Ended(self._end()))
                return
            self._put(greeting)
            while not self._closing.is_set():
                if found := whole_frames(buffer):
                    now = time.monotonic()
                    self._last = found[-1].request, now
                    self._put((now, found))
                octets = self._more(pipe)
                if not octets:
                    break
                buffer += octets
            self._put(Ended(self._end(half_a_frame=bool(buffer))))
        except ProtocolError as error:
            self._put(Ended(Misbehaved(str(error))))
        except (OSError, ValueError):
            self._put(Ended(self._end()))
        except _SHORT:
            self._put(MemoryError())

    def _read_greeting(self, pipe: IO[bytes], buffer: bytearray) -> Greeting | None:
        """The greeting; octets after its line stay in ``buffer``. None if the output ends before it."""
        while b"\n" not in buffer:
            if len(buffer) > LARGEST_GREETING:
                raise ProtocolError(f"it wrote {LARGEST_GREETING} octets without a greeting line")
            octets = self._more(pipe)
            if not octets:
                if buffer:
                    Greeting.parse(bytes(buffer))
                return None
            buffer += octets
        line, _, rest = bytes(buffer).partition(b"\n")
        buffer[:] = rest
        return Greeting.parse(line)

    def _more(self, pipe: IO[bytes]) -> bytes:
        """The next octets; empty at the end, which children that outlive the process cannot delay."""
        if sys.platform != "win32":
            patience, ready = _LOOK, select.poll()
            ready.register(pipe, select.POLLIN)
            while not ready.poll(patience):
                if patience == 0:
                    return b""
                if self._closing.is_set() or self._popen.poll() is not None:
                    patience = 0  # earlier output is still in the pipe
        return pipe.read(_READ)

    def _put(self, item: _Read) -> None:
        while not self._closing.is_set():
            try:
                self._responses.put(item, timeout=0.2)
            except queue.Full:
                continue
            return

    def _end(self, *, half_a_frame: bool = False) -> Crashed:
        """The failure that the output's end means, once the process has ended, too."""
        code = self._wait(_DYING, unless=self._closing)
        how = "closed its output and ran on" if code is None else ended_how(code)
        if sys.platform != "win32" and code == -signal.SIGKILL and (crowded := CROWDED.fullmatch(self.exit_reason())):
            return Crashed(crowded[1])
        return Crashed(how + (" in the middle of a response" if half_a_frame else ""))


def size_in_words(octets: int) -> str:
    """``4 GiB``: a size in the largest unit that divides it."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if octets % (1 << power) == 0:
            return f"{octets >> power} {unit}"
    return f"{octets} octets"


def started(
    command: Sequence[str],
    memory: int | None,
    *,
    environment: dict[str, str] | None,
    folder: str | None = None,
    inherited: Sequence[int] = (),
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> tuple[subprocess.Popen[bytes], IO[bytes] | None, IO[bytes] | None]:
    """Start a command in a group of its own, through the supervisor unless ``memory`` is None.

    Returns also the pipe that the supervisor lives by, and the pipe of its report, which does not block.
    """
    theirs = [*inherited]
    lifeline: IO[bytes] | None = None
    report: IO[bytes] | None = None
    try:
        if sys.platform == "linux" and memory is not None:
            if not command or any("\0" in word for word in command):
                raise ValueError("embedded null byte" if command else "an empty command")
            ending, end = os.pipe()
            lifeline = os.fdopen(end, "wb", 0)
            theirs.append(ending)
            end, reporting = os.pipe()
            report = os.fdopen(end, "rb", 0)
            theirs.append(reporting)
            os.set_blocking(end, False)
            command = bare_script(_SUPERVISOR, str(ending), str(reporting), str(memory), "--", *command)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=_POSIX,
            pass_fds=theirs,
            env=environment,
        )
    except BaseException:
        for pipe in filter(None, (lifeline, report)):
            pipe.close()
        raise
    finally:
        for end in theirs:
            os.close(end)
    return process, lifeline, report


def can_supervise() -> bool:
    """True if targets can have a supervisor: on Linux, if this interpreter can be started again."""
    return sys.platform == "linux" and bool(sys.executable)


def widen(pipe: IO[bytes]) -> None:
    """Enlarge a pipe if the system permits, so that a target need not wait for the harness's threads."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(AttributeError, OSError):  # a user's pipes share one limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def whole_frames(buffer: bytearray) -> list[Response]:
    """Remove and return the whole frames at the start of ``buffer``."""
    found: list[Response] = []
    place, size = 0, len(buffer)
    while size - place >= HEAD.size:
        length, request = HEAD.unpack_from(buffer, place)
        if not 5 <= length <= LARGEST_FRAME:
            text = bytes(buffer[place : place + 60])
            raise ProtocolError(
                f"a response claims to have {length} octets: the adapter printed to stdout? "
                f'it wrote "{printable(text.decode("ascii", "backslashreplace"))}"'
            )
        end = place + 4 + length
        if end > size:
            break
        with memoryview(buffer) as view:  # frames are copied once
            found.append(Response(request, bytes(view[place + 8 : place + 9]), bytes(view[place + 9 : end])))
        place = end
    del buffer[:place]
    return found


def ended_how(code: int) -> str:
    """The end of a process in words; ``code``: its status, or the negative number of the signal."""
    if code >= 0:
        return f"exited with status {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def exit_reason(stderr: str) -> str:
    """The line of a program's stderr with the reason for its end, safe to show; empty if there is none.

    It is the last line, apart from lines that run-times print after it.
    """
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    while len(lines) > 1 and _ADVICE.fullmatch(lines[-1]):
        lines.pop()
    if not lines:
        return ""
    errors = [line for line in lines if _ERROR.fullmatch(line) and not _TRACE.fullmatch(line)]
    said = errors[-1] if errors and _TRACE.fullmatch(lines[-1]) else lines[-1]
    return printable(said, 200)
