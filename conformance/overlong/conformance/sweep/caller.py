"""The child of the adapter for sweeps, seen from the adapter: it asks, waits, and starts a new one."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import marshal
import mmap
import os
import select
import signal
import sys
import time
from dataclasses import astuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import CRASHED, TIMED_OUT, ExpectedAnswers, Fault, TargetError, expectation
from overlong.conformance.sweep.plan import LARGEST_SHARD, plan_named
from overlong.conformance.sweep.request import AT_WORK, PROGRESS_OCTETS, Progress, WantedSweep
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.adapters.child import Child, Named
from overlong.conformance.targets.adapters.native import address_of, function_in
from overlong.conformance.targets.adapters.serving import HEAD, fail, write_all
from overlong.conformance.targets.process import ended_how
from overlong.conformance.vectors.vector import Profile
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.sweep.compiled import Asking
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout


if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

HANGS = 3
"""Calls without return before the rest of a shard is skipped, and before the time limit falls for good."""
_BRIEF = 1.0
"""The seconds of the time limit after that, if it was longer: a string takes microseconds, a new process some more."""
_LOOK = 0.05  # seconds after which a silent child is checked
_SOON = 0.0005  # seconds that a process takes to end after its last word
_PART = 1 << 20  # octets
_STALL = 4 * _LOOK  # seconds between two checks that count: after more, the machine stood still, and the child with it
_BEAT = 1.0  # seconds between signs of life
_LOADS = 60.0  # seconds to load a library
_MESSAGE = 1 << 12  # octets; a pipe takes so many at once
_READY = b"."
_SET_PDEATHSIG = 1  # linux/prctl.h


class Shared:
    """Memory that this process shares with its child."""

    def __init__(self) -> None:
        self._memories = [mmap.mmap(-1, size) for size in (LARGEST_SHARD, 1, PROGRESS_OCTETS, PROGRESS_OCTETS)]
        self.kinds, self.kind_of_trial, progress, trial = [memoryview(each) for each in self._memories]
        self.progress, self.trial = Progress(progress), Progress(trial)

    def diverging(self, count: int) -> bytes:
        """The first kinds; empty if all of them are 0, the usual case, which should cost nothing."""
        return bytes(self.kinds[:count]) if self._words(count).any() else b""

    def wipe(self, count: int) -> None:
        """Reset the first kinds to 0; write only if some are not 0."""
        words = self._words(count)
        if words.any():
            words[:] = 0

    def _words(self, count: int) -> Any:
        import numpy as np

        return np.frombuffer(self.kinds, np.uint64, -(-count // 8))

    def keep_from_forks(self) -> None:
        """Kill a fork by the function under test that returns to the loop: it too would write to this memory."""
        if hasattr(mmap, "MADV_DONTFORK"):
            for memory in self._memories:
                memory.madvise(mmap.MADV_DONTFORK)


class Source:
    """The source of a request's strings, and the loop that asks them: a plan's grids. A subclass may have others."""

    def strings(self, wanted: WantedSweep) -> Any:
        """The strings of a request, each with a number: they have a ``size``, and ``string(index)``.

        It is the same object for the same strings, so that a loop recognises it.

        Raises:
            ValueError, TargetError: there is no plan or grid of that name.
        """
        return plan_named(wanted.plan, Profile(wanted.speaks)).grids[wanted.grid]

    def sparing(self, wanted: WantedSweep) -> Callable[[int, int], Sequence[int]] | None:  # noqa: ARG002
        """A function that chooses the strings of a shard to skip.

        For each unanswered string, in order, and its kind, the function returns later numbers, ascending. None if
        similar strings are adjacent, as in grids.
        """
        return None

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asking:
        """The loop that asks the functions at these addresses such strings."""
        from overlong.conformance.sweep.compiled import GridLoop

        return GridLoop(abi, addresses, expected, layout)


class Caller:
    """The child that runs foreign code, seen from this process; a new one replaces a dead one.

    While the harness waits for a shard, it is told now and then that the answer is not ready yet.
    """

    def __init__(self, named: Named, greeting: Greeting, answers: FileIO, source: Source) -> None:
        self.shared, self.source = Shared(), source
        self.is_awaited = False
        """The harness waits for the result of a shard."""
        self._named, self._greeting = named, greeting
        self._answers, self._told = answers, 0.0
        self._harness = select.poll()
        self._harness.register(0, select.POLLIN)
        self._abi = ABIS[named.abi]
        self._is_prepared = False
        self._hangs = 0  # in all shards
        self._child = 0
        self._asks = self._answered = -1

    def expectation(self, wanted: WantedSweep) -> ExpectedAnswers:
        """Raises: TargetError: there is nothing to ask."""
        return expectation(Profile(wanted.speaks), self._greeting, wanted.operation)

    def prepare(self) -> None:
        """Load the core before any fork, so that every child has it.

        Raises:
            NoCore: there is none.
        """
        if not self._is_prepared:
            core()
            gc.collect()
            gc.freeze()  # a child that does not collect garbage copies fewer pages
            self._is_prepared = True

    def run(self, wanted: WantedSweep, until: int, timeout: float) -> Fault | None:
        """Ask the strings from the current progress up to ``until``; None if all were asked."""
        return self._run((astuple(wanted), until, wanted.first, False), self.shared.progress, until, timeout)

    def try_one(self, wanted: WantedSweep, index: int, timeout: float) -> Fault | None:
        """Ask one string without counting the answer; None if there is an answer."""
        trial = self.shared.trial
        trial.begin(index)
        ended = self._run((astuple(wanted), index + 1, index, True), trial, index + 1, timeout)
        return ended if trial.index == index else None

    def witness(self, operation: str, items: Sequence[bytes], *, single: bool, limit: float | None) -> bytes | int:
        """The answer of ``shared_library.py`` in a process of its own; or the exit status of that process.

        ``limit``: seconds after which it is killed; None for none.
        """
        answered, answers = os.pipe()
        child = self._fork(lambda: _write(answers, _child(self._named).answer(operation, items, None, single=single)))
        os.close(answers)
        poll, parts, deadline = select.poll(), list[bytes](), time.monotonic() + (limit or 0)
        poll.register(answered, select.POLLIN)
        ended, status, is_open = 0, 0, True
        while not ended:
            if not is_open:
                time.sleep(_SOON)
            elif poll.poll(_LOOK * 1000):
                parts.append(os.read(answered, _PART))
                is_open = bool(parts[-1])
                continue
            if (limit is not None and time.monotonic() > deadline) or not self._is_wanted():
                _kill_group(child)
            ended, status = os.waitpid(child, os.WNOHANG)
        _kill_group(child)  # and its own forks
        while poll.poll(0) and (part := os.read(answered, _PART)):
            parts.append(part)
        os.close(answered)
        return status or b"".join(parts)

    def end(self) -> int:
        """End the child, if there is one, and return its status."""
        if not self._child:
            return 0
        _kill_group(self._child)
        return self._buried()

    def _run(self, message: tuple[Any, ...], progress: Progress, until: int, timeout: float) -> Fault | None:
        if not self._child:
            self._start()
        try:
            os.write(self._asks, marshal.dumps(message))
        except OSError:  # it closed its pipe earlier: no string caused that
            self.end()
            self._start()
            os.write(self._asks, marshal.dumps(message))
        ended = self._wait(progress, until, min(timeout, _BRIEF) if self._hangs >= HANGS else timeout)
        self._hangs += ended is not None and ended.kind == TIMED_OUT
        return ended

    def _wait(self, progress: Progress, until: int, timeout: float) -> Fault | None:
        """Watch the child until it reaches a goal, ends, or makes no progress for too long."""
        poll = select.poll()
        poll.register(self._answered, select.POLLIN)
        seen, idle, looked, is_open = (-2, False, -2), 0.0, time.monotonic(), True
        while True:
            if not is_open:  # the child has ended, or the function has closed a foreign descriptor
                time.sleep(_SOON)
            elif poll.poll(_LOOK * 1000):
                said = os.read(self._answered, _MESSAGE)
                if said and progress.reached == until:
                    return None
                is_open = bool(said)
            ended, status = os.waitpid(self._child, os.WNOHANG)  # its children may keep its pipe open
            if ended:
                _kill_group(self._child)  # and its own forks
                self._child = 0
                self._close()
                code = os.waitstatus_to_exitcode(status)
                return None if progress.reached == until else Fault(progress.index, CRASHED, ended_how(code))
            now = time.monotonic()
            idle, looked = idle + min(now - looked, _STALL), now
            if (where := (progress.index, progress.earlier, progress.reached)) != seen:
                seen, idle = where, 0.0
            elif idle > timeout:
                self.end()
                if progress.reached == until:
                    return None
                return Fault(progress.index, TIMED_OUT, f"gave no answer within {timeout:g} s")
            if not self._is_wanted():
                self.end()
                os._exit(0)

    def _buried(self) -> int:
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        self._close()
        return status

    def _close(self) -> None:
        os.close(self._asks)
        os.close(self._answered)

    def _is_wanted(self) -> bool:
        """True if the harness is there and still waits for its shard.

        The harness cancels a shard by sending anything, or by closing its output.
        """
        if not self.is_awaited:
            return True
        now = time.monotonic()
        if now - self._told > _BEAT:
            self._told = now
            try:
                write_all(self._answers, [HEAD.pack(5, 0), AT_WORK])
            except BrokenPipeError:
                return False
        return not self._harness.poll(0)

    def _start(self) -> None:
        """Start a new child, ready to be asked.

        Raises:
            TargetError: no child gets ready.
        """
        (asked, self._asks), (self._answered, answers) = os.pipe(), os.pipe()
        self._child = self._fork(lambda: self._serve(asked, answers))
        os.close(asked)
        os.close(answers)
        deadline = time.monotonic() + _LOADS
        poll = select.poll()
        poll.register(self._answered, select.POLLIN)
        while not poll.poll(_LOOK * 1000):
            if not self._is_wanted():
                self.end()
                os._exit(0)
            if time.monotonic() > deadline:
                self.end()
                raise TargetError(f"the library is not loaded within {_LOADS:g} s")
        if os.read(self._answered, len(_READY)) != _READY:
            raise TargetError(f"where the library is loaded it {ended_how(os.waitstatus_to_exitcode(self._buried()))}")

    def _serve(self, asked: int, answers: int) -> None:
        """The child's main function."""
        os.close(self._asks)
        os.close(self._answered)
        shared, abi = self.shared, self._abi
        shared.keep_from_forks()
        addresses = _addresses(self._named)

        @lru_cache
        def loop(speaks: str, operation: str) -> Asking:
            profile = Profile(speaks)
            expected = expectation(profile, self._greeting, operation)
            return self.source.loop(abi, addresses, expected, profile.dialect.layout)

        os.write(answers, _READY)
        while message := os.read(asked, _MESSAGE):
            words, until, origin, trial = marshal.loads(message)  # noqa: S302 (of the process that forked this one)
            wanted = WantedSweep(*words)
            progress, kinds = (shared.trial, shared.kind_of_trial) if trial else (shared.progress, shared.kinds)
            strings = self.source.strings(wanted)
            loop(wanted.speaks, wanted.operation).run(strings, until, progress, kinds, origin)
            os.write(answers, _READY)

    def _fork(self, live: Callable[[], object]) -> int:
        """Fork a child that does some work without access to the harness and ends; return its process number."""
        parent = os.getpid()
        child = os.fork()
        if child:
            with contextlib.suppress(OSError):  # it has ended
                os.setpgid(child, child)
            return child
        try:
            os.setpgid(0, 0)  # signals to its own process group do not reach this process
            gc.disable()
            os.close(self._answers.fileno())
            _end_with(parent)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            live()
        except BrokenPipeError:  # no reader is left
            os._exit(0)
        except OSError as error:
            was_closed = error.errno == errno.EBADF
            fail("it closed descriptors that it had not opened" if was_closed else f"internal error: {error}")
        except BaseException as error:  # noqa: BLE001 (above this frame is the life of another process)
            fail(f"internal error: {type(error).__name__}: {error}")
        os._exit(0)


def _kill_group(child: int) -> None:
    """Kill a child and its children, unless they left its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _end_with(parent: int) -> None:
    """Die with the parent: on Linux at once, elsewhere a little later, when a pipe ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def _child(named: Named) -> Child:
    """The child of ``shared_library.py``, in this process; if it cannot load the library, it says why and exits."""
    steps = memoryview(bytearray(64)).cast("Q")
    return Child(named, steps, mmap.mmap(-1, mmap.PAGESIZE))


def _write(pipe: int, octets: bytes) -> None:
    view = memoryview(octets)
    while view:
        view = view[os.write(pipe, view) :]


def _addresses(named: Named) -> tuple[int, ...]:
    """The addresses of the functions; without them, this process gives the reason and exits with status 3."""
    abi = ABIS[named.abi]
    try:
        library = ctypes.CDLL(named.library)
        return tuple(address_of(function_in(library, symbol, abi.parameters, abi.result)) for symbol in named.symbols)
    except (OSError, UnicodeError) as error:
        fail(f"it cannot be loaded: {error if isinstance(error, OSError) else 'the loader refuses it'}")
    except LookupError as error:
        fail(f"{named.library} has no function {error.args[0]}")
