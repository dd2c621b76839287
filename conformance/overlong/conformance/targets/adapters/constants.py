"""Finds the numbers that the code of a Python decoder names: thresholds of its fast paths are among them.

Runs in the worker, on the standard library alone. It reads code objects and dictionaries, and calls nothing.
"""

from __future__ import annotations

import sys
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEAST, GREATEST = 3, 1 << 20
"""The least and the greatest number that matters; longer strings are those of other plans."""
_MOST = 4096
"""The functions, classes and modules that are read: a decoder has few."""
_MOST_NUMBERS = 256
"""The numbers that are reported: a greeting is one line."""
_SMALL = 16
"""The most items of a tuple whose numbers may be thresholds: longer ones are tables."""
_WRAPPING = (staticmethod, classmethod, property)


def constants_of(found: Any) -> list[int]:
    """The integers, and the lengths of ``bytes``, that a decoder names or uses, ascending.

    That includes what it names of its own top-level package or its own file: functions, classes, and numbers of
    modules. Other packages do not count: their numbers are no thresholds of the decoder.
    """
    numbers, seen, todo = set[int](), set[int](), [found]
    owner = _top(found)
    while todo and len(seen) < _MOST:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        number = _number(each)
        if number is not None:
            numbers.add(number)
        todo += _parts(each, owner)
    return sorted(number for number in numbers if LEAST <= number <= GREATEST)[:_MOST_NUMBERS]


def _number(value: Any) -> int | None:
    if type(value) is int:
        return abs(value)
    return len(value) if type(value) in (bytes, bytearray) else None


def _top(found: Any) -> str:
    """The top-level package of a decoder; empty for a built-in one."""
    if isinstance(found, partial):
        return _top(found.func)
    name = getattr(found, "__module__", None) or type(found).__module__
    return name.partition(".")[0] if type(name) is str and name != "builtins" else ""


def _parts(each: Any, owner: str) -> Iterable[Any]:
    """What an object of the decoder's own names or holds."""
    kind = cast("type[object]", type(each))
    if isinstance(each, CodeType):
        return each.co_consts
    if kind in (tuple, frozenset):
        some = cast("tuple[Any, ...]", each)
        return some if len(some) <= _SMALL else ()
    if kind is MethodType:
        return (each.__func__, each.__self__)
    if isinstance(each, partial):
        return (each.func, *each.args, *each.keywords.values())
    if kind in _WRAPPING:
        return filter(None, (getattr(each, name, None) for name in ("__func__", "fget")))
    if kind is FunctionType:
        return _of_function(each) if _top(each) == owner else ()
    if isinstance(each, type):
        return (value for base in each.__mro__ if _top(base) == owner for value in list(vars(base).values()))
    if kind is not ModuleType and _top(kind) == owner:  # an object of a class of its own
        held = cast("dict[str, Any]", getattr(each, "__dict__", None))
        return (kind, *(held.values() if type(held) is dict else ()))
    wrapped = getattr(each, "__wrapped__", None) if kind.__module__ == "functools" else None
    return () if wrapped is None else (wrapped,)


def _of_function(function: FunctionType) -> Iterator[Any]:
    """Its code with its defaults, its cells, and what its code names among the globals of its module."""
    yield function.__code__
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty
            continue
    names = list(_names(function.__code__))
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if type(value) is ModuleType and _belongs(value, function.__globals__):
            yield from (vars(value)[other] for other in names if other in vars(value))
        else:
            yield value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if type(each) is CodeType:
            yield from _names(each)


def _belongs(module: ModuleType, other: dict[str, Any]) -> bool:
    """True if a module has the same top-level package as the module with these globals."""
    name, own = vars(module).get("__name__"), other.get("__name__")
    if type(name) is not str or type(own) is not str or name not in sys.modules:
        return False
    return name.partition(".")[0] == own.partition(".")[0]
