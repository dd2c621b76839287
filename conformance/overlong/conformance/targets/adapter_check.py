"""Checks an adapter step by step; each failure has an explanation and a remedy.

The check is whether the adapter keeps the protocol, not whether its answers are right: an adapter can be correct around
a wrong decoder.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.protocol import wire
from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut, describe
from overlong.conformance.protocol.wire import Answers, ProtocolError, big_endian
from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.targets.process import Ended
from overlong.conformance.vectors.expected import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.process import Process, Response

SOUND, WRONG, LEFT_OUT, NOT_TRIED = "sound", "wrong", "left out", "not tried"
_PAUSE = 0.05  # seconds between the halves of a request, and for unrequested output
_BIG = 1 << 20  # more than any pipe holds
_UNKNOWN = "?"
_REFUSING = wire.VALIDATE + wire.DECODE + wire.STREAM_DECODE + wire.AGAIN_DECODE + wire.SEPARATE

_BINARY = "open its standard streams in binary mode"
_FLUSH = "flush standard output after each answer, and after the greeting"
_PRINTS = "write nothing but frames to standard output: what the decoder or its loader prints belongs on stderr"
_ENDS = "catch what the decoder throws and answer X with its words; end only when the input has ended"
_WAITS = "read one request, answer it, write the answer; do not wait for more input, or for its end"
_READS = (
    "read eight octets, then as many as the first four say (the highest first) less four; answer and flush; "
    "do not wait for more input, or for its end"
)
_GREETS = "write and flush the greeting before anything is read"
_RUNS = "run the command by itself: it should print one line of JSON and wait"
_FRAME = "follow 'overlong docs protocol': u32 length of what follows, u32 id of the request, status, payload"


@dataclass(frozen=True)
class CheckStep:
    """The result of one step; the words are safe to show."""

    name: str
    state: str
    seen: str = ""
    fix: str = ""


class Unsound(Exception):
    """A step failed: the observation, and a remedy. Or it does not apply: the reason."""

    def __init__(self, seen: str, fix: str = "", state: str = WRONG) -> None:
        super().__init__(seen, fix, state)
        self.seen, self.fix, self.state = seen, fix, state


class AdapterCheck:
    """The steps, in order. Each begins with a process without known failures."""

    def __init__(self, target: FramedTarget) -> None:
        self._target = target
        self._process: Process | None = None
        self._number = 0
        self.greeting: Greeting | None = None
        """The greeting, once it has arrived."""

    def steps(self) -> Iterator[CheckStep]:
        """Run all steps; steps that a failure makes impossible are reported, too."""
        first: list[tuple[str, Callable[[], str]]] = [
            ("it starts", self._starts),
            ("greeting", self._greets),
            ("echo, at once and unchanged", self._echoes),
        ]
        try:
            for place, (name, step) in enumerate(first):
                result = self._tried(name, step)
                yield result
                if result.state == WRONG:
                    rest = [*(each for each, _ in first[place + 1 :]), "all other steps"]
                    yield from (CheckStep(each, NOT_TRIED) for each in rest)
                    return
            for name, step in self._others():
                yield self._tried(name, step)
        finally:
            self._forget()

    def _others(self) -> Iterator[tuple[str, Callable[[], str]]]:
        assert self.greeting is not None
        for operation in self._offered:
            yield f"{operation}, {wire.OPERATIONS[operation]}", partial(self._answers, operation)
        yield "batches", self._batches
        yield "an operation that it does not know", self._does_not_know
        yield "three requests in one write", self._three_at_once
        yield "a request in two writes", self._in_two_halves
        yield "a request of a mebibyte", self._big
        yield "nothing unasked for", self._says_no_more
        yield "the end of its input", self._ends
        yield "the same greeting again", self._greets_again

    @property
    def _offered(self) -> str:
        assert self.greeting is not None
        return "".join(each for each in wire.MEASURED if each in self.greeting.operations)

    def _tried(self, name: str, step: Callable[[], str]) -> CheckStep:
        try:
            return CheckStep(name, SOUND, step())
        except Unsound as unsound:
            result = CheckStep(name, unsound.state, unsound.seen, unsound.fix)
        except ProtocolError as error:
            result = CheckStep(name, WRONG, str(error), _FRAME)
        except Ended as ended:
            result = CheckStep(name, WRONG, _seen(ended), _fix(ended))
        if result.state == WRONG:
            self._forget()
        return result

    def _forget(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None

    def _live(self) -> Process:
        """A process that has greeted.

        Raises:
            Ended: it does not greet.
        """
        if self._process is None:
            self._starts()
            assert self._process is not None
            self._process.greeting(self._target.patience)
        return self._process

    def _starts(self) -> str:
        try:
            self._process = self._target.new_process()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise Unsound(
                f"it cannot be started: {why}", "name a program that is there, and that may be run"
            ) from error
        return ""

    def _greets(self) -> str:
        process = self._process
        assert process is not None
        try:
            greeting = process.greeting(self._target.patience)
        except OSError as error:  # reported by a supervisor
            raise Unsound(f"it cannot be started: {error.strerror}", "name a program that is there") from error
        except Ended as ended:
            if isinstance(ended.why, Crashed):
                raise Unsound(_seen(ended), _RUNS) from ended
            if not isinstance(ended.why, TimedOut):
                raise
            self._starts()
            process = self._process
            assert process is not None
            process.send(0, wire.ECHO.encode() + bytes(_BIG))
            try:
                process.greeting(self._target.patience)
            except Ended:
                raise Unsound(_seen(ended), f"{_GREETS}; it need not read for that") from None
            raise Unsound(
                f"no greeting within {self._target.patience:g} s, and one once a mebibyte was sent: it stayed in a "
                "buffer, or it waited for input",
                _GREETS,
            ) from None
        self.greeting = greeting
        words = [greeting.name, greeting.version, greeting.language, f"offers {greeting.operations}"]
        return printable(", ".join(word for word in words if word))

    def _echoes(self) -> str:
        asked = wire.ECHO.encode() + wire.ECHO_PROBE
        try:
            echoed = self._ask(asked)
        except Ended as ended:
            if not isinstance(ended.why, TimedOut):
                raise
            self._process = None
            process = self._live()
            process.send_frames(wire.frame(0, asked) + wire.frame(1, wire.ECHO.encode() + bytes(_BIG)))
            try:
                process.receive(self._target.timeout)
            except Ended:
                raise Unsound(_seen(ended), _READS) from None
            raise Unsound(
                f"no answer within {self._target.timeout:g} s, and one once a mebibyte was sent after it: the answer "
                "stayed in a buffer, or it waited for the next request",
                _FLUSH,
            ) from None
        if echoed[1:] != (wire.ACCEPTED, wire.ECHO_PROBE):
            _, status, payload = echoed
            shown = (status + payload)[:40].hex(" ").upper()
            fix = _BINARY if status == wire.ACCEPTED else "answer P with A and the octets of the request"
            raise Unsound(f"{(wire.ACCEPTED + wire.ECHO_PROBE).hex(' ').upper()} was due, {shown} came", fix)
        empty = self._ask(wire.ECHO.encode())
        if empty[1:] != (wire.ACCEPTED, b""):
            raise Unsound(
                f"to an empty echo it answered {_shown(empty)}", "answer A and no octets: a wire.frame of length 5"
            )
        return ""

    def _answers(self, operation: str) -> str:
        """Ask one character, ill-formed octets, and the empty string; of questions, each about one character."""
        remarks: list[str] = []
        for place, (what, octets) in enumerate(self._samples(operation)):
            flawed = place == 1 and operation not in wire.ASKING
            status, payload = self._single(operation, octets)
            text = printable(payload[:80].decode("ascii", "backslashreplace"))
            if status == wire.UNSUPPORTED:
                raise Unsound(
                    f"it offers {operation} and answers U to {what}",
                    f"answer it, or leave {operation} out of the greeting",
                )
            if status == wire.FAILED:
                raise Unsound(
                    f"it answers {what} with an internal error: {text or 'no words'}",
                    "a refusal is status R; X is for failures of the decoder" if flawed else "fix what the words say",
                )
            if status == wire.REFUSED and not flawed:
                remarks.append(f"refuses {what}")
            if status == wire.ACCEPTED and flawed and operation in _REFUSING:
                remarks.append(f"accepts {what}; if it replaces, it should offer L in place of {operation}")
        return "; ".join(remarks)

    def _batches(self) -> str:
        assert self.greeting is not None
        if wire.BATCH not in self.greeting.operations:
            raise Unsound("it does not offer B, which would make it faster", state=LEFT_OUT)
        size = self.greeting.units_of
        for operation in self._offered:
            items = [octets for _, octets in self._samples(operation)] * 2
            payloads = [_payload(operation, octets) for octets in items]
            chunks = [1] * len(items) if operation in wire.STREAMING + wire.AGAIN else None
            marked = self.greeting.marks_refusals
            singles = [
                Answers.from_single(
                    *self._ask(operation.encode() + payload)[1:],
                    1 if chunks else None,
                    size(operation).size,
                    marked=marked,
                )
                for payload in payloads
            ]
            head = wire.BATCH.encode() + operation.encode() + big_endian("I", [len(items)])
            asked = self._ask(b"".join((head, big_endian("I", list(map(len, payloads))), *payloads)))
            if asked.status != wire.ACCEPTED:
                raise Unsound(f"to a batch of {operation} it answered {_shown(asked)}", "the status of a batch is A")
            batch = Answers.from_batch(asked.payload, len(items), chunks, size(operation).size, marked=marked)
            apart = Answers.concatenated(singles)
            columns = ("statuses", "numbers", "lengths", "incompletes", "units", "marks")
            differs = next((each for each in columns if getattr(batch, each) != getattr(apart, each)), None)
            if differs is not None:
                raise Unsound(
                    f"of {operation} its batch has other {differs} than its single answers: "
                    f"{_hex(getattr(batch, differs))} and {_hex(getattr(apart, differs))}",
                    "answer a batch item by item with what answers single requests; see 'overlong docs protocol'",
                )
        return ""

    def _does_not_know(self) -> str:
        answered = self._ask(_UNKNOWN.encode() + b"a")
        if answered.status != wire.UNSUPPORTED:
            raise Unsound(
                f"to operation {_UNKNOWN} it answered {_shown(answered)}", "answer U to what it does not offer"
            )
        return ""

    def _three_at_once(self) -> str:
        process, numbers = self._live(), [self._next() for _ in range(3)]
        process.send_frames(b"".join(wire.frame(each, wire.ECHO.encode() + bytes([each & 0xFF])) for each in numbers))
        for number in numbers:
            self._check(process.receive(self._target.timeout), number, bytes([number & 0xFF]))
        return ""

    def _in_two_halves(self) -> str:
        process, number = self._live(), self._next()
        octets = wire.frame(number, wire.ECHO.encode() + wire.ECHO_PROBE)
        for cut in (octets[:2], octets[2:11], octets[11:]):
            process.send_frames(cut)
            time.sleep(_PAUSE)
        try:
            self._check(process.receive(self._target.timeout), number, wire.ECHO_PROBE)
        except (Ended, ProtocolError, Unsound) as error:
            seen = describe(error.why) if isinstance(error, Ended) else str(error.args[0])
            raise Unsound(seen, "read on until the whole wire.frame is there: one read may give less") from error
        return ""

    def _big(self) -> str:
        octets = bytes(range(256)) * (_BIG // 256)
        process, number = self._live(), self._next()
        process.send(number, wire.ECHO.encode() + octets)
        self._check(process.receive(self._target.timeout), number, octets)
        operation = self._offered[0]
        _, letter = self._samples(operation)[0]
        letters = letter + b"a" * (_BIG // 4) if operation in wire.ASKING else letter * (_BIG // 4)
        status, payload = self._single(operation, letters)
        if status == wire.UNSUPPORTED and payload:
            why = printable(payload[:80].decode("ascii", "backslashreplace"))
            raise Unsound(f"{_BIG // 4} letters are too many for it: {why}", state=LEFT_OUT)
        if status in (wire.UNSUPPORTED, wire.FAILED):
            raise Unsound(
                f"to {operation} of {_BIG // 4} letters it answered {_shown_parts(status, payload)}",
                "make room for the input as its length says",
            )
        return ""

    def _says_no_more(self) -> str:
        process = self._live()
        time.sleep(_PAUSE)
        number = self._next()
        process.send(number, wire.ECHO.encode())
        self._check(process.receive(self._target.timeout), number, b"")
        return ""

    def _ends(self) -> str:
        process = self._live()
        self._process = None
        if wrong := process.close():
            extra = "not asked for" in wrong
            raise Unsound(
                wrong, "one answer to each request" if extra else "exit with status 0 when a read gives nothing"
            )
        return ""

    def _greets_again(self) -> str:
        greeting = self._live().greeting(0)
        if greeting != self.greeting:
            raise Unsound("another process says another greeting", "let it describe the decoder: no times, no numbers")
        return ""

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _ask(self, body: bytes) -> Response:
        """Raises: Ended, Unsound: no answer, or the answer to another request."""
        process, number = self._live(), self._next()
        process.send(number, body)
        answered = process.receive(self._target.timeout)
        if answered.request != number:
            raise Unsound(*_another(answered.request, number))
        return answered

    def _single(self, operation: str, octets: bytes) -> tuple[bytes, bytes]:
        """Raises: Ended, Unsound, ProtocolError: no answer, or one that breaks the protocol."""
        assert self.greeting is not None
        _, status, payload = self._ask(operation.encode() + _payload(operation, octets))
        size, marked = self.greeting.units_of(operation).size, self.greeting.marks_refusals
        Answers.from_single(
            status, payload, 1 if operation in wire.STREAMING + wire.AGAIN else None, size, marked=marked
        )
        return status, payload

    def _samples(self, operation: str) -> list[tuple[str, bytes]]:
        """A character, ill-formed octets, and the empty string, for an operation; or each question that it answers."""
        if operation in wire.ASKING:
            assert self.greeting is not None
            return [(f"{name} of the letter a", sample([name])) for name in self.greeting.functions]
        if operation in wire.ENCODING:
            width = 2 if operation == wire.ENCODE_UTF16 else 4
            return [
                ("the letter a", ord("a").to_bytes(width, "big")),
                ("the surrogate D800", 0xD800.to_bytes(width, "big")),
                ("an empty input", b""),
            ]
        return [("the letter a", b"a"), ("the octet FF", b"\xff"), ("an empty input", b"")]

    @staticmethod
    def _check(answered: Response, number: int, octets: bytes) -> None:
        if answered.request != number:
            raise Unsound(*_another(answered.request, number))
        if answered[1:] != (wire.ACCEPTED, octets):
            raise Unsound(f"an echo of {len(octets)} octets came back as {_shown(answered)}", _FRAME)


def _another(came: int, due: int) -> tuple[str, str]:
    return f"it answered request {came} where {due} was next", "one answer to each request, in order, with its id"


def _payload(operation: str, octets: bytes) -> bytes:
    if operation not in wire.STREAMING + wire.AGAIN + wire.SEPARATE:
        return octets
    payload = wire.stream_payload(octets, [len(octets)])
    return wire.again_payload(wire.stream_payload(b"a", [1]), payload) if operation in wire.AGAIN else payload


def _shown(answered: Response) -> str:
    return _shown_parts(answered.status, answered.payload)


def _shown_parts(status: bytes, payload: bytes) -> str:
    return f"{printable(repr(status)[1:])} and {_hex(payload)}"


def _hex(octets: bytes) -> str:
    if len(octets) > 16:
        return f"{octets[:16].hex(' ').upper()} … ({thousands(len(octets))} octets)"
    return octets.hex(" ").upper() or "no octets"


def _seen(ended: Ended) -> str:
    return describe(ended.why) + (f'; it said "{ended.words}"' if ended.words else "")


def _fix(ended: Ended) -> str:
    match ended.why:
        case Crashed():
            return _ENDS
        case TimedOut():
            return _WAITS
        case Misbehaved(what) if "printed to stdout" in what:
            return _PRINTS
        case Misbehaved(what) if "greeting" in what or '"' in what:
            return "write the greeting, one line of JSON in ASCII, before anything else"
        case _:
            return _FRAME
