# pyright: basic
"""Access to memory by address, for compiled loops: one machine instruction each, without bounds checks or signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from overlong.conformance.targets.adapters.compiled import WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORD = ir.IntType(64)


def _loading(bits: int) -> Any:
    """A function that returns the unsigned number at an address."""

    def load(_context: Any, _address: Any) -> tuple[Any, Callable[..., Any]]:
        def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            kind = ir.IntType(bits)
            found = builder.load(builder.inttoptr(given[0], kind.as_pointer()), align=1)
            return found if bits == 64 else builder.zext(found, _WORD)

        return types.int64(types.int64), emit

    return intrinsic(load)


def _storing(bits: int, *, last: bool = False) -> Any:
    """A function that stores a number's low bits at an address; ``last``: after all other stores."""

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
"""A store that becomes visible only after all earlier stores."""


def fields(names: Sequence[str]) -> tuple[Any, Any]:
    """Functions for compiled code that get and put a named word among the words at an address.

    They take the address and a literal name; the second also takes the number.
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
"""Copy octets: the destination, the source, and their number."""


def _fill(_context: Any, _to: Any, _octet: Any, _count: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        octets = ir.IntType(8).as_pointer()
        filling = builder.module.declare_intrinsic("llvm.memset", [octets, _WORD])
        octet = builder.trunc(given[1], ir.IntType(8))
        builder.call(filling, (builder.inttoptr(given[0], octets), octet, given[2], ir.Constant(ir.IntType(1), 0)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


fill: Any = intrinsic(_fill)
"""Write an octet repeatedly, from an address on."""


def _hidden(_context: Any, _number: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.asm(ir.FunctionType(_WORD, [_WORD]), "", "=r,0", given, side_effect=False)

    return types.int64(types.int64), emit


hidden: Any = intrinsic(_hidden)
"""A number, hidden from the compiler's analysis.

For a loop's counter: the compiler would otherwise keep a pointer into each array, and save all of them around each
call.
"""


def _below(_context: Any, _number: Any, _limit: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.icmp_unsigned("<", *given)

    return types.boolean(types.int64, types.int64), emit


below: Any = intrinsic(_below)
"""True if 0 <= number < limit, for a non-negative limit: one unsigned comparison."""


def _unlikely(_context: Any, _condition: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        bit = ir.IntType(1)
        expecting = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
        return builder.call(expecting, (given[0], bit(0)))

    return types.boolean(types.boolean), emit


unlikely: Any = intrinsic(_unlikely)
"""The condition, marked as rare: the compiler moves the code for it away, and computes nothing for it in advance."""
