"""Adapter for sweeps of shared libraries: ``adapter.py LIBRARY SYMBOLS ABI [trait=value ...]``.

It answers shards: the private operation ``W``, whose payload and response are those of ``request.py`` and
:func:`respond`; only ``sweep/in_process.py`` asks it. As in ``shared_library.py``, there are two processes: this one
speaks the protocol and never runs foreign code; its child, forked once the core is loaded, loads the library and runs
the loops. Counter, sums and kinds are in shared memory: when the child dies, or hangs and is killed, this process
knows the string that caused it, and the next child continues after that string.

A decoder that crashes on string after string is asked a few of them. Then this process tries the end and the middle
of a block. If these crash too, it skips the rest of the block, and counts it as not asked, never as crashed.
A source whose strings have no order chooses itself which ones to skip.

A :class:`Source` provides the strings and the loop that asks them: here the grids of a plan; another adapter that
calls :func:`main` may have its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[3])) not in sys.path:
        sys.path.insert(0, _root)

import contextlib
import ctypes
import errno
import gc
import heapq
import json
import marshal
import mmap
import os
import select
import signal
import time
import zlib
from functools import lru_cache
from io import FileIO
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from overlong.conformance.oracle.expectation import ExpectedAnswers, expectation
from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    CRASHED,
    FAULTS,
    LEFT_OUT,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
)
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import DECODE, NOT_SAID, VALIDATE, Greeting
from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.giants.loop import GiantLoop
from overlong.conformance.sweep.giants.memory import why_none
from overlong.conformance.sweep.grid import Grid
from overlong.conformance.sweep.plan import LARGEST_SHARD, plan_named
from overlong.conformance.sweep.request import AT_WORK, HEAD_OF_RESULT, SWEEP, Question, WantedSweep
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.adapters.native import Library, address_of
from overlong.conformance.targets.adapters.python import HEAD, answer_frames, fail, pieces, write_all
from overlong.conformance.targets.adapters.shared_library import Child, Named, die
from overlong.conformance.vectors.profile import Profile
from overlong.reference.core import NoCore, core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

IN_A_ROW = 32
"""Adjacent strings that crash before the rest of a block is skipped."""
BLOCK = 256
"""Strings in the first block; if the next block crashes at once, it grows by the same factor."""
HANGS = 3
"""Calls without return before the rest of a shard is skipped, and before the time limit falls for good."""
_BRIEF = 1.0
"""The seconds of the time limit after that, if it was longer: a string takes microseconds, a new process some more."""
_VAIN = 32  # deaths in a row without a culprit, or with a different one each time
_LOOK = 0.05  # seconds after which a silent child is checked
_SOON = 0.0005  # seconds that a process takes to end after its last word
_PART = 1 << 20  # octets
_STALL = 4 * _LOOK  # seconds between two checks that count: after more, the machine stood still, and the child with it
_BEAT = 1.0  # seconds between signs of life
_LOADS = 60.0  # seconds to load a library
_EACH_SECOND = 1 << 26  # letters of giant strings that a call may take a second longer for
_MESSAGE = 1 << 12  # octets; a pipe takes so many at once
_READY = b"."
_OF_ANSWERS = {ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED, OTHER_OFFSET, BROKEN}
_SET_PDEATHSIG = 1  # linux/prctl.h


class StringSource(Protocol):
    """Strings by their numbers."""

    def string(self, index: int, /) -> bytes: ...


class Asks(Protocol):
    """A loop that asks functions: see ``sweep/compiled/__init__.py``."""

    def run(self, strings: Any, until: int, progress: Progress, kinds: memoryview, origin: int, /) -> None: ...


class Source(Protocol):
    """The source of a request's strings, and the loop that asks them."""

    def strings(self, question: Question) -> StringSource:
        """The strings of a question; equal questions give the same object, so that a loop recognises it.

        Raises:
            ValueError, Impossible: there is no plan or grid of that name.
        """
        ...

    def sparing(self, question: Question, first: int, end: int) -> Callable[[int, int], Sequence[int]] | None:
        """A function that chooses the strings to skip in a shard from ``first`` up to, but not including, ``end``.

        For each unanswered string, in order, and its kind, the function returns later numbers, ascending. None if
        similar strings are adjacent.
        """
        ...

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        """The loop that asks the functions at these addresses such strings."""
        ...


class Grids:
    """The strings of a plan's grids."""

    def strings(self, question: Question) -> StringSource:
        return plan_named(question.plan, Profile(question.speaks)).grids[question.grid]

    def sparing(self, question: Question, first: int, end: int) -> None:
        """None: similar strings are adjacent in grids."""

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        return Loops(abi, addresses, expected, layout)


class Loops:
    """The loop that a grid needs."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> None:
        from overlong.conformance.sweep.compiled.loop import GridLoop

        self._of_strings, self._of_giants = (
            GridLoop(abi, addresses, expected, layout),
            GiantLoop(abi, addresses, expected),
        )

    def run(self, strings: Grid, until: int, progress: Progress, kinds: memoryview, origin: int, /) -> None:
        loop = self._of_giants if strings.between else self._of_strings
        loop.run(strings, until, progress, kinds, origin)


class ChildEnded(NamedTuple):
    """The reason why there is no answer."""

    kind: int
    """:data:`CRASHED` or :data:`TIMED_OUT`."""
    text: str


class Impossible(Exception):
    """The shard cannot be asked; the message gives the reason."""


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


class Caller:
    """The child that runs foreign code, seen from this process; a new one replaces a dead one."""

    def __init__(self, named: Named, greeting: Greeting, sight: Sight, source: Source) -> None:
        self.shared, self.source = Shared(), source
        self._named, self._greeting, self._sight = named, greeting, sight
        self._abi = ABIS[named.abi]
        self._is_prepared = False
        self._hangs = 0  # in all shards
        self._child = 0
        self._asks = self._answered = -1

    def expectation(self, question: Question) -> ExpectedAnswers:
        """Raises: TargetError: there is nothing to ask."""
        return expectation(Profile(question.speaks), self._greeting, question.operation)

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

    def run(self, question: Question, until: int, origin: int, timeout: float) -> ChildEnded | None:
        """Ask the strings from the current progress up to ``until``; None if all were asked."""
        return self._run((*question, until, origin, False), self.shared.progress, until, timeout)

    def try_one(self, question: Question, index: int, timeout: float) -> ChildEnded | None:
        """Ask one string without counting the answer; None if there is an answer."""
        trial = self.shared.trial
        trial.begin(index)
        ended = self._run((*question, index + 1, index, True), trial, index + 1, timeout)
        return ended if trial.index == index else None

    def witness(self, operation: str, items: Sequence[bytes], *, single: bool, limit: float | None) -> bytes | int:
        """The answer of ``shared_library.py`` in a process of its own; or the exit status of that process.

        ``limit``: seconds after which it is killed; None for none.
        """
        answered, answers = os.pipe()
        child = self._sight.fork(
            lambda: _write(answers, _child(self._named).answer(operation, items, None, single=single))
        )
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
            if (limit is not None and time.monotonic() > deadline) or not self._sight.beat():
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

    def _run(self, message: tuple[Any, ...], progress: Progress, until: int, timeout: float) -> ChildEnded | None:
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

    def _wait(self, progress: Progress, until: int, timeout: float) -> ChildEnded | None:
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
                return None if progress.reached == until else ChildEnded(CRASHED, how(status))
            now = time.monotonic()
            idle, looked = idle + min(now - looked, _STALL), now
            if (where := (progress.index, progress.earlier, progress.reached)) != seen:
                seen, idle = where, 0.0
            elif idle > timeout:
                self.end()
                return (
                    None if progress.reached == until else ChildEnded(TIMED_OUT, f"gave no answer within {timeout:g} s")
                )
            if not self._sight.beat():
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

    def _start(self) -> None:
        """Start a new child, ready to be asked.

        Raises:
            Impossible: no child gets ready.
        """
        (asked, self._asks), (self._answered, answers) = os.pipe(), os.pipe()
        self._child = self._sight.fork(lambda: self._serve(asked, answers))
        os.close(asked)
        os.close(answers)
        deadline = time.monotonic() + _LOADS
        poll = select.poll()
        poll.register(self._answered, select.POLLIN)
        while not poll.poll(_LOOK * 1000):
            if not self._sight.beat():
                self.end()
                os._exit(0)
            if time.monotonic() > deadline:
                self.end()
                raise Impossible(f"the library is not loaded within {_LOADS:g} s")
        if os.read(self._answered, len(_READY)) != _READY:
            raise Impossible(f"where the library is loaded it {how(self._buried())}")

    def _serve(self, asked: int, answers: int) -> None:
        """The child's main function."""
        os.close(self._asks)
        os.close(self._answered)
        shared, abi = self.shared, self._abi
        shared.keep_from_forks()
        addresses = _addresses(self._named)

        @lru_cache
        def loop(speaks: str, operation: str) -> Asks:
            profile = Profile(speaks)
            expected = expectation(profile, self._greeting, operation)
            return self.source.loop(abi, addresses, expected, profile.dialect.layout)

        os.write(answers, _READY)
        while message := os.read(asked, _MESSAGE):
            *words, until, origin, trial = marshal.loads(message)  # noqa: S302 (of the process that forked this one)
            question = Question(*words)
            progress, kinds = (shared.trial, shared.kind_of_trial) if trial else (shared.progress, shared.kinds)
            strings = self.source.strings(question)
            loop(question.speaks, question.operation).run(strings, until, progress, kinds, origin)
            os.write(answers, _READY)


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
        library = Library(named.library)
        return tuple(address_of(library.function(symbol, abi.parameters, abi.result)) for symbol in named.symbols)
    except (OSError, UnicodeError) as error:
        fail(f"it cannot be loaded: {error if isinstance(error, OSError) else 'the loader refuses it'}")
    except LookupError as error:
        fail(f"{named.library} has no function {error.args[0]}")


class Course:
    """Runs a shard from its first string to its last, whatever the decoder does."""

    def __init__(self, wanted: WantedSweep, caller: Caller) -> None:
        """Raises: TargetError: there is nothing to ask. Impossible: it does not fit into the shared memory."""
        if wanted.count > LARGEST_SHARD:
            raise Impossible(f"a shard has {LARGEST_SHARD} strings at most, and this one {wanted.count}")
        self._wanted, self._caller, self._question = wanted, caller, wanted.question
        self._strings = caller.source.strings(self._question)
        self._between = self._strings.between if isinstance(self._strings, Grid) else 0
        if self._between and (reason := why_none()):
            raise Impossible(reason)
        self._timeout = wanted.timeout + self._between // _EACH_SECOND
        self._automaton = caller.expectation(self._question).automaton
        self._progress, self._kinds = caller.shared.progress, caller.shared.kinds
        self._end = wanted.first + wanted.count
        self._faults: dict[int, list[tuple[int, str]]] = {CRASHED: [], TIMED_OUT: []}
        self._last, self._row, self._block = -2, 0, BLOCK  # the last culprit, and the strings answered before it
        self._deaths = self._hangs = 0
        self._sparing = caller.source.sparing(self._question, wanted.first, self._end)
        self._spared: list[int] = []  # a heap of strings to skip

    def run(self) -> tuple[dict[str, Any], bytes]:
        """The fields of a :class:`~overlong.conformance.results.shard.ShardResult` without its kinds, and the kinds.

        Raises:
            Impossible: it cannot be asked.
        """
        started, progress = time.monotonic(), self._progress
        try:
            self._ask_all()
            kinds = self._caller.shared.diverging(self._wanted.count)
        finally:
            self._caller.shared.wipe(self._wanted.count)
        fields = {
            "strings": progress.strings,
            "octets": progress.octets,
            "well_formed": progress.well_formed,
            "accepted": progress.accepted,
            "checksum": progress.checksum,
            "faults": self._told(kinds),
            "seconds": time.monotonic() - started,
            "deaths": self._deaths,
            "left_out": kinds.count(LEFT_OUT),
        }
        return fields, zlib.compress(kinds, 1) if kinds else b""

    def _ask_all(self) -> None:
        progress = self._progress
        progress.begin(self._wanted.first)
        culprit, why, vain = -1, ChildEnded(CRASHED, ""), 0
        while (reached := progress.reached) < self._end:
            if reached == culprit:  # the sums include all strings before it
                self._died_of(culprit, why)
                culprit, vain = -1, 0
                continue
            if culprit < 0 and self._spared and self._spared[0] <= reached:
                self._leave_out(heapq.heappop(self._spared) + 1)
                continue
            ended = self._run(culprit if culprit >= 0 else self._spared[0] if self._spared else self._end)
            if ended is None:
                continue
            vain = vain + 1 if progress.reached == reached else 0
            if vain > _VAIN:
                raise Impossible(f"it {ended.text} again and again, and never of the same string")
            if progress.index >= progress.reached:  # otherwise it was between two calls
                culprit, why = progress.index, ended
                if progress.earlier:
                    why = why._replace(text=f"{why.text}, at the string that is tested before it")

    def _run(self, until: int) -> ChildEnded | None:
        return self._caller.run(self._question, until, self._wanted.first, self._timeout)

    def _died_of(self, index: int, why: ChildEnded) -> None:
        """Pass over a string that crashed, and over later ones if there were too many crashes."""
        self._pass(index, why)
        if self._sparing is not None:
            for number in self._sparing(index, why.kind):
                heapq.heappush(self._spared, number)
            return
        if why.kind == CRASHED:
            self._go_on_behind(index)
        if self._hangs >= HANGS:
            self._leave_out(self._end)

    def _go_on_behind(self, index: int) -> None:
        if index == self._last + 1:
            self._row += 1
        else:
            self._row, self._block = 1, BLOCK
        self._last = index
        over = self._deaths - self._wanted.restarts
        if over >= 0:
            self._try_block(index, BLOCK ** (1 + over // IN_A_ROW), at_any_rate=True)
        elif self._row >= IN_A_ROW:
            while self._block >= BLOCK and not self._try_block(index, self._block, at_any_rate=False):
                self._block //= BLOCK
            if self._block < BLOCK:  # it does not crash on all of even the smallest block
                self._row = 0
            self._block *= BLOCK

    def _try_block(self, index: int, size: int, *, at_any_rate: bool) -> bool:
        """Skip the rest of a block if its last and its middle string crash as well.

        Returns True if it skipped them, or there is no rest. ``at_any_rate``: skip whatever the last string does; if
        that string does not crash, the shard continues with it.
        """
        last = min((index // size + 1) * size, self._end) - 1
        if last <= index:
            return True
        tried = dict[int, ChildEnded]()
        for each in (last,) if at_any_rate else sorted({(index + 1 + last) // 2, last}):
            ended = self._caller.try_one(self._question, each, self._timeout)
            if ended is not None:
                tried[each] = ended
            elif not at_any_rate:
                return False
        for each, ended in tried.items():
            self._leave_out(each)
            self._pass(each, ended)
            self._last = each
        self._leave_out(last)
        return True

    def _pass(self, index: int, why: ChildEnded) -> None:
        octets = self._strings.string(index)
        self._progress.passed(len(octets) + self._between, well_formed=self._automaton.accepts(octets))
        self._kinds[index - self._wanted.first] = why.kind
        self._faults[why.kind].append((index, why.text))
        self._deaths += 1
        self._hangs += why.kind == TIMED_OUT

    def _leave_out(self, until: int) -> None:
        """Skip all strings before that one, if there are any."""
        count, start = until - self._progress.reached, self._progress.reached - self._wanted.first
        if count > 0:
            self._kinds[start : start + count] = bytes((LEFT_OUT,)) * count
            self._progress.left_out(count)

    def _told(self, kinds: bytes) -> list[tuple[int, int, str]]:
        """The first few faults of each kind, in order."""
        told = [(index, kind, text) for kind, faults in self._faults.items() for index, text in faults[:FAULTS]]
        if self._between:  # it is a shard of its own
            told += [(self._wanted.first, kind, self._giant_answer(kind)) for kind in kinds if kind in _OF_ANSWERS]
            return sorted(told)
        place = -1
        for _ in range(FAULTS):
            place = kinds.find(BROKEN, place + 1)
            if place < 0:
                break
            index = self._wanted.first + place
            told.append((index, BROKEN, self._what_is_wrong(self._strings.string(index))))
        return sorted(told)

    def _giant_answer(self, kind: int) -> str:
        """What a function said of a giant string, for ``giants/told.py``: the offset of a refusal, if it said one."""
        if kind == BROKEN:
            return "it reports a place that the string does not have"
        return "" if kind == ACCEPTED_ILL_FORMED or self._progress.number == NOT_SAID else str(self._progress.number)

    def _what_is_wrong(self, octets: bytes) -> str:
        """The way in which an answer breaks the convention, in words."""
        said = self._caller.witness(self._question.operation, [octets], single=True, limit=self._timeout)
        if isinstance(said, bytes) and said[:1] == b"X":
            return said[1:].decode("ascii", "backslashreplace")
        return "it did so once, and not when it was tested again"


def how(status: int) -> str:
    """The end of a process in words, from the status of :func:`os.waitpid`."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exited with status {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


class Sight:
    """The harness, seen from this process, which reports to it now and then that the answer is not ready yet."""

    def __init__(self, answers: FileIO) -> None:
        self.waits = False
        """For the result of a shard."""
        self._answers, self._told = answers, 0.0
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def beat(self) -> bool:
        """True if the harness is there and still waits for its shard.

        The harness cancels a shard by sending anything, or by closing its output.
        """
        if not self.waits:
            return True
        now = time.monotonic()
        if now - self._told > _BEAT:
            self._told = now
            try:
                write_all(self._answers, [HEAD.pack(5, 0), AT_WORK])
            except BrokenPipeError:
                return False
        return not self._poll.poll(0)

    def fork(self, live: Callable[[], object]) -> int:
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


def respond(caller: Caller, payload: bytes) -> Sequence[bytes]:
    """The response to :data:`SWEEP`: a result, or the reason for none."""
    try:
        wanted = WantedSweep(**json.loads(payload))
        course = Course(wanted, caller)
        caller.prepare()
        fields, kinds = course.run()
    except (Impossible, NoCore, TargetError, ValueError) as error:
        return [b"X", str(error).encode("ascii", "backslashreplace")]
    said = json.dumps(fields).encode()
    return [b"A", HEAD_OF_RESULT.pack(len(said)), said, kinds]


def main(source: Source | None = None) -> None:
    """Greet, then answer until the input ends. ``source``: the source of strings; None: grids."""
    import resource

    named = Named.of(sys.argv[1:])
    if named.python is not None:
        fail("a function of Python is between; the core calls the library alone")
    answers = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the library must not look like answers
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process that forks should have no threads
    abi = ABIS[named.abi]
    operation = DECODE if abi.units else VALIDATE
    greeting = {
        "overlong": 1,
        "name": f"{Path(named.library).name}:{','.join(named.symbols)}".encode("utf-8", "backslashreplace").decode(),
        "version": "",
        "language": "C",
        "operations": f"PB{operation}",
        "units": abi.units or "utf-32",
        **({"nul": "ends the string"} if abi.terminated else {}),
        **named.traits,
    }
    sight = Sight(answers)
    caller = Caller(named, Greeting.parse(json.dumps(greeting).encode()), sight, source or Grids())
    loaded = caller.witness(operation, [], single=False, limit=None)
    if isinstance(loaded, int):
        die(loaded)

    def answer(asked: str, payload: bytes, batched: bool) -> Sequence[bytes]:  # noqa: FBT001
        if asked == SWEEP:
            sight.waits = True
            response = respond(caller, payload)
            sight.waits = False
            return response
        items = pieces(payload) if batched else [payload]
        said = caller.witness(asked, items, single=not batched, limit=None)
        if isinstance(said, int):
            die(said)
        return [b"A", said] if batched else [said]

    answer_frames(greeting, f"{operation}{SWEEP}", answer, answers)
    caller.end()
    os._exit(0)


if __name__ == "__main__":
    main()
