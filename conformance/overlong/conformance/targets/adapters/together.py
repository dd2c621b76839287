"""Calls one function of a shared library in several threads at once, by the core in C.

Each thread gives it another input, again and again, in rounds that all begin together; each answer is compared with
the one to the same input alone. Calls by ctypes would hardly ever overlap.
"""

from __future__ import annotations

import sys
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.targets.adapters.abi import NOT_SAID, UNIT, Abi, AnswerReading, Called
from overlong.conformance.targets.adapters.bounds import NEUTRAL
from overlong.conformance.targets.adapters.converting import numbers_written, units_of
from overlong.conformance.targets.adapters.in_core import address
from overlong.reference.core import core
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.reference.questions import Question

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
    status: int
    """Of the answer alone."""
    number: int
    rounds: int
    calls: int
    threads: int
    arrived: int
    differs: int
    found_status: int
    found_number: int
    kept: int


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
                status=0,
                number=0,
                rounds=1,
                calls=1,
                threads=1,
                arrived=0,
                differs=0,
                found_status=0,
                found_number=0,
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
