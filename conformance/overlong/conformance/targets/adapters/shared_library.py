"""Adapter for shared libraries: ``shared_library.py LIBRARY SYMBOLS ABI [FILE NAME] [trait=value ...]``.

There are two processes. This one speaks the protocol and never runs foreign code; its child loads the library and
makes the calls. Before each call the child notes the input's number in shared memory. When the child dies, the parent
knows the input that killed it, and a new child asks that input with slack instead of guards. If this child survives,
a guard killed the first, and the answer counts; if it dies too, the parent ends in the same way. The harness ends a
call that never returns.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import ctypes
import errno
import gc
import marshal
import mmap
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Any, NoReturn

from overlong.conformance.targets.adapters.abi import ABIS, ITERATE, QUESTION_ABIS
from overlong.conformance.targets.adapters.bounds import AFTER, DEATHS, ITEM, SLACK, STEP, WRITABLE, fault_columns
from overlong.conformance.targets.adapters.child import Child, Named
from overlong.conformance.targets.adapters.one_shot import ADOPT, adopted
from overlong.conformance.targets.adapters.serving import (
    HEAD,
    MOST_LEFT,
    answer_frames,
    end_as,
    fail,
    own_output,
    pieces,
    unbatched,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO


if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

ENOUGH = 32
"""A step is skipped after this many deaths: each costs two processes, and the fault is known."""
GUARDED_DEATHS = 20
"""Ordinary operations run without guards after this many deaths at them."""
_AT_ONCE = 1 << 16  # inputs that are examined before their faults are fetched
_FEW = 8  # so few inputs in a request are examined completely, whatever was reported before
_HANGS = 0.5  # seconds for an intermediate call
_MANY = 1024  # inputs in a batch that the core asks
_WORTH = 1 << 16  # inputs after which the core pays off: to build it takes seconds, once
_LOOK = 50  # milliseconds after which a silent child is checked: its forks may keep its pipe open


class Parent:
    """The process that speaks the protocol."""

    def __init__(self, named: Named, answers: FileIO) -> None:
        self._named, self._answers = named, answers
        self._shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self._faults = mmap.mmap(-1, 2 * _AT_ONCE)
        self._deaths = 0  # in ordinary operations, at guards
        self._dead = dict.fromkeys((SLACK, *DEATHS), 0)
        self._looked_at = (0, 0), 0.0  # the child's place and the time at the first check
        self._not_after = frozenset[int]()  # contains :data:`AFTER` once that step is skipped
        self._child = 0
        self._status: int | None = None  # from waitpid, once the child has ended
        self._pipes: tuple[int, ...] = ()
        """The pipes to and from the child."""
        self.ready: tuple[str, str] = ("", "")
        self._answered = 0  # inputs
        abi = ABIS.get(named.abi)
        self._has_core = abi is not None and abi is not ITERATE and not abi.functions
        self._start()

    def answer_batch(self, operation: str, payload: bytes) -> bytes:
        """The response to a batch, even if the child dies."""
        count = int.from_bytes(payload[:4], "big")
        self._answered += count
        if self._has_core and operation in "VD" and not self._deaths and self._answered > _WORTH and count >= _MANY:
            try:
                response: bytes = self._ask(("C", payload))
            except ChildProcessError as died:
                self._died(died.args[0], frozenset())  # it is asked again by ctypes
            else:
                if response:
                    return response
                self._has_core = False
        return self.answer(operation, pieces(payload), single=False)

    def answer(self, operation: str, items: Sequence[bytes], *, single: bool) -> bytes:
        """The response to these inputs, even if the child dies."""
        if operation in "GK":
            return self._examined(items, single=single)
        plain = frozenset[int]() if self._deaths < GUARDED_DEATHS and operation not in "QEFZ" else None
        while True:
            try:
                response: bytes = self._ask((operation, list(items), plain, single))
            except ChildProcessError as died:
                plain = self._died(died.args[0], plain)
            else:
                return response

    def answer_together(self, operation: str, payload: bytes, threads: int) -> list[bytes]:
        """The response to a batch that several threads answer at once. If the child dies, so does this process."""
        try:
            response: bytes = self._ask(("H", pieces(payload), operation, threads))
        except ChildProcessError as died:
            die(died.args[0])
        return [b"A", response]

    def _died(self, status: int, plain: frozenset[int] | None) -> frozenset[int] | None:
        """Start a new child if the last one may have died at a guard. Returns the items to ask without guards."""
        item = self._shared[ITEM]
        if plain is None or item in plain or os.WIFEXITED(status):
            die(status)  # the call was made without guards
        self._start()
        self._deaths += 1
        return plain | {item} if self._deaths < GUARDED_DEATHS else None

    def _examined(self, items: Sequence[bytes], *, single: bool) -> bytes:
        """The faults, in columns."""
        faults = b"".join(self._faults_of(items[start : start + _AT_ONCE]) for start in range(0, len(items), _AT_ONCE))
        columns = fault_columns(faults[::2], faults[1::2])
        return unbatched(columns) if single else b"".join(columns)

    def _faults_of(self, items: Sequence[bytes]) -> bytes:
        first, items = 0, list(items)
        while first < len(items):
            many = len(items) > _FEW  # a few are asked again to check that the answer is stable
            leave_out = frozenset(step for step, deaths in self._dead.items() if many and deaths >= ENOUGH)
            leave_out |= self._not_after
            try:
                self._ask(("G", items, first, leave_out))
                break
            except ChildProcessError as died:
                first, step, detail = self._shared[:3]
                if step == AFTER:  # the other input is asked in its own turn
                    self._not_after = frozenset((AFTER,))
                    self._start()
                    continue
                if step == WRITABLE or os.WIFEXITED(died.args[0]):
                    die(died.args[0])
                self._confirm(items[first], first, step, detail, died.args[0])
                first += 1
        return self._faults[: 2 * len(items)]

    def _confirm(self, octets: bytes, number: int, step: int, detail: int, status: int) -> None:
        """Confirm a fault: a new process that is asked nothing else dies at the same step."""
        self._start()
        try:
            self._ask(("1", [octets], number, step))
        except ChildProcessError as died:
            if died.args[0] == status and tuple(self._shared[:2]) == (number, step):
                self._dead[step] += 1
                if step != SLACK:
                    self._faults[2 * number : 2 * number + 2] = bytes((DEATHS[step], detail))
                self._start()
                return
        die(status)

    def _ask(self, question: tuple[Any, ...]) -> Any:
        """Raises: ChildProcessError: the child has died; its argument is the status, as of :func:`os.waitpid`."""
        try:
            asks, answered = self._pipes
            _send(asks, question)
            return _receive(answered, self._has_ended)
        except OSError as error:
            raise ChildProcessError(self._ending()) from error

    def _has_ended(self) -> bool:
        """True if the child has ended."""
        if self._status is None:
            self._end_what_hangs()
            ended, status = os.waitpid(self._child, os.WNOHANG)
            self._status = status if ended else None
        return self._status is not None

    def _end_what_hangs(self) -> None:
        """End an intermediate call that does not return. The harness ends other calls: it knows their inputs."""
        where = self._shared[ITEM], self._shared[STEP]
        if where[1] != AFTER or where != self._looked_at[0]:
            self._looked_at = where, time.monotonic()
        elif time.monotonic() - self._looked_at[1] > _HANGS:
            os.kill(self._child, signal.SIGKILL)

    def _ending(self) -> int:
        """Wait for the child's end; return its status."""
        if self._status is None:
            _, self._status = os.waitpid(self._child, 0)
        return self._status

    def _start(self) -> None:
        """Start a new child, ready to be asked. If it dies before that, this process ends in the same way."""
        for end in self._pipes:
            os.close(end)
        (asked, asks), (answered, answers) = os.pipe(), os.pipe()
        self._status = None
        self._child = os.fork()
        if self._child == 0:
            for end in (asks, answered, self._answers.fileno()):
                os.close(end)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            self._serve(asked, answers)
        for end in (asked, answers):
            os.close(end)
        self._pipes = asks, answered
        try:
            self.ready = _receive(answered, self._has_ended)
        except OSError:
            die(self._ending())

    def _serve(self, asked: int, answers: int) -> NoReturn:
        """The child's main function."""
        gc.disable()
        child = Child(self._named, self._shared, self._faults)
        end_leftovers = ending_leftovers()
        reply: Any = (child.operations, child.abi.units or "utf-32")
        while True:
            child.alone()
            end_leftovers()
            try:
                _send(answers, reply)
                operation, items, *rest = _receive(asked)
            except OSError as error:
                if error.errno == errno.EBADF:
                    fail("it closed descriptors that it had not opened")
                os._exit(0)  # the parent is gone, or done
            reply = None
            if operation == "C":
                reply = child.answer_in_core(items)
            elif operation == "G":
                child.examine(items, *rest)
            elif operation == "H":
                operation, threads = rest
                reply = child.answer_together(operation, items, threads)
            elif operation == "1":
                child.once_more(items[0], *rest)
            else:
                reply = child.answer(operation, items, rest[0], single=rest[1])


def ending_leftovers() -> Callable[[], None]:
    """A function that kills the processes that calls leave behind, but only a limited number in all.

    After that, a function that leaves one at every call has too many, and the supervisor ends it: to kill all would let
    it run for hours, since a fork takes as long as thousands of calls. This process adopts what they start in turn;
    only Linux can do that. Processes that exist now, since loading started them, are no leftovers.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    own, ended = frozenset(adopted()), 0

    def end() -> None:
        nonlocal ended
        if ended >= MOST_LEFT or not _has_children():
            return
        for child in [each for each in adopted() if each not in own]:
            ended += 1
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except OSError:  # it belongs to another user, or another thread has waited for it
                continue

    return end


def _has_children() -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _send(pipe: int, question: Any) -> None:
    """Raises: OSError: the reader is gone."""
    octets = marshal.dumps(question)
    view = memoryview(HEAD.pack(len(octets), 0) + octets)
    while view:
        view = view[os.write(pipe, view) :]


def _receive(pipe: int, has_ended: Callable[[], bool] | None = None) -> Any:
    """Read a message. ``has_ended`` returns True once the sender has ended: its own children may keep the pipe open.

    Raises:
        OSError: the writer is gone.
    """
    length, _ = HEAD.unpack(_read(pipe, HEAD.size, has_ended))
    octets = _read(pipe, length, has_ended)
    return marshal.loads(octets)  # noqa: S302 (of a process of our own; the harness checks what it says)


def _read(pipe: int, size: int, has_ended: Callable[[], bool] | None) -> bytes:
    parts, poll, patience = list[bytes](), select.poll(), _LOOK
    poll.register(pipe, select.POLLIN)
    while size:
        while has_ended is not None and not poll.poll(patience):
            if patience == 0:
                raise BrokenPipeError
            if has_ended():
                patience = 0  # earlier output is still in the pipe
        part = os.read(pipe, min(size, 1 << 20))
        if not part:
            raise BrokenPipeError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def die(status: int) -> NoReturn:
    """End in the same way as the child; ``status`` is that of :func:`os.waitpid`."""
    end_as(os.waitstatus_to_exitcode(status))


def main() -> None:
    """Greet, then answer until the input ends."""
    import resource

    named = Named.of(sys.argv[1:])
    answers = own_output()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # deaths are routine here: no core dumps
    parent = Parent(named, answers)
    operations, units = parent.ready
    offered = operations if "Q" in operations else f"{operations}G"
    greeting = {
        "overlong": 1,
        "name": f"{Path(named.library).name}:{','.join(named.symbols)}",
        "version": "",
        "language": "C",
        "operations": f"PB{offered}",
        "units": units,
        **({"stream_refusals": "marked"} if "S" in operations else {}),
        **({"nul": "ends the string"} if named.abi in ABIS and ABIS[named.abi].terminated else {}),
        **({"functions": [QUESTION_ABIS[named.abi].name]} if named.abi in QUESTION_ABIS else {}),
        **named.traits,
    }

    def respond(operation: str, payload: bytes, batched: bool) -> list[bytes]:  # noqa: FBT001
        if batched:
            return [b"A", parent.answer_batch(operation, payload)]
        return [parent.answer(operation, [payload], single=True)]

    answer_frames(greeting, offered, respond, answers, together=parent.answer_together)
    os._exit(0)  # the child sees the end of its input, and ends


if __name__ == "__main__":
    main()
