# pyright: basic
"""The loop of ``answers.py``, for Numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from overlong.conformance.targets.adapters.bounds import NEUTRAL
from overlong.conformance.targets.adapters.compiled import ACCEPTED, BROKEN
from overlong.conformance.targets.adapters.compiled.calls import call_once, read
from overlong.conformance.targets.adapters.compiled.memory import (
    below,
    copy,
    fields,
    fill,
    load32,
    store8,
    store32,
    store64,
    unlikely,
)
from overlong.conformance.targets.adapters.compiled.task import AnswersTask

_POISON = 0xAA
get, put = fields(AnswersTask._fields)


def _number_of(_context: Any, _address: Any) -> tuple[Any, Any]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [])
        return builder.zext(builder.call(builder.inttoptr(given[0], function.as_pointer()), ()), ir.IntType(64))

    return types.int64(types.int64), emit


_call_for_int: Any = intrinsic(_number_of)
"""The result of a C function without parameters, a non-negative int."""


def answering(unit: int, *, terminated: bool) -> Any:
    """The loop for a convention with output units of that many octets; 0 for no output."""

    def answer(convention: Any, task: int) -> None:
        """Ask from ``next`` on; stop after a call that broke the convention, or forked."""
        count, lengths, item, cells = get(task, "inputs"), get(task, "lengths"), get(task, "item"), get(task, "cells")
        statuses, numbers, kept = get(task, "statuses"), get(task, "numbers"), get(task, "kept")
        function, out, octets, index = get(task, "function"), get(task, "out"), get(task, "octets"), get(task, "next")
        get_pid, process = get(task, "get_pid"), get(task, "process")
        while index < count:
            store64(item, index)
            length = load32(lengths + 4 * index)
            behind = get(task, "written")
            if terminated:
                behind -= 1
                store8(behind, 0)
            fill(behind - length - len(NEUTRAL), NEUTRAL[0], len(NEUTRAL))
            copy(behind - length, octets, length)
            octets += length
            room = get(task, "room") * length + get(task, "more")
            if unit:
                fill(out, _POISON, room * unit)
            address = get(task, "ends") - length - terminated
            returned, second, one, two = call_once(convention, function, address, length, out, room, cells)
            status, number = read(convention, returned, second, one, two, address, length)
            if unit and status == ACCEPTED:
                if unlikely(not below(number, room + 1)):
                    status = BROKEN
                else:
                    copy(kept, out, number * unit)
                    kept += number * unit
            store8(statuses + index, status)
            store32(numbers + 4 * index, number)
            index += 1
            if unlikely(status == BROKEN):
                put(task, "returned", returned)
                put(task, "second", second)
                put(task, "one", one)
                put(task, "two", two)
                break
            if unlikely(_call_for_int(get_pid) != process):
                break
        put(task, "octets", octets)
        put(task, "next", index)
        put(task, "kept", kept)

    return answer
