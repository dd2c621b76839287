# pyright: basic
"""Memory by its address, for compiled loops: one machine instruction each, with no bounds and no sign in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WORD = 8
"""Octets of a machine word."""
_WORD = ir.IntType(64)


def _loading(bits: int) -> Any:
    """A function of an address: the unsigned number there."""

    def load(_context: Any, _address: Any) -> tuple[Any, Callable[..., Any]]:
        def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            kind = ir.IntType(bits)
            found = builder.load(builder.inttoptr(given[0], kind.as_pointer()), align=1)
            return found if bits == 64 else builder.zext(found, _WORD)

        return types.int64(types.int64), emit

    return intrinsic(load)


def _storing(bits: int, *, last: bool = False) -> Any:
    """A function of an address and a number, whose low bits are stored there; ``last``: after all other stores."""

    def store(_context: Any, _address: Any, _number: Any) -> tuple[Any, Callable[..., Any]]:
        def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            kind = ir.IntType(bits)
            place = builder.inttoptr(given[0], kind.as_pointer())
            number = given[1] if bits == 64 else builder.trunc(given[1], kind)
            if last:
                builder.store_atomic(number, place, "release", bits // 8)
            else:
                builder.store(number, place, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), emit

    return intrinsic(store)


load8, load16, load32, load64 = map(_loading, (8, 16, 32, 64))
store8, store16, store32, store64 = map(_storing, (8, 16, 32, 64))
publish64 = _storing(64, last=True)
"""Whoever sees what it stores sees all that was stored before."""


def fields(names: Sequence[str]) -> tuple[Any, Any]:
    """Functions for compiled code that get and put a word of that name, of the words at an address.

    They take the address and a name as it stands in the source; the second takes the number, too.
    """

    def field(builder: Any, task: Any, name: str) -> Any:
        place = builder.add(task, task.type(WORD * names.index(name)))
        return builder.inttoptr(place, task.type.as_pointer())

    def get_field(_context: Any, _task: Any, name: Any) -> tuple[Any, Callable[..., Any]] | None:
        if not isinstance(name, types.StringLiteral):
            return None

        def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            return builder.load(field(builder, given[0], name.literal_value))

        return types.int64(types.int64, name), emit

    def put_field(_context: Any, _task: Any, name: Any, _number: Any) -> tuple[Any, Callable[..., Any]] | None:
        if not isinstance(name, types.StringLiteral):
            return None

        def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            builder.store(given[2], field(builder, given[0], name.literal_value))
            return context.get_dummy_value()

        return types.void(types.int64, name, types.int64), emit

    return intrinsic(get_field), intrinsic(put_field)


def _copy(_context: Any, _to: Any, _from: Any, _count: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        octets = ir.IntType(8).as_pointer()
        kinds = [octets, octets, _WORD]
        copying = builder.module.declare_intrinsic("llvm.memcpy", kinds)
        to, source = (builder.inttoptr(each, octets) for each in given[:2])
        builder.call(copying, (to, source, given[2], ir.Constant(ir.IntType(1), 0)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


copy: Any = intrinsic(_copy)
"""Copy so many octets, to an address and from one."""


def _fill(_context: Any, _to: Any, _octet: Any, _count: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        octets = ir.IntType(8).as_pointer()
        filling = builder.module.declare_intrinsic("llvm.memset", [octets, _WORD])
        octet = builder.trunc(given[1], ir.IntType(8))
        builder.call(filling, (builder.inttoptr(given[0], octets), octet, given[2], ir.Constant(ir.IntType(1), 0)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


fill: Any = intrinsic(_fill)
"""Write an octet so many times, from an address on."""


def _hidden(_context: Any, _number: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.asm(ir.FunctionType(_WORD, [_WORD]), "", "=r,0", given, side_effect=False)

    return types.int64(types.int64), emit


hidden: Any = intrinsic(_hidden)
"""The number, of which the compiler knows nothing.

Of a loop's counter: the compiler would keep a pointer into each array, and save them all around each call.
"""


def _below(_context: Any, _number: Any, _limit: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.icmp_unsigned("<", *given)

    return types.boolean(types.int64, types.int64), emit


below: Any = intrinsic(_below)
"""Whether 0 <= number < limit, which is not below zero: one comparison, without signs."""


def _unlikely(_context: Any, _condition: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        bit = ir.IntType(1)
        expecting = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
        return builder.call(expecting, (given[0], bit(0)))

    return types.boolean(types.boolean), emit


unlikely: Any = intrinsic(_unlikely)
"""The condition; code for when it holds is kept out of the way, and nothing is computed for it beforehand."""
