"""Adapter for sweeps of shared libraries: ``adapter.py LIBRARY SYMBOLS ABI [trait=value ...]``.

It answers shards: the private operation ``W``, whose payload and response are those of ``request.py`` and
:func:`respond`; only ``sweep/in_process.py`` asks it. Two processes, as in ``shared_library.py``: this one speaks
the protocol and never runs foreign code; a child of it, forked when the loops are compiled, loads the library and runs
them. Counter, sums and kinds lie in memory that both see: when the child dies, or hangs and is killed, this process
knows of what, and the next child goes on behind it.

A decoder that dies of string after string is asked a few of them. Then the end and the middle of a block are tried,
and if it dies of them too, the others of the block are left out: counted as not asked, and never as crashed.
A source whose strings are in no order says itself which ones are left out.

Where the strings come from, and the loop that asks them, is a :class:`Source`: here it is the grids of a plan, and
another adapter that calls :func:`main` may have one of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # wherever this package lies, it must be found
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
from overlong.conformance.oracle.kinds import BROKEN, CRASHED, FAULTS, LEFT_OUT, TIMED_OUT
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import DECODE, VALIDATE, Greeting
from overlong.conformance.sweep.compiled.progress import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.plan import LARGEST_SHARD, plan_named
from overlong.conformance.sweep.request import AT_WORK, HEAD_OF_RESULT, SWEEP, Question, WantedSweep
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.adapters.native import Library, address_of
from overlong.conformance.targets.adapters.python import HEAD, answer_frames, fail, pieces, write_all
from overlong.conformance.targets.adapters.shared_library import Child, Named, die
from overlong.conformance.vectors.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout

if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

IN_A_ROW = 32
"""Strings next to each other that it dies of before the rest of a block is left out."""
BLOCK = 256
"""Strings in the first block; the next one, if it dies there at once, is so many times as large."""
HANGS = 3
"""Calls that do not return before the rest of a shard is left out: each costs the limit."""
_VAIN = 32  # deaths in a row that are no string's, or never the same one's
_LOOK = 0.05  # seconds after which a silent child is looked after
_SOON = 0.0005  # seconds in which a process ends that has nothing more to say
_PART = 1 << 20  # octets
_STALL = 4 * _LOOK  # seconds between two looks that count: more is a machine that stood still, and with it the child
_BEAT = 1.0  # seconds between signs of life
_LOADS = 60.0  # seconds that a library may take to be loaded: a Python file compiles its functions then
_MESSAGE = 1 << 12  # octets; no more than a pipe takes at once
_READY = b"."
_SET_PDEATHSIG = 1  # linux/prctl.h


class StringSource(Protocol):
    """Strings by their numbers."""

    def string(self, index: int, /) -> bytes: ...


class Asks(Protocol):
    """A loop that asks functions: ``sweep/compiled/__init__.py`` says how."""

    def run(self, strings: Any, until: int, progress: Progress, kinds: memoryview, origin: int, /) -> None: ...


class Source(Protocol):
    """The source of a request's strings, and the loop that asks them."""

    def strings(self, question: Question) -> StringSource:
        """The question; equal questions give the same object, so that a loop recognises it.

        Raises:
            ValueError, Impossible: there is nothing of that name.
        """
        ...

    def sparing(self, question: Question, first: int, end: int) -> Callable[[int, int], Sequence[int]] | None:
        """What says, of a shard from ``first`` up to before ``end``, which strings are not to be asked any more.

        Told of each that is not answered, in order, and of its kind, it says numbers behind that, ascending. None if
        strings that are alike stand side by side.
        """
        ...

    def compile(self, abi: Abi) -> None:
        """Do the slow preparations, before any fork."""
        ...

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        """The loop that asks such strings of the functions at these addresses."""
        ...


class Grids:
    """The strings of a plan's grids."""

    def strings(self, question: Question) -> StringSource:
        return plan_named(question.plan, Profile(question.speaks)).grids[question.grid]

    def sparing(self, question: Question, first: int, end: int) -> None:
        """They are adjacent."""

    def compile(self, abi: Abi) -> None:
        from overlong.conformance.sweep.compiled.loop import GridLoop

        GridLoop.compile(abi)

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asks:
        from overlong.conformance.sweep.compiled.loop import GridLoop

        return GridLoop(abi, addresses, expected, layout)


class ChildEnded(NamedTuple):
    """Why there is no answer."""

    kind: int
    """:data:`CRASHED` or :data:`TIMED_OUT`."""
    text: str


class Impossible(Exception):
    """The shard cannot be asked; the message says why."""


class Shared:
    """Memory that this process and its child see."""

    def __init__(self) -> None:
        self._memories = [mmap.mmap(-1, size) for size in (LARGEST_SHARD, 1, PROGRESS_OCTETS, PROGRESS_OCTETS)]
        self.kinds, self.kind_of_trial, progress, trial = [memoryview(each) for each in self._memories]
        self.progress, self.trial = Progress(progress), Progress(trial)

    def diverging(self, count: int) -> bytes:
        """So many kinds; nothing if all of them are 0, which is the rule, and should cost nothing."""
        return bytes(self.kinds[:count]) if self._words(count).any() else b""

    def wipe(self, count: int) -> None:
        """Make so many kinds 0, where any is not."""
        words = self._words(count)
        if words.any():
            words[:] = 0

    def _words(self, count: int) -> Any:
        import numpy as np

        return np.frombuffer(self.kinds, np.uint64, -(-count // 8))

    def keep_from_forks(self) -> None:
        """Kill a fork of the function under test that returns to the loop, where it would write to this memory, too."""
        if hasattr(mmap, "MADV_DONTFORK"):
            for memory in self._memories:
                memory.madvise(mmap.MADV_DONTFORK)


class Caller:
    """The child that runs foreign code, as this process sees it; there is a new one when it dies."""

    def __init__(self, named: Named, greeting: Greeting, sight: Sight, source: Source) -> None:
        self.shared, self.source = Shared(), source
        self._named, self._greeting, self._sight = named, greeting, sight
        self._abi = ABIS[named.abi]
        self._is_compiled = False
        self._child = 0
        self._asks = self._answered = -1

    def expectation(self, question: Question) -> ExpectedAnswers:
        """Raises: TargetError: there is nothing to ask."""
        return expectation(Profile(question.speaks), self._greeting, question.operation)

    def compile(self) -> None:
        """Compile the loops before any fork, so that every child has them."""
        if not self._is_compiled:
            self.source.compile(self._abi)
            gc.collect()
            gc.freeze()  # a child that has no garbage to look for copies fewer pages
            self._is_compiled = True

    def run(self, question: Question, until: int, origin: int, timeout: float) -> ChildEnded | None:
        """Ask the strings from the current progress up to ``until``; None if all were asked."""
        return self._run((*question, until, origin, False), self.shared.progress, until, timeout)

    def try_one(self, question: Question, index: int, timeout: float) -> ChildEnded | None:
        """Ask one string, and let the answer count for nothing; None if there is one."""
        trial = self.shared.trial
        trial.begin(index)
        ended = self._run((*question, index + 1, index, True), trial, index + 1, timeout)
        return ended if trial.index == index else None

    def witness(self, operation: str, items: Sequence[bytes], *, single: bool, limit: float | None) -> bytes | int:
        """The answer of ``shared_library.py``, in a process of its own; or the status with which that process ended.

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
        _kill_group(child)  # what it forked
        while poll.poll(0) and (part := os.read(answered, _PART)):
            parts.append(part)
        os.close(answered)
        return status or b"".join(parts)

    def end(self) -> int:
        """End the child, if there is one; its status."""
        if not self._child:
            return 0
        _kill_group(self._child)
        return self._buried()

    def _run(self, message: tuple[Any, ...], progress: Progress, until: int, timeout: float) -> ChildEnded | None:
        if not self._child:
            self._start()
        try:
            os.write(self._asks, marshal.dumps(message))
        except OSError:  # it closed its pipe before: that is no string's fault
            self.end()
            self._start()
            os.write(self._asks, marshal.dumps(message))
        return self._wait(progress, until, timeout)

    def _wait(self, progress: Progress, until: int, timeout: float) -> ChildEnded | None:
        """Look after the child until it has done that, or ended, or has not moved for so long."""
        poll = select.poll()
        poll.register(self._answered, select.POLLIN)
        seen, idle, looked, is_open = (-2, False, -2), 0.0, time.monotonic(), True
        while True:
            if not is_open:  # the child has ended, or the function has closed a descriptor that is not its own
                time.sleep(_SOON)
            elif poll.poll(_LOOK * 1000):
                said = os.read(self._answered, _MESSAGE)
                if said and progress.reached == until:
                    return None
                is_open = bool(said)
            ended, status = os.waitpid(self._child, os.WNOHANG)  # its children may keep its pipe open
            if ended:
                _kill_group(self._child)  # what it forked
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
        """A new child, ready to be asked.

        Raises:
            Impossible: none gets that far.
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
        """The child's life."""
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
    """Die with the parent: on Linux at once, elsewhere when a pipe ends, a little later."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def _child(named: Named) -> Child:
    """The child of ``shared_library.py``, in this process; if it cannot load the library, it says why, and exits."""
    steps = memoryview(bytearray(64)).cast("Q")
    return Child(named, steps, mmap.mmap(-1, mmap.PAGESIZE))


def _write(pipe: int, octets: bytes) -> None:
    view = memoryview(octets)
    while view:
        view = view[os.write(pipe, view) :]


def _addresses(named: Named) -> tuple[int, ...]:
    """The addresses of the functions; if they cannot be had, this process says why, and exits with status 3."""
    abi = ABIS[named.abi]
    try:
        library = Library(named.library)
        return tuple(address_of(library.function(symbol, abi.parameters, abi.result)) for symbol in named.symbols)
    except (OSError, UnicodeError) as error:
        fail(f"it cannot be loaded: {error if isinstance(error, OSError) else 'the loader refuses it'}")
    except LookupError as error:
        fail(f"{named.library} has no function {error.args[0]}")


class Course:
    """A shard, from its first string to its last, whatever the decoder does."""

    def __init__(self, wanted: WantedSweep, caller: Caller) -> None:
        """Raises: TargetError: there is nothing to ask. Impossible: it does not fit into the shared memory."""
        if wanted.count > LARGEST_SHARD:
            raise Impossible(f"a shard has {LARGEST_SHARD} strings at most, and this one {wanted.count}")
        self._wanted, self._caller, self._question = wanted, caller, wanted.question
        self._strings = caller.source.strings(self._question)
        self._automaton = caller.expectation(self._question).automaton
        self._progress, self._kinds = caller.shared.progress, caller.shared.kinds
        self._end = wanted.first + wanted.count
        self._faults: dict[int, list[tuple[int, str]]] = {CRASHED: [], TIMED_OUT: []}
        self._last, self._row, self._block = -2, 0, BLOCK  # what killed it last, and how many strings it had answered
        self._deaths = self._hangs = 0
        self._sparing = caller.source.sparing(self._question, wanted.first, self._end)
        self._spared: list[int] = []  # a heap of strings that are not to be asked

    def run(self) -> tuple[dict[str, Any], bytes]:
        """The fields of a :class:`~overlong.conformance.results.shard.ShardResult` but for its kinds, and those.

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
            if reached == culprit:  # all before it is in the sums
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
            if progress.index >= progress.reached:  # else it was between two calls
                culprit, why = progress.index, ended
                if progress.earlier:
                    why = why._replace(text=f"{why.text}, at the string that is asked before it")

    def _run(self, until: int) -> ChildEnded | None:
        return self._caller.run(self._question, until, self._wanted.first, self._wanted.timeout)

    def _died_of(self, index: int, why: ChildEnded) -> None:
        """Go past a string, and past others behind it if it is one too many."""
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
            if self._block < BLOCK:  # it does not die of all of even the smallest
                self._row = 0
            self._block *= BLOCK

    def _try_block(self, index: int, size: int, *, at_any_rate: bool) -> bool:
        """Leave out the rest of a block, if it dies of the last string, and the one in the middle, as well.

        Whether it did, or there is no rest. ``at_any_rate``: what the last one comes to is only noted; if it does not
        die of that, it goes on there.
        """
        last = min((index // size + 1) * size, self._end) - 1
        if last <= index:
            return True
        tried = dict[int, ChildEnded]()
        for each in (last,) if at_any_rate else sorted({(index + 1 + last) // 2, last}):
            ended = self._caller.try_one(self._question, each, self._wanted.timeout)
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
        self._progress.passed(len(octets), well_formed=self._automaton.accepts(octets))
        self._kinds[index - self._wanted.first] = why.kind
        self._faults[why.kind].append((index, why.text))
        self._deaths += 1
        self._hangs += why.kind == TIMED_OUT

    def _leave_out(self, until: int) -> None:
        """All strings up to that one, if there are any."""
        count, start = until - self._progress.reached, self._progress.reached - self._wanted.first
        if count > 0:
            self._kinds[start : start + count] = bytes((LEFT_OUT,)) * count
            self._progress.left_out(count)

    def _told(self, kinds: bytes) -> list[tuple[int, int, str]]:
        """The first few faults of each kind, in order."""
        told = [(index, kind, text) for kind, faults in self._faults.items() for index, text in faults[:FAULTS]]
        place = -1
        for _ in range(FAULTS):
            place = kinds.find(BROKEN, place + 1)
            if place < 0:
                break
            index = self._wanted.first + place
            told.append((index, BROKEN, self._what_is_wrong(self._strings.string(index))))
        return sorted(told)

    def _what_is_wrong(self, octets: bytes) -> str:
        """How an answer breaks the convention, in words."""
        said = self._caller.witness(self._question.operation, [octets], single=True, limit=self._wanted.timeout)
        if isinstance(said, bytes) and said[:1] == b"X":
            return said[1:].decode("ascii", "backslashreplace")
        return "it did so once, and not when it was asked again"


def how(status: int) -> str:
    """How a process ended, from the status of :func:`os.waitpid`."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exited with status {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


class Sight:
    """The harness, as this process sees it: it is told now and then that the answer is not ready yet."""

    def __init__(self, answers: FileIO) -> None:
        self.waits = False
        """For the result of a shard."""
        self._answers, self._told = answers, 0.0
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def beat(self) -> bool:
        """Whether it is there, and waits still for the shard that it asked for.

        It breaks a shard off by saying anything, or by ending its output.
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
        """A child that does that, out of the harness's sight, and ends; its process number."""
        parent = os.getpid()
        child = os.fork()
        if child:
            with contextlib.suppress(OSError):  # it has ended
                os.setpgid(child, child)
            return child
        try:
            os.setpgid(0, 0)  # signals to its own process group are harmless here
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
    """The response to :data:`SWEEP`: a result, or why there is none."""
    try:
        wanted = WantedSweep(**json.loads(payload))
        course = Course(wanted, caller)
        caller.compile()
        fields, kinds = course.run()
    except (Impossible, TargetError, ValueError) as error:
        return [b"X", str(error).encode("ascii", "backslashreplace")]
    said = json.dumps(fields).encode()
    return [b"A", HEAD_OF_RESULT.pack(len(said)), said, kinds]


def main(source: Source | None = None) -> None:
    """Greet, then answer until the input ends. ``source``: where strings come from; None: grids."""
    import resource

    named = Named.of(sys.argv[1:])
    if named.python is not None:
        fail("a function of Python stands between; compiled loops call the library alone")
    answers = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # the library's prints must not be mistaken for answers
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
