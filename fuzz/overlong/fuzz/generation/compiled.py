# pyright: basic
"""Inputs by number, compiled by Numba from the source that Python runs (:mod:`.choice`).

In your own loop, any function that Numba compiles may call ``write_input(index, tables, out)``. It writes input number
``index`` at address ``out`` and returns its length in octets (at most ``LONGEST``). It may overwrite up to ``REACH``
octets from ``out`` on, so there must be room for them. ``tables`` is ``Writer(tables).address``: the address of the
cells, as ``Generated(…).writer`` keeps them alive. Each thread needs its own writer. A module that caches machine code
on disk depends on :func:`sources`, too.
"""

from __future__ import annotations

from array import array
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from overlong.conformance.targets.adapters.compiled import WORD
from overlong.conformance.targets.adapters.compiled.cached import Compiled
from overlong.conformance.targets.adapters.compiled.memory import copy, load8, load64, store32, store64
from overlong.fuzz.generation import choice, memory
from overlong.fuzz.generation.choice import REACH, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.generation.tables import Tables

_LONG = 128
"""The least octets for which a copying call pays."""
_BEFORE = 2
"""Cells before the table: the addresses of the pool and of the spare memory."""
_TAKEN = 1 << 16
"""The most inputs to write at a time into columns."""


def _cell(table: int, place: int) -> int:
    return load64(table + (place << 3))  # type: ignore[no-any-return]


def _product_intrinsic(_context: Any, _one: Any, _other: Any, _more: Any) -> tuple[Any, Callable[..., Any]]:
    def emit(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        word = ir.IntType(64)  # Numba takes signed products not to wrap, and would drop a mask
        return builder.and_(builder.add(builder.mul(given[0], given[1]), given[2]), word((1 << 63) - 1))

    return types.int64(types.int64, types.int64, types.int64), emit


_wrapping: Any = intrinsic(_product_intrinsic)


def _product(one: int, other: int, more: int) -> int:
    return _wrapping(one, other, more)  # type: ignore[no-any-return]


def _octet_at(octets: int, place: int) -> int:
    return load8(octets + place)  # type: ignore[no-any-return]


def _copy(to: int, at: int, source: int, start: int, count: int) -> None:
    if count > _LONG:
        copy(to + at, source + start, count)
        return
    done = 0
    while done < count:
        store64(to + at + done, load64(source + start + done))
        done += WORD


def _write_word(to: int, at: int, word: int) -> None:
    store64(to + at, word)


def _stands_for(function: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    """Make compiled code call one function where its source names the other."""
    overload(function, strict=False)(lambda *_: compiled)


for _part in choice.PARTS:
    register_jitable(_part)
_stands_for(memory.cell, _cell)
_stands_for(memory.product, _product)
_stands_for(memory.octet_at, _octet_at)
_stands_for(memory.copy, _copy)
_stands_for(memory.write_word, _write_word)


@register_jitable
def write_input(index: int, tables: int, out: int) -> int:
    """Write input number ``index`` at an address; return its length in octets. See the top of this module."""
    before = tables - _BEFORE * WORD
    return write(index, tables, load64(before), out, load64(before + WORD))


@cache
def sources() -> tuple[Path, ...]:
    """The source files of the compiled code."""
    return tuple(sorted(Path(__file__).parent.glob("*.py")))


class Writer:
    """Tables in memory for compiled code."""

    def __init__(self, tables: Tables) -> None:
        self._pool = np.frombuffer(tables.pool, np.uint8)
        self._spare = np.empty(3 * REACH, np.uint8)
        head = (self._pool.ctypes.data, self._spare.ctypes.data)
        self._cells = np.array((*head, *tables.cells), np.int64)
        self.address = int(self._cells.ctypes.data) + _BEFORE * WORD
        """The argument of :func:`write_input`."""

    def columns(self, first: int, count: int) -> tuple[array[int], bytes]:
        """A number of inputs from ``first`` on: the length of each in octets, and all octets in a row."""
        lengths, octets, done = np.empty(count, np.uint32), list[bytes](), 0
        room = np.empty(REACH + 32 * min(count, _TAKEN), np.uint8)
        cells = np.empty(2, np.int64)
        while done < count:
            into = room.ctypes.data, len(room), lengths[done:].ctypes.data, cells.ctypes.data
            _writing()(self.address, first + done, min(count - done, _TAKEN), *into)
            made, size = cells.tolist()
            octets.append(room[:size].tobytes())
            done += made
        column = array("I")
        column.frombytes(lengths.tobytes())
        return column, octets[0] if len(octets) == 1 else b"".join(octets)


def _write_all(
    _nothing: Any, tables: int, first: int, count: int, out: int, room: int, lengths: int, made: int
) -> None:
    """Write inputs one after another while there is room; return their number and their octets."""
    at = done = 0
    while done < count and at + REACH <= room:
        length = write_input(first + done, tables, out + at)
        store32(lengths + 4 * done, length)
        at += length
        done += 1
    store64(made, done)
    store64(made + WORD, at)


@cache
def _writing() -> Compiled:
    return Compiled("write_all", 7, lambda: (_write_all, None), *sources())
