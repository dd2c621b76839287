"""Forks workers of a matrix off a process that has already made the vectors.

    python -m overlong.conformance.certification.matrix_nursery DIALECT SUITE...

A worker needs some seconds to load the harness, to make the suites and the machines they derive from, and to compute
the right answers. All that is the same for every target (answers except for their units), so one process makes it
once, and each worker starts as a copy of it. The copy is still a separate process: its faults do not affect others.

Standard input is a socket. Each message on it brings four descriptors: a worker's standard input, output and error,
and a socket that gets its process id and finally its exit status, in the form of :class:`subprocess.Popen`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import traceback
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.support.process import environment, module

if TYPE_CHECKING:
    from collections.abc import Sequence

if sys.platform != "linux":
    raise ImportError("a process that was only forked may not be used here, or there is no such thing")

_USED = (
    "certification.certify",
    "certification.nearest_model",
    "models.picture",
    "targets.builtins",
    "targets.framed",
    "targets.process",
)
"""Modules that a worker will import."""
_USUAL_UNITS = "utf-32", "utf-16"
"""The units of most targets: for other units a worker computes the right answers itself."""
_NUMBER = struct.Struct("=i")
_LOST = -int(signal.SIGTERM)
"""The status of a worker whose end was missed."""


class Nursery:
    """The process that forks workers. It ends when this object closes or its process ends."""

    def __init__(self, speaks: str, suites: Sequence[str]) -> None:
        """Start the process; it makes the named suites for a dialect, and then forks."""
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                module("overlong.conformance.certification.matrix_nursery", speaks, *suites),
                env=environment(),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches the workers through the matrix
            )

    def fork(self) -> Forked:
        """Fork a worker.

        Raises:
            OSError: the nursery has ended.
        """
        with contextlib.ExitStack() as stack:
            theirs, ours = list[int](), list[int]()
            for reading in (True, False, False):
                pair = os.pipe()
                theirs.append(pair[0 if reading else 1])
                ours.append(pair[1 if reading else 0])
                stack.callback(os.close, theirs[-1])
            state, said = socket.socketpair()
            stack.enter_context(said)
            try:
                socket.send_fds(self._channel, [b"w"], [*theirs, said.fileno()])
                said.close()  # otherwise the nursery's end would stay unnoticed
                return Forked(_number(state), state, *ours)
            except OSError:
                state.close()
                for descriptor in ours:
                    os.close(descriptor)
                raise

    def close(self) -> None:
        """Fork no more workers; existing ones continue."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


class Forked:
    """A worker, with the part of :class:`subprocess.Popen` that a matrix uses."""

    def __init__(self, pid: int, state: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self._pid, self._state = pid, state
        self.stdin: IO[bytes] | None = open(stdin, "wb")  # noqa: SIM115 (its user closes it)
        self._outputs = stdout, stderr
        self.returncode: int | Any = None

    def communicate(self) -> tuple[bytes, bytes]:
        """Read both streams until it ends; then its status is known."""
        written = {descriptor: bytearray() for descriptor in self._outputs}
        with selectors.DefaultSelector() as selector:
            for descriptor in self._outputs:
                selector.register(descriptor, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    octets = os.read(key.fd, 1 << 16)
                    written[key.fd] += octets
                    if not octets:
                        selector.unregister(key.fd)
                        os.close(key.fd)
        try:
            self.returncode = _number(self._state)
        except OSError:
            self.returncode = _LOST
        self._state.close()
        stdout, stderr = self._outputs
        return bytes(written[stdout]), bytes(written[stderr])

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it is known to have ended."""
        if self.returncode is None:
            os.kill(self._pid, number)


def _number(state: socket.socket) -> int:
    """The next number from the socket.

    Raises:
        OSError: the other end is closed.
    """
    octets = state.recv(_NUMBER.size, socket.MSG_WAITALL)
    if len(octets) < _NUMBER.size:
        raise BrokenPipeError
    number: int = _NUMBER.unpack(octets)[0]
    return number


def warm(speaks: str, suites: Sequence[str]) -> None:
    """Load a worker's modules, make these suites, and compute the answers that most targets should give."""
    from overlong.conformance.protocol.wire import ASKING, UNITS
    from overlong.conformance.vectors.suites import QUICK, SUITES
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import dialect

    for name in _USED:
        importlib.import_module(f"overlong.conformance.{name}")
    profile = Profile(dialect(speaks).name)
    for name in suites:
        suite = replace(SUITES[name], profile=profile)
        if suite.asks in ASKING:  # few targets answer questions, and each answers others
            continue
        suite.size  # noqa: B018 (counts the vectors)
        for batch in suite.keep():
            for units in _USUAL_UNITS:
                batch.work_out(suite.asks, UNITS[units])
    if set(suites) != set(QUICK):  # then failing targets are learned, too
        from overlong.conformance.models.identify import make_ready

        make_ready()
    gc.collect()
    gc.freeze()  # garbage collection would write to pages that workers share


def main() -> None:
    """Fork workers until the other end is closed."""
    channel = socket.socket(fileno=os.dup(0))
    warm(sys.argv[1], sys.argv[2:])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # this process does not reap its children
    while True:
        said, descriptors, _, _ = socket.recv_fds(channel, 1, 4)
        if not said:
            return
        if os.fork() == 0:
            channel.close()
            _attend(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _attend(stdin: int, stdout: int, stderr: int, state: int) -> None:
    """Fork a worker, send its id, wait for it, send its status. Does not return."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    worker = os.fork()
    if worker == 0:
        os.close(state)
        _work(stdin, stdout, stderr)
    for descriptor in (0, stdin, stdout, stderr):
        os.close(descriptor)
    with contextlib.suppress(OSError):
        os.write(state, _NUMBER.pack(worker))
        os.write(state, _NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])))
    os._exit(0)


def _work(*streams: int) -> None:
    """Run as a worker. Does not return."""
    from overlong.conformance.certification import matrix_worker

    status = 1
    try:
        os.setsid()
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        status = matrix_worker.main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 (as a process ends by itself: with the traceback, and 1)
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
