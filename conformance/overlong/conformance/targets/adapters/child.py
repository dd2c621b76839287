"""Calls the functions of a shared library, in the process that it is in: a child of an adapter."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters.abi import (
    ABIS,
    INCOMPLETES,
    ITERATE,
    OUTSIDE,
    QUESTION_ABIS,
    REFUSED,
    TAILS,
    UNIT,
    Abi,
    AnswerReading,
    columns_of,
    question_abi,
    within,
)
from overlong.conformance.targets.adapters.bounds import AFTER, DEATHS, ITEM, NEUTRAL, PAD, SLACK, Bounds, Memory
from overlong.conformance.targets.adapters.native import (
    Streams,
    address_of,
    alone,
    bound,
    by_python,
    converted,
    encoded,
    function_in,
    numbers_given,
    units_of,
)
from overlong.conformance.targets.adapters.python import ENCODES, load, room_for
from overlong.conformance.targets.adapters.serving import cut, fail, read_as_text, unbatched, units
from overlong.reference.core import NoCore
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Sequence

    from overlong.conformance.targets.adapters.in_core import Answers
    from overlong.reference.questions import Question

if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

PYTHON = "py"
"""The name of the escape hatch, in place of an ABI's name."""
_ROOM = 16  # units for a stream's output at its end
_READ = 1 << 26  # octets of a library that are searched for a symbol's name
_ALIKE = 4
_WORD = 8
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
        """The words of a command line that ``targets/commands.py`` has checked."""
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
        self._addresses: Sequence[int] = ()
        try:
            library = ctypes.CDLL(named.library)
            if named.python is not None:
                self.abi = _PLAIN
                self._call = by_python(load(*named.python), function_in(library, named.symbols[0]))
            elif named.abi in QUESTION_ABIS:
                self.abi = question_abi(named.abi)
                function = function_in(library, named.symbols[0], self.abi.parameters, self.abi.result)
                self._call, self._addresses = bound(self.abi, function), [address_of(function)]
            elif ABIS[named.abi].functions:
                self.abi = ABIS[named.abi]
                self._streams = Streams(self.abi, library, named.symbols)
                self._call = self._streams.whole
                self._addresses = [address_of(function_in(library, symbol)) for symbol in named.symbols[:4]]
            else:
                self.abi = ABIS[named.abi]
                self._function = function_in(library, named.symbols[0], self.abi.parameters, self.abi.result)
                self._call, self._addresses = bound(self.abi, self._function), [address_of(self._function)]
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
            operation = ENCODES.get(QUESTION_ABIS[named.abi].name, "") if "encode_errors" in named.traits else ""
            self.operations = f"QK{operation}"
        if self._streams is not None:
            stream, again = ("T", "M") if named.replaces else ("S", "N")
            self.operations += stream if self._streams.reset is None else stream + again
        self._bounds = Bounds(self._call_alone, self.abi, self._unit, self._memory, shared)

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
        others |= {each: partial(self._encoded, each) for each in "EFZ"}
        ask: Callable[[bytes, bool], tuple[AnswerReading, Marks]] = others.get(operation, self._one)
        if not plain and plain is not None and operation in "VD" and not self._unit:
            readings = self._judged(items)
            return self._response(readings, (), single=single)
        readings, marks = list[AnswerReading](), list[Marks]()
        for number, octets in enumerate(items):
            self._item[ITEM] = number
            reading, marked = ask(octets, plain is None or number in plain)
            readings.append(reading)
            marks.append(marked)
        return self._response(readings, marks, single=single)

    def answer_in_core(self, payload: bytes) -> bytes:
        """The core's response to a batch of an ordinary operation, each input right before a guard.

        Empty if there is no core.
        """
        try:
            answers = self._answers
        except NoCore:
            return b""
        statuses, numbers, output = answers.to(payload)
        incompletes = statuses.translate(INCOMPLETES)
        return b"".join((statuses, numbers, bytes(len(statuses)), incompletes, *output))

    @cached_property
    def _answers(self) -> Answers:
        from overlong.conformance.targets.adapters.in_core import Answers, address

        item = address(self._item) + _WORD * ITEM
        return Answers(self.abi, address_of(self._function), self._memory, item)

    def answer_together(self, operation: str, items: Sequence[bytes], threads: int) -> bytes:
        """The response to a batch that several threads answer at once; nothing if the core cannot call it so."""
        readings = [AnswerReading("U")] * len(items)
        if self._addresses and operation in "VDLQ":
            from overlong.conformance.targets.adapters.in_core import answers_together

            with suppress(NoCore):
                question = QUESTION_ABIS.get(self.abi.name)
                readings = answers_together(self.abi, self._addresses, question, items, threads)
        return self._response(readings, (), single=False)

    def examine(self, items: Sequence[bytes], first: int, leave_out: frozenset[int]) -> None:
        """Write the faults and details of the items from ``first`` on into memory for the parent."""
        for number in range(first, len(items)):
            self._item[ITEM] = number
            bounds, text = self._bounds_of(items[number])
            self._faults[2 * number : 2 * number + 2] = bytes(bounds.examine(text, leave_out))

    def once_more(self, octets: bytes, number: int, step: int) -> None:
        """Repeat only the step that killed a process. A second death at it confirms the cause."""
        self._item[ITEM] = number
        bounds, text = self._bounds_of(octets)
        if step == SLACK:
            self._faults[2 * number : 2 * number + 2] = bytes(bounds.changes(text))
            bounds.slack(text)
        else:
            bounds.examine(text, frozenset((*DEATHS, AFTER)) - {step})

    def _bounds_of(self, octets: bytes) -> tuple[Bounds, bytes]:
        """What examines the calls for an input, or for a question, and the octets that the function gets."""
        question = QUESTION_ABIS.get(self.abi.name)
        if question is None:
            return self._bounds, octets
        argument = int.from_bytes(octets[1:5], "big")
        return self._bounds.of_question(question, argument), units_of(question, octets[5:])

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
        memory, call, item, place = self._memory, self._call, self._item, ITEM
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

        Guards would tell more, but each death of a process costs as much as a thousand questions: see :meth:`examine`.
        """
        assert plain, "no question is asked between guards"
        question = QUESTION_ABIS[self.abi.name]
        return self._answered(question, units_of(question, payload[5:]), int.from_bytes(payload[1:5], "big")), ()

    def _encoded(self, operation: str, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        """What an encoder writes, of any numbers, that has room for it."""
        assert plain, "no encoder is asked between guards"
        question = QUESTION_ABIS[self.abi.name]
        units = numbers_given(question, operation, payload)
        if units is None:
            return REFUSED, ()
        count = len(units) // FORMS[question.given].size
        return encoded(question, self._answered(question, units, room_for(count)), count), ()

    def _answered(self, question: Question, octets: bytes, argument: int) -> AnswerReading:
        """The answer that it gives twice, with other octets around its input."""
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
        return reading

    def _stream(self, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        return self._streamed([payload], plain=plain)

    def _again(self, payload: bytes, plain: bool) -> tuple[AnswerReading, Marks]:  # noqa: FBT001
        end = 4 + int.from_bytes(payload[:4], "big")
        return self._streamed([payload[4:end], payload[end:]], plain=plain)

    def _streamed(self, payloads: Sequence[bytes], *, plain: bool) -> tuple[AnswerReading, Marks]:
        """The answer to the last of some streams, for which one state is reset."""
        streams = self._streams
        assert streams is not None
        state = streams.new()
        self.alone()
        answer: tuple[AnswerReading, Marks] = AnswerReading("X", text="it made no state"), ()
        if not state:
            return answer
        try:
            for number, payload in enumerate(payloads):
                if number:
                    streams.reset(state)
                    self.alone()
                answer = self._fed(state, payload, plain=plain)
            return answer
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
        for number, length in enumerate(lengths, 1):
            address = self._placed(payload[place : place + length], plain=plain)
            place += length
            out = self._memory.output.start + PAD
            calls = [(partial(streams.feed, state, address, length, out), self.abi.room(length))]
            if number == count:
                calls.append((partial(streams.finish, state, out), _ROOM))
            for call, room in calls:
                self._poison(room)
                written = call(room)
                self.alone()
                if written < 0:
                    return REFUSED, (number,)
                if written > room:
                    return within(room, AnswerReading("A", written)), ()
                output.append(self._written(written))
                total += written
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

    def _response(self, readings: Sequence[AnswerReading], marks: Sequence[Marks], *, single: bool) -> bytes:
        """The columns of a batch; or the status and payload of one answer."""
        columns = columns_of(readings, self._size, marks=marks)
        return unbatched(columns) if single else b"".join(columns)


def _near(library: str, symbol: str) -> str:
    """A suggestion for an error message: a similar name in the library's symbol tables."""
    from overlong.conformance.support.printable import nearest

    try:
        with open(library, "rb") as file:  # noqa: PTH123 (the loader's name for it is no path of ours)
            names = re.findall(rb"(?<=\0)[A-Za-z_][A-Za-z0-9_.$]{0,99}(?=\0)", file.read(_READ))
    except OSError:
        return ""
    alike = {name.decode() for name in names if abs(len(name) - len(symbol)) < _ALIKE}
    close = nearest(symbol, alike)
    return f"; did you mean {close[0]}?" if close else ""
