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
import re
import select
import signal
import struct
import time
from array import array
from dataclasses import dataclass
from functools import cached_property, partial
from io import FileIO
from typing import TYPE_CHECKING, Any, NoReturn

from overlong.conformance.targets.adapters.abi import ABIS, ITERATE, REFUSED, UNIT, Abi, AnswerReading, within
from overlong.conformance.targets.adapters.bounds import (
    AFTER,
    CLEAN,
    DEATHS,
    NEUTRAL,
    NOT_ASKED,
    PAD,
    SLACK,
    WRITABLE,
    Bounds,
    Memory,
    Steps,
)
from overlong.conformance.targets.adapters.converting import converted, units_of
from overlong.conformance.targets.adapters.leftovers import Leftovers
from overlong.conformance.targets.adapters.native import Library, Streams, address_of, alone, bound, by_python
from overlong.conformance.targets.adapters.python import (
    HEAD,
    answer_frames,
    column,
    cut,
    fail,
    load,
    pieces,
    read_as_text,
    units,
)
from overlong.conformance.targets.adapters.question_abis import OUTSIDE, QUESTION_ABIS, TAILS, question_abi
from overlong.reference.core import NoCore
from overlong.reference.form import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.targets.adapters.in_core import Answers

if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

PYTHON = "py"
"""The name of the escape hatch, in place of an ABI's name."""
ENOUGH = 32
"""A step is skipped after this many deaths: each costs two processes, and the fault is known."""
GUARDED_DEATHS = 20
"""Ordinary operations run without guards after this many deaths at them."""
_AT_ONCE = 1 << 16  # inputs that are examined before their faults are fetched
_FEW = 8  # so few inputs in a request are examined completely, whatever was reported before
_HANGS = 0.5  # seconds for an intermediate call
_ROOM = 16  # units for a stream's output at its end
_READ = 1 << 26  # octets of a library that are searched for a symbol's name
_ALIKE = 4
_WORD = 8
_MANY = 1024  # inputs in a batch that the core asks
_WORTH = 1 << 16  # inputs after which the core pays off: to build it takes seconds, once
_LOOK = 50  # milliseconds after which a silent child is checked: its forks may keep its pipe open
_PLAIN = Abi(PYTHON, "", ("ptr", "len"), "int", lambda _: REFUSED, "")
"""The properties of the escape hatch, for the code that places its input."""

Marks = tuple[int, ...]


@dataclass(frozen=True)
class Named:
    """The parsed command line."""

    library: str
    symbols: tuple[str, ...]
    abi: str
    python: tuple[str, str] | None
    traits: dict[str, str]
    replaces: bool = False
    """It replaces what is ill-formed."""

    @classmethod
    def of(cls, words: Sequence[str]) -> Named:
        """The words of a command line that ``targets/functions.py`` has checked."""
        library, symbols, abi, *rest = words
        python = (rest[0], rest[1]) if abi == PYTHON else None
        traits = dict(word.split("=", 1) for word in rest[2 if python else 0 :])
        replaces = traits.pop("mode", "") == "replacement"
        return cls(library, tuple(symbols.split(",")), abi, python, traits, replaces)


class Child:
    """The process that runs foreign code."""

    def __init__(self, named: Named, shared: memoryview, faults: mmap.mmap) -> None:
        """Load the library; if that fails, print the reason and exit with status 3."""
        self._item, self._faults = shared, faults
        self._process = os.getpid()
        self._memory = Memory()
        self._streams: Streams | None = None
        self._function: Any = None
        try:
            library = Library(named.library)
            if named.python is not None:
                self.abi = _PLAIN
                self._call = by_python(load(*named.python), library.function(named.symbols[0]))
            elif named.abi in QUESTION_ABIS:
                self.abi = question_abi(named.abi)
                self._call = bound(self.abi, library.function(named.symbols[0], self.abi.parameters, self.abi.result))
            elif ABIS[named.abi].functions:
                self.abi = ABIS[named.abi]
                self._streams = Streams(self.abi, library, named.symbols)
                self._call = self._streams.whole
            else:
                self.abi = ABIS[named.abi]
                self._function = library.function(named.symbols[0], self.abi.parameters, self.abi.result)
                self._call = bound(self.abi, self._function)
        except (OSError, UnicodeError) as error:  # the loader's message has the raw name
            why = str(error) if isinstance(error, OSError) else "the loader refuses it"
            fail(f"it cannot be loaded: {why}")
        except LookupError as error:
            fail(f"{named.library} has no function {error.args[0]}{_near(named.library, error.args[0])}")
        self._size = 1 if not self.abi.units else UNIT[self.abi.units]
        self._unit = self._size if self.abi.units and self.abi is not ITERATE else 0
        self.operations = ("L" if named.replaces else "D") if self.abi.units else "V"
        if named.python is not None:
            said = self._call(self._placed(b"a", plain=True), 1, 0, 0)
            if said.output:
                self.operations, self._size = "D", UNIT["utf-32"]
        if named.abi in QUESTION_ABIS:
            self.operations = "Q"
        if self._streams is not None:
            stream, again = ("T", "M") if named.replaces else ("S", "N")
            self.operations += stream if self._streams.reset is None else stream + again
        self._steps = Steps(shared)
        self._bounds = Bounds(self._call_alone, self.abi, self._unit, self._memory, self._steps)

    def alone(self) -> None:
        """Let only this process continue after a call: a fork by the function shares its memory."""
        alone(self._process)

    def _call_alone(self, address: int, length: int, out: int, units: int) -> AnswerReading:
        """One call."""
        reading = self._call(address, length, out, units)
        self.alone()
        return reading

    def answer(self, operation: str, items: Sequence[bytes], plain: frozenset[int] | None, *, single: bool) -> bytes:
        """The response to an operation; ``plain``: the items to ask without guards, None for all."""
        others = {**dict.fromkeys("ST", self._stream), **dict.fromkeys("NM", self._again), "Q": self._asked}
        ask: Callable[[bytes, bool], tuple[AnswerReading, Marks]] = others.get(operation, self._one)
        if not plain and plain is not None and operation in "VD" and not self._unit:
            readings = self._judged(items)
            return self._single(readings[0], ()) if single else self._columns(readings, ())
        readings, marks = list[AnswerReading](), list[Marks]()
        for number, octets in enumerate(items):
            self._item[Steps.ITEM] = number
            reading, marked = ask(octets, plain is None or number in plain)
            readings.append(reading)
            marks.append(marked)
        return self._single(readings[0], marks[0]) if single else self._columns(readings, marks)

    def answer_in_core(self, payload: bytes) -> bytes:
        """The core's response to a batch of an ordinary operation, each input right before a guard.

        Empty if there is no core.
        """
        try:
            answers = self._answers
        except NoCore:
            return b""
        statuses, numbers, output = answers.to(payload)
        incompletes = statuses.translate(_INCOMPLETES)
        return b"".join((statuses, numbers, bytes(len(statuses)), incompletes, *output))

    @cached_property
    def _answers(self) -> Answers:
        from overlong.conformance.targets.adapters.in_core import Answers

        shared = ctypes.addressof(ctypes.c_char.from_buffer(self._item))
        return Answers(self.abi, address_of(self._function), self._memory, shared + _WORD * Steps.ITEM)

    def examine(self, items: Sequence[bytes], first: int, leave_out: frozenset[int]) -> None:
        """Write the faults and details of the items from ``first`` on into memory for the parent."""
        for number in range(first, len(items)):
            self._item[Steps.ITEM] = number
            self._faults[2 * number : 2 * number + 2] = bytes(self._bounds.examine(items[number], leave_out))

    def once_more(self, octets: bytes, number: int, step: int) -> None:
        """Repeat only the step that killed a process. A second death at it confirms the cause."""
        self._item[Steps.ITEM] = number
        if step == SLACK:
            self._faults[2 * number : 2 * number + 2] = bytes(self._bounds.changes(octets))
            self._bounds.slack(octets)
        else:
            self._bounds.examine(octets, frozenset((*DEATHS, AFTER)) - {step})

    def _placed(self, octets: bytes, *, plain: bool) -> int:
        """Write an input, with a guard after it or with slack, and return its address."""
        if self.abi.terminated:
            octets += b"\0"
        length, memory = len(octets), self._memory
        if length > memory.longest:
            memory.fit(length)
        if plain:
            memory.plain.view[PAD - len(NEUTRAL) : PAD + length + 8] = NEUTRAL + octets + bytes(8)
            return memory.plain.start + PAD
        region = memory.input
        region.view[region.size - length - len(NEUTRAL) :] = NEUTRAL + octets
        return region.end - length

    def _judged(self, items: Sequence[bytes]) -> list[AnswerReading]:
        """The answers of a function without output, each input right before a guard: faster than :meth:`_one`."""
        memory, call, item, place = self._memory, self._call, self._item, Steps.ITEM
        tail = b"\0" * self.abi.terminated
        memory.fit(max(map(len, items), default=0) + 1)
        view, size, end = memory.input.view, memory.input.size, memory.input.end
        readings, process, this_process = list[AnswerReading](), self._process, os.getpid
        for number, octets in enumerate(items):
            item[place] = number
            whole = NEUTRAL + octets + tail
            view[size - len(whole) :] = whole
            readings.append(call(end - len(octets) - len(tail), len(octets), 0, 0))
            if this_process() != process:
                os._exit(0)
        return readings

    def _one(self, octets: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        address = self._placed(octets, plain=plain)
        length = len(octets)
        if not self._unit:
            return self._call_alone(address, length, 0, 0), ()
        room = self.abi.room(length)
        self._poison(room)
        reading = within(room, self._call_alone(address, length, self._memory.output.start + PAD, room))
        return reading._replace(output=self._written(reading.number)) if reading.status == "A" else reading, ()

    def _asked(self, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        """A question. It is asked twice, with other octets around the text: whoever reads those answers otherwise.

        Guards would tell more, but each death of a process costs as much as a thousand questions.
        """
        assert plain, "no question is asked between guards"
        question, argument = QUESTION_ABIS[self.abi.name], int.from_bytes(payload[1:5], "big")
        octets = units_of(question, payload[5:])
        length = len(octets) // FORMS[question.given].size
        address, view = self._placed(octets, plain=True), self._memory.plain.view

        def ask() -> AnswerReading:
            if not question.written:
                return self._call_alone(address, length, argument, 0)
            room = partial(self._call_alone, address, length, units=argument)
            return converted(question, self._memory.output, PAD, argument, lambda out: room(out=out))

        reading = ask()
        place = PAD + len(octets)
        view[PAD - len(TAILS) : place + len(TAILS)] = TAILS + octets + TAILS
        if ask() != reading:
            reading = AnswerReading("X", text=OUTSIDE)
        view[place : place + len(TAILS)] = bytes(len(TAILS))
        return reading, ()

    def _stream(self, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        streams = self._streams
        assert streams is not None
        state = streams.new()
        self.alone()
        if not state:
            return AnswerReading("X", text="it made no state"), ()
        try:
            return self._fed(state, payload, plain=plain)
        finally:
            streams.free(state)
            self.alone()

    def _again(self, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        streams = self._streams
        assert streams is not None
        end = 4 + int.from_bytes(payload[:4], "big")
        state = streams.new()
        self.alone()
        if not state:
            return AnswerReading("X", text="it made no state"), ()
        try:
            self._fed(state, payload[4:end], plain=plain)
            streams.reset(state)
            self.alone()
            return self._fed(state, payload[end:], plain=plain)
        finally:
            streams.free(state)
            self.alone()

    def _fed(self, state: Any, payload: bytes, *, plain: bool) -> tuple[AnswerReading, Marks]:
        """Feed a stream to a state, chunk by chunk."""
        streams = self._streams
        assert streams is not None
        if not self._unit:
            return self._judged_stream(streams, state, cut(payload), plain=plain)
        (count,) = struct.unpack_from(">H", payload)
        lengths = struct.unpack_from(f">{count}I", payload, 2)
        place, total, marks, output = 2 + 4 * count, 0, list[int](), list[bytes]()
        out = self._memory.output.start + PAD
        for number, length in enumerate(lengths, 1):
            address, room = self._placed(payload[place : place + length], plain=plain), self.abi.room(length)
            place += length
            out = self._memory.output.start + PAD
            self._poison(room)
            written = streams.feed(state, address, length, out, room)
            self.alone()
            if 0 <= written <= room:
                output.append(self._written(written))
                total += written
                if number == count:
                    room = _ROOM
                    self._poison(room)
                    written = streams.finish(state, out, room)
                    self.alone()
                    if 0 <= written <= room:
                        output.append(self._written(written))
                        total += written
            if written < 0:
                return REFUSED, (number,)
            if written > room:
                return within(room, AnswerReading("A", written)), ()
            marks.append(total)
        return AnswerReading("A", total, output=b"".join(output)), tuple(marks)

    def _judged_stream(
        self, streams: Streams, state: Any, chunks: Sequence[bytes], *, plain: bool
    ) -> tuple[AnswerReading, Marks]:
        """Feed a validator, which only says yes or no to each chunk; its yeses stand for the text."""
        decoder = read_as_text()
        text, marks = "", list[int]()
        for number, chunk in enumerate(chunks, 1):
            is_last = number == len(chunks)
            accepted = streams.feed(state, self._placed(chunk, plain=plain), len(chunk))
            self.alone()
            if accepted and is_last:
                accepted = streams.finish(state)
                self.alone()
            if not accepted:
                return REFUSED, (number,)
            text += decoder.decode(chunk, is_last)
            marks.append(len(text))
        return AnswerReading("A", len(text), output=units(text)), tuple(marks)

    def _poison(self, room: int) -> None:
        self._memory.output.view[PAD : PAD + room * self._unit] = b"\xaa" * (room * self._unit)

    def _written(self, units: int) -> bytes:
        return self._memory.output.view[PAD : PAD + units * self._unit]

    def _big_endian(self, output: bytes) -> bytes:
        if self._size == 1 or sys.byteorder == "big":
            return output
        units = array("I" if self._size == 4 else "H", output)
        units.byteswap()
        return units.tobytes()

    def _columns(self, readings: Sequence[AnswerReading], marks: Sequence[Marks]) -> bytes:
        """The columns of a batch."""
        statuses = "".join([each.status for each in readings]).encode()
        numbers = [len(each.text) if each.status == "X" else each.number for each in readings]
        if b"X" in statuses:
            written = [each.text.encode() or self._big_endian(each.output) for each in readings]
        else:
            written = [self._big_endian(b"".join([each.output for each in readings]))]
        incompletes = statuses.translate(_INCOMPLETES)
        marked = [column(each) for each in marks if each]
        return b"".join((statuses, column(numbers), bytes(len(readings)), incompletes, *written, *marked))

    def _single(self, reading: AnswerReading, marks: Marks) -> bytes:
        """The status and payload of one answer."""
        status = reading.status.encode()
        if reading.status == "X":
            return status + reading.text.encode()
        if reading.status == "R":
            return status + column([reading.number]) + b"\0\xff" + column(marks)
        return status + column(marks) + self._big_endian(reading.output)


_INCOMPLETES = bytes(0xFF if octet == ord("R") else 0 for octet in range(256))
"""Maps a status to a refusal's *incomplete*: not reported."""


def _near(library: str, symbol: str) -> str:
    """A suggestion for an error message: a similar name in the library's symbol tables."""
    from overlong.conformance.support.near import nearest

    try:
        with open(library, "rb") as file:  # noqa: PTH123 (the loader's name for it is no path of ours)
            names = re.findall(rb"(?<=\0)[A-Za-z_][A-Za-z0-9_.$]{0,99}(?=\0)", file.read(_READ))
    except OSError:
        return ""
    alike = {name.decode() for name in names if abs(len(name) - len(symbol)) < _ALIKE}
    close = nearest(symbol, alike)
    return f"; did you mean {close[0]}?" if close else ""


class Died(Exception):
    """The child has died; ``status`` is that of :func:`os.waitpid`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


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
            except Died as died:
                self._died(died, frozenset())  # it is asked again by ctypes
            else:
                if response:
                    return response
                self._has_core = False
        return self.answer(operation, pieces(payload), single=False)

    def answer(self, operation: str, items: Sequence[bytes], *, single: bool) -> bytes:
        """The response to these inputs, even if the child dies."""
        if operation == "G":
            return self._examined(items, single=single)
        plain = frozenset[int]() if self._deaths < GUARDED_DEATHS and operation != "Q" else None
        while True:
            try:
                response: bytes = self._ask((operation, list(items), plain, single))
            except Died as died:
                plain = self._died(died, plain)
            else:
                return response

    def _died(self, died: Died, plain: frozenset[int] | None) -> frozenset[int] | None:
        """Start a new child if the last one may have died at a guard. Returns the items to ask without guards."""
        item = self._shared[Steps.ITEM]
        if plain is None or item in plain or os.WIFEXITED(died.status):
            die(died.status)  # the call was made without guards
        self._start()
        self._deaths += 1
        return plain | {item} if self._deaths < GUARDED_DEATHS else None

    def _examined(self, items: Sequence[bytes], *, single: bool) -> bytes:
        """The faults, in columns."""
        faults = b"".join(self._faults_of(items[start : start + _AT_ONCE]) for start in range(0, len(items), _AT_ONCE))
        found, details = faults[::2], faults[1::2]
        statuses = bytes(b"A"[0] if fault == CLEAN else b"U"[0] if fault == NOT_ASKED else b"R"[0] for fault in found)
        if single:
            return statuses + (column([found[0]]) + details[:1] + b"\xff" if statuses == b"R" else b"")
        numbers = column(fault if fault != NOT_ASKED else 0 for fault in found)
        return b"".join((statuses, numbers, details, statuses.translate(_INCOMPLETES)))

    def _faults_of(self, items: Sequence[bytes]) -> bytes:
        first, items = 0, list(items)
        while first < len(items):
            many = len(items) > _FEW  # a few are asked again to check that the answer is stable
            leave_out = frozenset(step for step, deaths in self._dead.items() if many and deaths >= ENOUGH)
            leave_out |= self._not_after
            try:
                self._ask(("G", items, first, leave_out))
                break
            except Died as died:
                first, step, detail = self._shared[:3]
                if step == AFTER:  # the other input is asked in its own turn
                    self._not_after = frozenset((AFTER,))
                    self._start()
                    continue
                if step == WRITABLE or os.WIFEXITED(died.status):
                    die(died.status)
                self._confirm(items[first], first, step, detail, died.status)
                first += 1
        return self._faults[: 2 * len(items)]

    def _confirm(self, octets: bytes, number: int, step: int, detail: int, status: int) -> None:
        """Confirm a fault: a new process that is asked nothing else dies at the same step."""
        self._start()
        try:
            self._ask(("1", [octets], number, step))
        except Died as died:
            if died.status == status and tuple(self._shared[:2]) == (number, step):
                self._dead[step] += 1
                if step != SLACK:
                    self._faults[2 * number : 2 * number + 2] = bytes((DEATHS[step], detail))
                self._start()
                return
        die(status)

    def _ask(self, question: tuple[Any, ...]) -> Any:
        """Raises: Died: the child did."""
        try:
            asks, answered = self._pipes
            _send(asks, question)
            return _receive(answered, self._has_ended)
        except OSError as error:
            raise Died(self._ending()) from error

    def _has_ended(self) -> bool:
        """True if the child has ended."""
        if self._status is None:
            self._end_what_hangs()
            ended, status = os.waitpid(self._child, os.WNOHANG)
            self._status = status if ended else None
        return self._status is not None

    def _end_what_hangs(self) -> None:
        """End an intermediate call that does not return. The harness ends other calls: it knows their inputs."""
        where = self._shared[Steps.ITEM], self._shared[Steps.STEP]
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
        leftovers = Leftovers()
        reply: Any = (child.operations, child.abi.units or "utf-32")
        while True:
            child.alone()
            leftovers.end()
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
            elif operation == "1":
                child.once_more(items[0], *rest)
            else:
                reply = child.answer(operation, items, rest[0], single=rest[1])


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
    """End in the same way as the child, so that the harness can name the signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)


def main() -> None:
    """Greet, then answer until the input ends."""
    import resource

    named = Named.of(sys.argv[1:])
    answers = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the library must not look like an answer
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # deaths are routine here: no core dumps
    parent = Parent(named, answers)
    operations, units = parent.ready
    offered = operations if operations == "Q" else f"{operations}G"
    greeting = {
        "overlong": 1,
        "name": f"{Path(named.library).name}:{','.join(named.symbols)}".encode("utf-8", "backslashreplace").decode(),
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

    answer_frames(greeting, offered, respond, answers)
    os._exit(0)  # the child sees the end of its input, and ends


if __name__ == "__main__":
    main()
