"""Answers of a shared library's function by the core in C: to a batch of inputs, and to several inputs at once.

A batch is asked one input after the other, each between guards. ``adapters/shared_library.py`` does the same by ctypes,
one input at a time. The order is the same here, at thirty times the speed.

Several threads ask at once, each another input, again and again, in rounds that all begin together; each answer is
compared with the one to the same input alone. Calls by ctypes would hardly ever overlap.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import time
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.targets.adapters.abi import (
    ITERATE,
    NOT_SAID,
    UNIT,
    Abi,
    AnswerReading,
    Called,
    big_endian,
    within,
)
from overlong.conformance.targets.adapters.bounds import NEUTRAL, PAD, Guarded
from overlong.conformance.targets.adapters.native import numbers_written, units_of
from overlong.reference.core import core
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.targets.adapters.bounds import Memory
    from overlong.reference.questions import Question


ACCEPTED, REFUSED, BROKEN = range(3)
"""The outcomes of a call; :func:`~overlong.conformance.oracle.target.answer_code` calls them ``A``, ``R`` and ``X``."""
_STATUSES = bytes.maketrans(bytes((ACCEPTED, REFUSED, BROKEN)), b"ARX")
_WORD = 8
_WIPE_ON_FORK = 18  # MADV_WIPEONFORK, which Python does not name
_WORDS = 1 << 64


class AnswersTask(NamedTuple):
    """The words of ``reference/core/answers.c``: numbers and addresses."""

    by: int
    functions: int
    """The address of the function's address."""
    octets: int
    """The address of the next input."""
    lengths: int
    """The address of the lengths of all inputs, each a u32."""
    next: int
    """The number of the next input."""
    inputs: int
    """The number of inputs."""
    item: int
    """The address for the number of the current input, which the process that watches this one reads."""
    written: int
    """The end of inputs, right before a guard: its writable address, and the address that the function sees."""
    ends: int
    before: int
    """The octet before an input, and how often it stands there."""
    times: int
    terminated: int
    """1 if an octet 00 ends an input."""
    unit: int
    """The octets of an output unit; 0: there is no output."""
    out: int
    room: int
    """The output units with room for each octet, and the additional units."""
    more: int
    cells: int
    statuses: int
    numbers: int
    kept: int
    """The address for the next kept output."""
    original: int
    """The address of :attr:`Answers._original`."""
    returned: int = 0
    """The results of the last call."""
    second: int = 0
    one: int = 0
    two: int = 0


class Answers:
    """Asks one function."""

    def __init__(self, abi: Abi, address: int, memory: Memory, item: int) -> None:
        """Prepare for one convention.

        Args:
            abi: a convention of one call for each input.
            address: that of the function.
            memory: the memory of inputs and output.
            item: the address of a word for the number of the current input.

        Raises:
            NoCore: there is no core in C.
        """
        assert abi is not ITERATE
        assert not abi.functions
        self._abi, self._memory, self._unit = abi, memory, UNIT.get(abi.units, 0)
        self._core, self._convention = core(), core().convention(abi.name)
        self._cells = Guarded(64, writable=True)
        self._original = _word_without_heirs()
        self._functions, self._item = array("q", [address]), item

    def to(self, payload: bytes) -> tuple[bytes, bytes, list[bytes]]:
        """Statuses, numbers and output of the response to a batch in its request format (docs/protocol.md)."""
        count = int.from_bytes(payload[:4], "big")
        lengths = array("I", payload[4 : 4 + 4 * count])
        _swap(lengths)
        self._memory.fit(max(lengths) + 1)
        memory, room = self._memory, self._abi.room
        more, each = room(0), room(1) - room(0)
        total = len(payload) - 4 - 4 * count
        statuses, numbers = bytearray(count), array("I", bytes(4 * count))
        kept = bytearray((each * total + more * count) * self._unit + _WORD)
        octets = ctypes.cast(ctypes.c_char_p(payload), ctypes.c_void_p).value or 0
        task = AnswersTask(
            by=self._convention,
            functions=address(self._functions),
            octets=octets + 4 + 4 * count,
            lengths=address(lengths),
            next=0,
            inputs=count,
            item=self._item,
            written=address(memory.input.view) + memory.input.size,
            ends=memory.input.end,
            before=NEUTRAL[0],
            times=len(NEUTRAL),
            terminated=self._abi.terminated,
            unit=self._unit,
            out=memory.output.start + PAD,
            room=each,
            more=more,
            cells=self._cells.start,
            statuses=address(statuses),
            numbers=address(numbers),
            kept=address(kept),
            original=address(self._original),
        )
        process = os.getpid()
        words = array("q", task)
        said: list[
            tuple[int, int, bytes]
        ] = []  # of breaches of the convention: the input, the output's offset, and the words
        while True:
            self._core("answer_inputs", address(words))
            told = AnswersTask(*words)
            if os.getpid() != process:
                os._exit(0)  # the function forked, and this is the fork
            if told.next and statuses[told.next - 1] == BROKEN:
                number = told.next - 1
                text = self._words(told, lengths[number])
                numbers[number] = len(text)
                said.append((number, told.kept - task.kept, text))
            if told.next == count:
                break
        _swap(numbers)
        output = self._output(kept, told.kept - task.kept, said)
        return bytes(statuses).translate(_STATUSES), numbers.tobytes(), output

    def _words(self, told: AnswersTask, length: int) -> bytes:
        """The fault in the last answer, in words."""
        abi, room = self._abi, self._abi.room(length)
        kinds = [each for each in abi.parameters if each in ("cell", "cell32")]
        cells = [
            value % _WORDS if kind == "cell" else value
            for kind, value in zip(kinds, (told.one, told.two), strict=False)
        ]
        signed = abi.result in ("bool", "int", "ssize", "pair")
        returned = told.returned if signed else told.returned % _WORDS
        address = self._memory.input.end - length - abi.terminated
        called = Called(returned, told.second % _WORDS, tuple(cells), address, length, room)
        return within(room, abi.read(called)).text.encode()

    def _output(self, kept: bytearray, size: int, said: Sequence[tuple[int, int, bytes]]) -> list[bytes]:
        """All output in big-endian units, with the words about breaches of the convention in their places."""
        parts, begin = list[bytes](), 0
        for _, end, text in said:
            parts += [big_endian(kept[begin:end], self._unit or 1), text]
            begin = end
        return [*parts, big_endian(kept[begin:size], self._unit or 1)]


def _word_without_heirs() -> mmap.mmap:
    """A page with a 1, which is 0 in forks of this process, if the system can do that (Linux).

    The loop reads it after each call: to ask for the process's number takes longer than most functions. Elsewhere, a
    fork is noticed when it has asked the rest of its batch.
    """
    if sys.platform == "win32":
        raise OSError("this system has no forks")
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page[0] = 1
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # before Linux 4.14, and in some emulators
            page.madvise(_WIPE_ON_FORK)
    return page


def address(memory: Any) -> int:
    """The address of a writable buffer; it is fixed for the buffer's lifetime."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _swap(numbers: array[int]) -> None:
    if sys.byteorder == "little":
        numbers.byteswap()


_ROUNDS, _ROUND_SECONDS, _MOST_CALLS = 2, 5e-3, 1 << 17
"""A round lasts longer than a thread runs at a time: where processors are few, another one then runs amid a call."""
_ENOUGH = 2.0  # seconds for a request: on a busy machine, threads wait long for one another
_CELLS = 32
_MASKS = {"bool": 0xFF, "size": (1 << 64) - 1}


class TogetherTask(NamedTuple):
    """The words of ``reference/core/threads.c``: numbers and addresses."""

    by: int
    functions: int
    octets: int
    length: int
    out: int
    room: int
    cells: int
    first: int
    second: int
    third: int
    mask: int
    unit: int
    watched: int
    right: int
    status: int = 0
    """Of the answer alone."""
    number: int = 0
    rounds: int = 1
    calls: int = 1
    threads: int = 1
    arrived: int = 0
    differs: int = 0
    found_status: int = 0
    found_number: int = 0
    kept: int = 0


class _Call:
    """One thread's call for one input, with its own memory."""

    def __init__(self, abi: Abi, functions: array[int], question: Question | None, payload: bytes) -> None:
        argument = 0 if question is None else int.from_bytes(payload[1:5], "big")
        octets = payload if question is None else units_of(question, payload[5:])
        size = 1 if question is None else FORMS[question.given].size
        unit = UNIT.get(abi.units, 0) if question is None else FORMS[question.written].size if question.written else 0
        room = abi.room(len(octets)) if question is None else argument if question.written else 0
        self._abi, self._question, self.length = abi, question, len(octets) // size
        self.input = bytearray(NEUTRAL + octets + bytes(64))
        self.output = bytearray(room * unit + _CELLS + 128)
        self.alone, self.other = bytearray(room * unit + _CELLS), bytearray(room * unit + _CELLS)
        self.address, out = address(self.input) + len(NEUTRAL), address(self.output) + _CELLS + 64
        places = {"n": argument, "cap": argument, "out": out}
        words = [places.get(each, address(self.output)) for each in abi.parameters[2:]] if question else []
        first, second, third = (*words, 0, 0, 0)[:3]
        self.words = array(
            "Q",
            TogetherTask(
                by=0 if question is not None else core().convention(abi.name),
                functions=address(functions),
                octets=self.address,
                length=self.length,
                out=out,
                room=room,
                cells=address(self.output),
                first=first,
                second=second,
                third=third,
                mask=_MASKS.get(abi.result, 0),
                unit=unit,
                watched=room * unit,
                right=address(self.alone),
                kept=address(self.alone),
            ),
        )
        core()("call_alone", address(self.words))

    def ready(self, threads: int, calls: int, arrived: array[int]) -> None:
        """Prepare for the calls beside others."""
        self._arrived = arrived  # it must outlive the calls
        task = TogetherTask(*self.words)
        task = task._replace(rounds=_ROUNDS, calls=calls, threads=threads, arrived=address(arrived))
        self.words[:] = array("Q", task._replace(kept=address(self.other)))

    def call(self) -> None:
        """Make the calls. Other threads run meanwhile."""
        core()("call_together", address(self.words))

    @property
    def reading(self) -> AnswerReading:
        """The first answer that differs from the one alone; if none does, that one."""
        task = TogetherTask(*self.words)
        kept, status, number = self.alone, task.status, task.number
        if task.differs:
            kept, status, number = self.other, task.found_status, task.found_number
        if self._question is None:
            if status == 0:
                return AnswerReading("A", number, output=bytes(kept[: number * task.unit]))
            if status == 1:
                return AnswerReading("R", min(NOT_SAID, number))
            return AnswerReading("X", text="it broke its convention")
        end = task.watched
        kinds = [each for each in self._abi.parameters if each in ("cell", "cell32")]
        cells = tuple(int.from_bytes(kept[end : end + (8 if kind == "cell" else 4)], sys.byteorder) for kind in kinds)
        returned = bool(number) if self._abi.result == "bool" else number
        read = self._abi.read(Called(returned, 0, cells, self.address, self.length, task.room))
        if not self._question.written or read.status != "A":
            return read
        if read.number > task.room:
            return AnswerReading("X", text=f"it says that it wrote {read.number} units into {task.room}")
        return numbers_written(self._question, kept, read)


def answers_together(
    abi: Abi, addresses: Sequence[int], question: Question | None, payloads: Sequence[bytes], threads: int
) -> list[AnswerReading]:
    """The answer to each input: one that differs from the answer alone, if any thread got such a one.

    Args:
        abi: how the function is called.
        addresses: that of the function; of a stream those of its functions.
        question: that it answers; None for a decoder.
        payloads: inputs, or questions as in the protocol.
        threads: so many inputs at the same time.

    Raises:
        NoCore: there is no core in C.
    """
    from concurrent.futures import ThreadPoolExecutor  # late: few targets need it, and it takes long to import

    functions, count = array("Q", addresses), len(payloads)
    read: dict[int, AnswerReading] = {}
    until = time.monotonic() + _ENOUGH
    with ThreadPoolExecutor(threads) as pool:
        for first in range(count):
            places = [(first + thread) % count for thread in range(threads)]
            group = [_Call(abi, functions, question, payloads[place]) for place in places]
            arrived = array("Q", [0])
            calls = _calls_of(group[0])
            for each in group:
                each.ready(threads, calls, arrived)
            if time.monotonic() < until:
                list(pool.map(_Call.call, group))
            for place, each in zip(places, group, strict=True):
                differs = TogetherTask(*each.words).differs
                if differs or place not in read:
                    read[place] = each.reading
    return [read[place] for place in range(count)]


def _calls_of(call: _Call) -> int:
    """The calls of a round."""
    seconds = 1.0
    for calls in (4, 64, 1024):
        call.ready(1, calls, array("Q", [0]))
        begun = time.perf_counter()
        call.call()
        seconds = (time.perf_counter() - begun) / (_ROUNDS * calls)
        if seconds * calls > _ROUND_SECONDS / 10:
            break
    return max(1, min(_MOST_CALLS, int(_ROUND_SECONDS / seconds)))
