# pyright: basic
"""Calls C functions by their address from compiled code, by any convention of ``abi.py``.

A :class:`Convention` is a type without data: code that gets one is compiled for that convention only. The ``Abi``
determines the types of the C function. This module implements the meaning of answers a second time, for numbers of
64 bits; tests keep that equal to :attr:`Abi.read`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import (
    intrinsic,
    models,
    overload,
    register_jitable,
    register_model,
)

from overlong.conformance.targets.adapters.abi import ABIS, ICU_OVERFLOW, ICU_REFUSALS, ITERATE, NOT_SAID, UNIT
from overlong.conformance.targets.adapters.compiled import ACCEPTED, BROKEN, REFUSED
from overlong.conformance.targets.adapters.compiled.memory import below, load32, load64, store32, store64, unlikely

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.targets.adapters.abi import Abi

    Call = Callable[..., tuple[int, int, int, int]]

CELL = 16
"""The octets from one cell to the next."""

_INT, _WORD, _OCTET = ir.IntType(32), ir.IntType(64), ir.IntType(8)
_POINTER = _OCTET.as_pointer()
_PARAMETER = {
    **dict.fromkeys(("ptr", "string", "out", "cell", "cell32", "state"), _POINTER),
    **dict.fromkeys(("len", "slen", "cap"), _WORD),
    **dict.fromkeys(("len32", "cap32"), _INT),
}
_RESULT = {
    "bool": _OCTET,
    "int": _INT,
    **dict.fromkeys(("size", "ssize"), _WORD),
    "ptr": _POINTER,
    "pair": ir.LiteralStructType((_WORD, _WORD)),  # two registers on x86-64 and AArch64; the int is half of the first
    "none": ir.VoidType(),
}
_PLACE = {"state": 0, "ptr": 1, "string": 1, "len": 2, "slen": 2, "len32": 2, "out": 3, "cap": 4, "cap32": 4}
_CELLS = 5


class Convention(types.Opaque):
    """The type of an empty parameter that determines how functions are called."""

    def __init__(self, abi_name: str) -> None:
        self.abi_name = abi_name
        super().__init__(f"Convention({abi_name})")

    @property
    def abi(self) -> Abi:
        return ABIS[self.abi_name]


register_model(Convention)(models.OpaqueModel)


def _run(_context: Any, _address: Any, _task: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        function = ir.FunctionType(ir.VoidType(), [_POINTER, _WORD])
        builder.call(builder.inttoptr(given[0], function.as_pointer()), (_POINTER(None), given[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


run: Any = intrinsic(_run)
"""Call the code compiled for a convention; it takes the convention, which is empty, and a number."""


def _calling(job: str) -> Any:
    """A call of a convention's function for ``job``: ``call``, or one of a stream's.

    It takes a convention, the function's address, and then the arguments that :data:`_PLACE` numbers; it returns the
    result, and the second number of a pair.
    """

    def call(
        _context: Any,
        convention: Any,
        _f: Any,
        _state: Any,
        _address: Any,
        _length: Any,
        _out: Any,
        _room: Any,
        _c: Any,
    ) -> tuple[Any, Callable[..., Any]]:
        abi: Abi = convention.abi
        parameters, result = {
            "new": ((), "ptr"),
            "finish": (("state", "out", "cap"), abi.result),
            "free": (("state",), "none"),
        }.get(job, (abi.parameters, abi.result))

        def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            values, cells = given[2:], 0
            passed = []
            for parameter in parameters:
                kind = _PARAMETER[parameter]
                if parameter in _PLACE:
                    value = values[_PLACE[parameter]]
                else:
                    value = builder.add(values[_CELLS], ir.Constant(_WORD, cells))
                    cells += CELL
                if kind is _POINTER:
                    value = builder.inttoptr(value, kind)
                passed.append(builder.trunc(value, kind) if kind is _INT else value)
            function = ir.FunctionType(_RESULT[result], [_PARAMETER[each] for each in parameters])
            found = builder.call(builder.inttoptr(given[1], function.as_pointer()), passed)
            second = ir.Constant(_WORD, 0)
            match result:
                case "bool":
                    returned = builder.zext(found, _WORD)
                case "int":
                    returned = builder.sext(found, _WORD)
                case "ptr":
                    returned = builder.ptrtoint(found, _WORD)
                case "pair":
                    returned = builder.sext(builder.trunc(builder.extract_value(found, 0), _INT), _WORD)
                    second = builder.extract_value(found, 1)
                case "none":
                    returned = second
                case _:
                    returned = found
            return context.make_tuple(builder, signature.return_type, (returned, second))

        pair: Any = types.UniTuple(types.int64, 2)  # type: ignore[no-untyped-call]
        return pair(convention, *[types.int64] * 7), emit

    return intrinsic(call)


_call, _new, _feed, _finish, _free = map(_calling, ("call", "new", "feed", "finish", "free"))

# The outcome of a call and its number, from: the result, the second of a pair, two cells, the address and the length.
# All are signed: a negative size_t is larger than any memory.


@register_jitable
def _refused_at(offset: int, length: int) -> tuple[int, int]:
    if unlikely(not below(offset, length)):
        return BROKEN, 0
    return REFUSED, offset


@register_jitable
def _true(returned: int, _second: int, _one: int, _two: int, _address: int, _length: int) -> tuple[int, int]:
    return (ACCEPTED, 0) if returned else (REFUSED, NOT_SAID)


@register_jitable
def _zero(returned: int, _second: int, _one: int, _two: int, _address: int, _length: int) -> tuple[int, int]:
    return (REFUSED, NOT_SAID) if returned else (ACCEPTED, 0)


@register_jitable
def _offset_or_length(returned: int, _second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    return (ACCEPTED, 0) if returned == length else _refused_at(returned, length)


@register_jitable
def _offset_or_minus1(returned: int, _second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    return (ACCEPTED, 0) if returned == -1 else _refused_at(returned, length)


@register_jitable
def _null(returned: int, _second: int, _one: int, _two: int, address: int, length: int) -> tuple[int, int]:
    return _refused_at(returned - address, length) if returned else (ACCEPTED, 0)


@register_jitable
def _pair(returned: int, second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    return _refused_at(second, length) if returned else (ACCEPTED, 0)


@register_jitable
def _end(returned: int, _second: int, end: int, _two: int, address: int, length: int) -> tuple[int, int]:
    if not returned:
        return _refused_at(end - address, length)
    if unlikely(end - address != length):
        return BROKEN, 0
    return ACCEPTED, 0


@register_jitable
def _written(returned: int, _second: int, _one: int, _two: int, _address: int, _length: int) -> tuple[int, int]:
    return (ACCEPTED, returned) if returned >= 0 else (REFUSED, NOT_SAID)


@register_jitable
def _written_or_zero(returned: int, _second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    return (ACCEPTED, returned) if returned or not length else (REFUSED, NOT_SAID)


@register_jitable
def _pair_written(returned: int, second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    return _refused_at(second, length) if returned else (ACCEPTED, second)


@register_jitable
def _icu(_returned: int, _second: int, written: int, status: int, _address: int, _length: int) -> tuple[int, int]:
    if status <= 0 or status == ICU_OVERFLOW:
        return ACCEPTED, max(written, 0)
    return (REFUSED, NOT_SAID) if status in ICU_REFUSALS else (BROKEN, 0)


@register_jitable
def _consumed(returned: int, _second: int, _one: int, _two: int, _address: int, length: int) -> tuple[int, int]:
    if returned < 0:
        return REFUSED, NOT_SAID
    return (ACCEPTED, returned) if 0 < returned <= length else (BROKEN, 0)


_READ = {
    ABIS[name].read: read
    for name, read in {
        "bool(ptr,len)": _true,
        "error(ptr,len)": _zero,
        "errpos(ptr,len)": _offset_or_length,
        "errpos-or-minus1(ptr,len)": _offset_or_minus1,
        "ptr-or-null(ptr,len)": _null,
        "result(ptr,len)": _pair,
        "glib(ptr,len,end)": _end,
        "utf8(ptr,len,out,cap)": _written,
        "utf8(ptr,len,out)": _written_or_zero,
        "utf8-result(ptr,len,out)": _pair_written,
        "icu(out,cap,outlen,ptr,len,status)": _icu,
        ITERATE.name: _consumed,
    }.items()
}


def read(convention: Any, returned: int, second: int, one: int, two: int, address: int, length: int) -> Any:
    """:attr:`Abi.read` of the convention, compiled: the outcome of a call, and its number."""
    return _READ[convention.abi.read](returned, second, one, two, address, length)


@overload(read, strict=False, jit_options={"forceinline": True})
def _read(convention: Any, returned: Any, second: Any, one: Any, two: Any, address: Any, length: Any) -> Any:  # noqa: ARG001
    means = _READ[convention.abi.read]

    return lambda convention, returned, second, one, two, address, length: means(  # noqa: ARG005
        returned, second, one, two, address, length
    )


def unit(convention: Any) -> int:
    """The octets of the convention's output unit; 0 if it has no output."""
    return UNIT.get(convention.abi.units, 0)


@overload(unit, strict=False, jit_options={"forceinline": True})
def _unit(convention: Any) -> Any:
    octets = unit(convention)
    return lambda convention: octets  # noqa: ARG005


_SAYS_OFFSETS = {_offset_or_length, _offset_or_minus1, _null, _pair, _end, _pair_written, _consumed}


def says_offsets(convention: Any) -> bool:
    """True if every refusal has an offset; otherwise none has."""
    return _READ[convention.abi.read] in _SAYS_OFFSETS


@overload(says_offsets, strict=False, jit_options={"forceinline": True})
def _says_offsets(convention: Any) -> Any:
    says = says_offsets(convention)
    return lambda convention: says  # noqa: ARG005


def ask(
    convention: Any, functions: tuple[int, ...], address: int, length: int, out: int, room: int, cells: int
) -> tuple[int, int]:
    """A whole answer: its outcome and its number; for an acceptance, the number is at most ``room``.

    Args:
        convention: that of the functions.
        functions: four addresses: that of the function; or a stream's ``new``, ``feed``, ``finish``, ``free``.
        address: that of the input.
        length: the octets of the input.
        out: the address of the output.
        room: the units that fit there.
        cells: the address of room for two cells.
    """
    return _asked(convention)(convention, functions, address, length, out, room, cells)


def _asked(convention: Any) -> Callable[..., tuple[int, int]]:
    """The code of :func:`ask` for a convention."""
    abi: Abi = convention.abi
    if abi is ITERATE:
        return _iterate
    if abi.functions:
        return _stream_of(UNIT[abi.units])
    return _once_with(bool(abi.units), *_cells_of(abi))


@overload(ask, strict=False, jit_options={"forceinline": True})
def _ask(
    convention: Any,
    functions: Any,  # noqa: ARG001
    address: Any,  # noqa: ARG001
    length: Any,  # noqa: ARG001
    out: Any,  # noqa: ARG001
    room: Any,  # noqa: ARG001
    cells: Any,  # noqa: ARG001
) -> Any:
    return _asked(convention)


def _cells_of(abi: Abi) -> tuple[bool, ...]:
    """For each of two cells, two bools: it holds a pointer; it holds an int32_t."""
    kinds = [parameter for parameter in abi.parameters if parameter in ("cell", "cell32")]
    return tuple(each in kinds[place : place + 1] for place in (0, 1) for each in ("cell", "cell32"))


def _once_with(puts_out: bool, *cells: bool) -> Callable[..., tuple[int, int]]:  # noqa: FBT001
    """The code of one call, given whether there is output, and the result of :func:`_cells_of`."""
    called = register_jitable(_called_with(*cells))

    def once(
        convention: Any, functions: tuple[int, ...], address: int, length: int, out: int, room: int, cells: int
    ) -> tuple[int, int]:
        returned, other, one, two = called(convention, functions[0], address, length, out, room, cells)
        status, number = read(convention, returned, other, one, two, address, length)
        if puts_out and status == ACCEPTED and unlikely(not below(number, room + 1)):
            return BROKEN, 0
        return status, number

    return once


def _called_with(first: bool, first32: bool, second: bool, second32: bool) -> Call:  # noqa: FBT001
    def called(
        convention: Any, function: int, address: int, length: int, out: int, room: int, cells: int
    ) -> tuple[int, int, int, int]:
        one = two = 0
        if first or first32:
            store64(cells, 0)
        if second or second32:
            store64(cells + CELL, 0)
        returned, other = _call(convention, function, 0, address, length, out, room, cells)
        if first:
            one = load64(cells)
        if first32:
            one = (load32(cells) ^ _SIGN) - _SIGN
        if second:
            two = load64(cells + CELL)
        if second32:
            two = (load32(cells + CELL) ^ _SIGN) - _SIGN
        return returned, other, one, two

    return called


def call_once(
    convention: Any, function: int, address: int, length: int, out: int, room: int, cells: int
) -> tuple[int, int, int, int]:
    """The results of one call, for :func:`read`: the result, the second of a pair, and the cells.

    For functions that answer in one call: no streams, and none that is called until the input ends.
    """
    return _called_with(*_cells_of(convention.abi))(convention, function, address, length, out, room, cells)


@overload(call_once, strict=False, jit_options={"forceinline": True})
def _call_once(
    convention: Any,
    function: Any,  # noqa: ARG001
    address: Any,  # noqa: ARG001
    length: Any,  # noqa: ARG001
    out: Any,  # noqa: ARG001
    room: Any,  # noqa: ARG001
    cells: Any,  # noqa: ARG001
) -> Any:
    return _called_with(*_cells_of(convention.abi))


_SIGN = 1 << 31


def _iterate(
    convention: Any,
    functions: tuple[int, ...],
    address: int,
    length: int,
    out: int,
    room: int,
    cells: int,  # noqa: ARG001
) -> tuple[int, int]:
    """One call for each code point, until the input ends."""
    offset = points = 0
    while offset < length:
        cell = out + 4 * points
        store32(cell, 0)
        returned, _ = _call(convention, functions[0], 0, address + offset, length - offset, out, room, cell)
        status, number = read(convention, returned, 0, 0, 0, 0, length - offset)
        if status != ACCEPTED:
            return (REFUSED, offset) if status == REFUSED else (BROKEN, 0)
        offset += number
        points += 1
    return ACCEPTED, points


def _stream_of(size: int) -> Callable[..., tuple[int, int]]:
    """The input as a stream of one chunk."""

    def stream(
        convention: Any, functions: tuple[int, ...], address: int, length: int, out: int, room: int, cells: int
    ) -> tuple[int, int]:
        state, _ = _new(convention, functions[0], 0, 0, 0, 0, 0, 0)
        if not state:
            return BROKEN, 0
        fed, _ = _feed(convention, functions[1], state, address, length, out, room, cells)
        status, number = REFUSED, NOT_SAID
        if fed > room:
            status, number = BROKEN, 0
        elif fed >= 0:
            ended, _ = _finish(convention, functions[2], state, 0, 0, out + fed * size, room - fed, 0)
            if ended > room - fed:
                status, number = BROKEN, 0
            elif ended >= 0:
                status, number = ACCEPTED, fed + ended
        _free(convention, functions[3], state, 0, 0, 0, 0, 0)
        return status, number

    return stream
