"""Targets that speak the protocol over their standard streams.

Batches are pipelined. After a failure the target restarts, and unanswered vectors are asked again in sequence: singly
if they are few, otherwise in groups of the square root of their number, and failing groups vector by vector. So the
culprit is exact, and costs two restarts, or three if thousands were under way. A target that failed more than once has
spares: processes that a thread starts in advance, because a start takes at least as long as noticing a death.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import Answered, BudgetSpent, TargetError
from overlong.conformance.protocol import wire
from overlong.conformance.protocol.observation import TimedOut, describe
from overlong.conformance.protocol.wire import Answers, ProtocolError
from overlong.conformance.support.printable import printable, times
from overlong.conformance.targets.limits import AnswerLimit
from overlong.conformance.targets.process import CROWDED, Ended, size_in_words
from overlong.conformance.targets.requests import SharingProcess, prepared, received
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import sample
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor
    from pathlib import Path

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Fault
    from overlong.conformance.targets.requests import Asked

_WINDOW = 256  # requests under way: the target works while the harness judges
_WINDOW_VECTORS = 1 << 21  # vectors in these requests: memory stays flat
_WINDOW_OCTETS = 1 << 23  # octets in these vectors
_TRIAL = 8  # requests under way before the first answer, which shows how large the next ones can be
_IDLE = 0.01  # seconds without work, after which a target gets more at a time
_LONG = 0.5  # seconds for one request above which the next ones shrink
_START_SECONDS = 10.0  # for the greeting: interpreters and virtual machines start slowly
_SHORT = 0.1  # seconds below which they grow
_FIRST = 256  # vectors in the first request: a slow target must not time out because of a large request
_WHOLE = 1 << 30
_NOTES = 3
_SPARES = 2  # a culprit is asked twice in a row
_SHORT_OF_MEMORY = ("out of memory", "memoryerror", "alloc", "insufficient memory", "ulimit", "reserve")
"""Phrases in the last words of runtimes and sanitizers; "memory" alone is too little: a module may export none."""
_LETTER = {wire.ENCODE: b"\0\0\0a", wire.ANNOUNCE: b"\0\0\0a", wire.ENCODE_UTF16: b"\0a"}
"""The letter a, for the operations whose input is not octets."""
_IN_THREADS = 4  # times the limit for one answer
_CROWDS = 4  # more failures that are allowed once it had too many processes: enough to find one culprit
_FEW = 1024  # suspects that are asked again singly: cheaper than another restart, or another time-out


@dataclass(eq=False)
class FramedTarget:
    """A command that speaks the protocol."""

    id: str
    command: Sequence[str]
    timeout: float = 5.0
    restart_budget: int = 100
    environment: dict[str, str] | None = None
    memory: int = 0
    """The octets that each of its processes may allocate; 0 for no limit."""
    sandbox: bool = True
    folder: str | None = None
    """The folder to start it in, if not the current one."""
    set_up: tuple[Callable[[], None], ...] = ()
    """Preparations before the start; each raises TargetError on failure, and does nothing when called again."""
    version: Callable[[], str] | None = None
    """Returns the decoder's version if the adapter does not know it; called for each process, so it should cache."""
    suspicion: str = ""
    """What may be wrong if a signal ends it at the start."""
    unchanged: Callable[[], None] | None = None
    """Called before each restart; raises TargetError if a file of the target has changed."""
    is_command: bool = False
    """It is a program of the user's, which may load files that its command line does not name."""
    is_question: bool = False
    """It is a function that answers a question, and needs no vectors for decoders."""
    subjects: tuple[Path, ...] = ()
    """More files that identify it."""
    restarts: int = 0
    notes: list[str] = field(default_factory=list[str])
    limit: AnswerLimit | None = None
    """Its limit for answers; a second process of the same target shares it."""

    def __post_init__(self) -> None:
        self._limit = self.limit or AnswerLimit(self.timeout)
        self._process: SharingProcess | None = None
        self._known: Greeting | None = None
        self._spares: deque[Future[SharingProcess]] = deque()  # in the order in which they were started
        self._starter: ThreadPoolExecutor | None = None  # of spares
        self.isolation = ""  # the kind of its isolation; known once it is open
        self._size = _FIRST  # vectors in a request
        self._suspects = 0  # vectors asked again after a failure, one request at a time
        self._answered = 0.0  # the moment of the last answers, by time.monotonic()
        self._failure: Fault | None = None  # the failure that made them suspects
        self._under_way: deque[Asked] = deque()
        self._vectors = self._octets = 0  # in progress
        self._waiting: deque[tuple[Batch, str]] = deque()  # to be asked before anything new
        self._following: Callable[[], tuple[Batch, str] | None] = lambda: None

    @property
    def greeting(self) -> Greeting:
        """The greeting of its process, or of its last one: it is known after failures and after the end, too."""
        if self._process is not None:
            try:
                self._known = self._process.greeting(self.patience)
            except OSError as error:
                self._process = None
                raise TargetError(f"{printable(self.id)}: cannot be started: {error.strerror}") from error
        if self._known is None:
            raise TargetError(f"{printable(self.id)}: not started")
        return self._known

    @property
    def _running(self) -> SharingProcess:
        assert self._process is not None, "it is open"
        return self._process

    @property
    def takes(self) -> int:
        """The current number of vectors in a request: larger batches are cut."""
        return self._size

    @property
    def patience(self) -> float:
        """The seconds allowed for its greeting."""
        return max(self.timeout, _START_SECONDS)

    def prepare(self) -> None:
        """Run the preparations before the start.

        Raises:
            TargetError: one of them fails.
        """
        for step in self.set_up:
            step()

    def new_process(self) -> SharingProcess:
        """Start another process of the target, with its greeting unread.

        Raises:
            OSError: it cannot be started.
            ValueError: the command cannot name a program.
            TargetError: a preparation fails.
        """
        self.prepare()
        process = SharingProcess(
            self.command,
            environment=self.environment,
            sandbox=self.sandbox,
            memory=self.memory,
            folder=self.folder,
        )
        if self.version is not None:
            process.version = self.version()  # while it starts
        return process

    def start(self) -> None:
        """Start it without waiting, so that the caller can do other work; :meth:`open` waits.

        Raises:
            TargetError: it cannot be started at all.
        """
        if self._process is None:
            try:
                self._process = self.new_process()
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else str(error)
                raise TargetError(f"{printable(self.id)}: cannot be started: {why}") from error

    def open(self) -> None:
        self.start()
        try:
            self._smoke()
            if self._process is not None:
                self.isolation = self._process.isolation
        except (Ended, ProtocolError) as error:
            why = describe(error.why) if isinstance(error, Ended) else str(error)
            words = error.words if isinstance(error, Ended) else ""
            self.close()
            said = f'; it said "{words}"' if words else ""
            if self.memory and self.sandbox and any(each in words.lower() for each in _SHORT_OF_MEMORY):
                said += f"; --limit memory=0 lifts the limit of {size_in_words(self.memory)} that it has"
            if self.suspicion and "ended by" in why:
                said += f"; {self.suspicion}"
            raise TargetError(f"{printable(self.id)}: not measured: {why}{said}") from error

    def close(self) -> None:
        while (spare := self._spare()) is not None:
            spare.kill()
        if self._starter is not None:
            self._starter.shutdown()
            self._starter = None
        self.notes.extend(note for note in self._limit.notes if note not in self.notes)
        if self._process is not None:
            if self._under_way:  # the run was interrupted, so a busy target is not at fault
                self._process.kill()
            elif note := self._process.close():
                self.notes.append(note)
        self._process = None

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
        self._process = None

    def another(self) -> FramedTarget:
        """The same target, to run in a second process."""
        return replace(self, notes=[], limit=self._limit)

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        self.begin(partial(next, iter(asked), None))
        while self.ask_more():
            if (answered := self.next_answer()) is not None:
                yield answered

    def begin(self, following: Callable[[], tuple[Batch, str] | None], takes: int = 0) -> None:
        """Forget the earlier questions, and take new ones.

        Args:
            following: returns the next question, or None if there is none now.
            takes: the vectors in a request, if known.
        """
        if takes:
            self._size, self._answered = takes, time.monotonic()
        self._following = following
        self._under_way.clear()
        self._waiting.clear()
        self._vectors = self._octets = 0

    def next_answer(self) -> Answered | None:
        """The answers to the oldest request under way; None if they must be asked for again, after a failure.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """
        current = self._under_way[0]
        limit = self._limit.seconds(current.lengths, alone=bool(self._suspects) and len(current.batch) == 1)
        if current.batch.threads:  # thousands of calls for an answer
            limit = _IN_THREADS * self.timeout
        try:
            answers = received(self._running, current, limit)
        except Ended as ended:
            if isinstance(ended.why, TimedOut) and limit < self.timeout:
                ended.why = TimedOut(0.0)
            return self._after(ended)
        self._under_way.popleft()
        self._vectors -= len(current.batch)
        self._octets -= len(current.batch.octets)
        unstable, again = None, bool(self._suspects)
        taken = self._taken_for(current)
        if not current.batch.threads:
            self._limit.answered(taken, len(current.batch), len(current.batch.octets))
        if not self._suspects:
            self._resize(0 if current.batch.threads else taken, len(current.batch))
        else:
            self._suspects = max(self._suspects - len(current.batch), 0)
            if not self._suspects and isinstance(self._failure, TimedOut):
                self._limit.was_slow()
            elif not self._suspects:
                unstable = self._failure
        return Answered(current.batch, current.operation, answers, again=again, unstable=unstable, seconds=taken)

    def _taken_for(self, current: Asked) -> float:
        """The seconds that the target took for a request, whenever the harness received the answers; 0 if unknown."""
        begun, self._answered = max(current.sent, self._answered), self._running.arrived
        return self._answered - begun

    def ask_more(self) -> bool:
        """Send requests until the window is full; return True if any is under way."""
        is_idle = self._is_idle
        while not self._under_way or (
            not self._suspects
            and len(self._under_way) < (_WINDOW if self._answered else _TRIAL)
            and self._vectors < _WINDOW_VECTORS
            and self._octets < _WINDOW_OCTETS
        ):
            if not self._waiting:
                following = self._following()
                if following is None:
                    break
                self._waiting.append(following)
            batch, operation = self._waiting.popleft()
            if len(batch) > self._size:
                self._waiting.appendleft((batch.part(self._size, len(batch)), operation))
                batch = batch.part(0, self._size)
            process = self._running
            ready = prepared(process, batch, operation, anywhere=is_idle, waits=bool(self._under_way))
            if ready is None:
                self._waiting.appendleft((batch, operation))
                break
            asked, frames = ready
            self._under_way.append(asked)  # before sending, after which the target may be busy
            process.send_frames(*frames)
            self._vectors += len(batch)
            self._octets += len(batch.octets)
        return bool(self._under_way)

    @property
    def _is_idle(self) -> bool:
        """True if the target has waited for a while with everything answered: the harness takes longer to judge."""
        return bool(self._under_way) and self._running.idle_for > _IDLE

    def _after(self, ended: Ended) -> Answered | None:
        """Restart, and ask unanswered requests again. Returns the culprit's answer, if the culprit is known."""
        self._failure = ended.why
        if isinstance(ended.why, TimedOut):
            self._limit.timed_out()
        self._restart(ended.why)
        again = list(self._under_way)
        self._under_way.clear()
        self._vectors = self._octets = 0
        culprit = None
        if len(again[0].batch) == 1 and self._suspects:
            found = again.pop(0)
            culprit = Answered(found.batch, found.operation, _placeholder(1), {0: ended.why})
            self._note_words(ended)
            self._suspects, self._size = 0, 1
        else:
            self._suspects = sum(len(each.batch) for each in again)
            self._size = 1 if self._suspects <= _FEW else min(self._size, isqrt(self._suspects))
        self._waiting.extendleft((each.batch, each.operation) for each in reversed(again))
        return culprit

    def _note_words(self, ended: Ended) -> None:
        """Keep the target's messages at the first few failures."""
        note = f'when it failed, it said "{ended.words}"'
        if ended.words and note not in self.notes and len(self.notes) < _NOTES:
            self.notes.append(note)

    def _resize(self, seconds: float, vectors: int) -> None:
        """Grow while four times as many vectors would take less than half the limit, however few these were."""
        if seconds > _LONG and self._size > 1:
            self._size = max(min(self._size, 8192) // 2, 1)
        elif 0 < seconds < _SHORT and 4 * self._size * seconds < vectors * self.timeout / 2 and self._size < _WHOLE:
            self._size *= 4

    def _restart(self, why: Fault) -> None:
        process, self._process = self._running, None
        greeting = process.greeting(0)
        process.kill()
        remedy = "raise the limit with --limit restarts=N, or fix the first failure"
        if CROWDED.fullmatch(describe(why)):
            self.restart_budget = min(self.restart_budget, self.restarts + _CROWDS)
            remedy = "end or wait for what it starts"
        self.restarts += 1
        if self.restarts > self.restart_budget:
            raise BudgetSpent(f"{printable(self.id)} failed {times(self.restarts)} (last: {describe(why)}); {remedy}")
        if self.unchanged is not None:
            self.unchanged()
        self._process = self._spare()
        self.start()
        try:
            same = self.greeting == greeting
        except Ended as ended:
            raise TargetError(f"{printable(self.id)}: does not start any more: {describe(ended.why)}") from ended
        if not same:
            raise TargetError(
                f"{printable(self.id)}: its greeting changed after a restart; it must describe the same decoder"
            )
        if self.restarts > 1:  # one culprit is no reason: most targets have no other
            self._keep_spares(min(_SPARES, self.restart_budget - self.restarts))

    def _keep_spares(self, wanted: int) -> None:
        """Start as many spares as are missing, without waiting for them."""
        from concurrent.futures import ThreadPoolExecutor

        self._starter = self._starter or ThreadPoolExecutor(1, "spares")
        while len(self._spares) < wanted:
            self._spares.append(self._starter.submit(self.new_process))

    def _spare(self) -> SharingProcess | None:
        """The oldest spare that is still running, if any."""
        while self._spares:
            with contextlib.suppress(OSError, ValueError, TargetError):  # the next start reports the error
                if (spare := self._spares[0].result()).is_alive:
                    self._spares.popleft()
                    return spare
                spare.kill()
            self._spares.popleft()
        return None

    def _smoke(self) -> None:
        """Ask the echo, then each operation on one letter, so that a broken adapter never yields a verdict."""
        operations = self.greeting.operations
        process = self._running
        echo = process.numbers(1)
        process.send(echo, wire.ECHO.encode() + wire.ECHO_PROBE)
        request, status, payload = process.receive(self.timeout)
        if request != echo:
            raise ProtocolError(f"it answered request {request} where {echo} was next")
        if (status, payload) != (wire.ACCEPTED, wire.ECHO_PROBE):
            became = payload[:40].hex(" ").upper() or "nothing"
            raise ProtocolError(
                f"its echo changed {wire.ECHO_PROBE.hex(' ').upper()} into {became}: open its streams in binary mode"
            )
        for operation in operations:
            if operation in wire.MEASURED:
                octets = sample(self.greeting.functions) if operation in wire.ASKING else _LETTER.get(operation, b"a")
                letter = Batch.of([Vector("smoke", octets, chunks=(1,))])
                ready = prepared(process, letter, operation)
                assert ready is not None, "it does not wait"
                asked, frames = ready
                process.send_frames(*frames)
                answers = received(process, asked, self.timeout)
                if answers.statuses in (wire.UNSUPPORTED, wire.FAILED):
                    text = printable(answers.units.decode("utf-8", "backslashreplace"))
                    raise ProtocolError(
                        f"it offers {operation} and answers {answers.statuses.decode()} to the letter a"
                        + (f": {text}" if text else "")
                    )


def _placeholder(count: int) -> Answers:
    return Answers.of(wire.UNSUPPORTED * count, bytes(4 * count), bytes(count), bytes(count), b"")
