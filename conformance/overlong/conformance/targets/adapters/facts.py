"""What a greeting says of a Python decoder: where it comes from, and the numbers that its code names.

It comes from a distribution, the standard library, or a user's file; the metadata may be wrong or missing. Among the
numbers are the thresholds of fast paths; code objects and dictionaries are read for them, and nothing is called.

Runs in the worker, on the standard library alone.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import Distribution

_SHOWN = 16
"""The shown digits of a digest: enough to distinguish files. A certificate has all digits."""
LEAST, GREATEST = 3, 1 << 20
"""The least and the greatest number that matters; longer strings are those of other plans."""
_MOST = 4096
"""The functions, classes and modules that are read: a decoder has few."""
_MOST_NUMBERS = 256
"""The numbers that are reported: a greeting is one line."""
_SMALL = 16
"""The most items of a tuple whose numbers may be thresholds: longer ones are tables."""
_WRAPPING = (staticmethod, classmethod, property)


def version_of(found: Any, place: str, interpreter: str) -> str:
    """``simplejson 4.3.0, CPython 3.11.7``: the package of a decoder, and the interpreter that runs it.

    Args:
        found: the decoder.
        place: the module or the file that the command line names.
        interpreter: its name and version; the whole result for decoders that belong to it or to this package.
    """
    own = place.endswith(".py")
    if own and _ships(place):
        return interpreter
    name = getattr(found, "__module__", None)
    if own and name in (None, Path(place).stem):
        return f"{_digest(place)}, {interpreter}"
    for each in (name, *([] if own else [place])):  # the defining module is more precise than the named one
        module = sys.modules.get(each) if isinstance(each, str) else None
        if module is not None and module.__name__.partition(".")[0] not in sys.stdlib_module_names:
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and (what := _distribution(module.__name__, file) or _digest(file)):
                return f"{what}, {interpreter}"
    return f"{_digest(place)}, {interpreter}" if own else interpreter


def _digest(file: str) -> str:
    import hashlib  # late, like the imports below: most decoders need none, and they double the start's cost

    try:
        with Path(file).open("rb") as opened:
            return f"sha256 {hashlib.file_digest(opened, 'sha256').hexdigest()[:_SHOWN]}"
    except OSError:
        return ""


def _distribution(module: str, file: str) -> str:
    """The name and version of the distribution that lists a file; empty if none does."""
    from importlib import metadata

    try:
        top = module.partition(".")[0]
        try:
            found = metadata.distribution(top)
        except metadata.PackageNotFoundError:
            found = None
        if found is None or not _holds(found, top, file):
            found = next((each for each in metadata.distributions() if _holds(each, top, file)), None)
        return "" if found is None else " ".join(f"{found.metadata['Name']} {found.version}".split())
    except Exception:  # noqa: BLE001 (metadata may be damaged in any way: then it says nothing)
        return ""


def _holds(found: Distribution, top: str, file: str) -> bool:
    """True if a distribution owns a file: by its record, its editable folder, or its module's name."""
    import json
    from urllib.parse import unquote, urlsplit

    direct: Any = json.loads(found.read_text("direct_url.json") or "{}")
    if direct.get("dir_info", {}).get("editable"):
        return Path(file).is_relative_to(unquote(urlsplit(str(direct["url"])).path))
    root = Path(str(found.locate_file("")))
    if not Path(file).is_relative_to(root):
        return False
    record = found.read_text("RECORD")
    if record is not None:
        return f"\n{Path(file).relative_to(root).as_posix()}," in f"\n{record}"
    return top in (found.read_text("top_level.txt") or "").split()


def _ships(place: str) -> bool:
    """True if it is a file of this folder."""
    return Path(place).resolve().is_relative_to(Path(__file__).resolve().parent)


def named_by(found: Any, place: str) -> list[int]:
    """The numbers that a decoder's code names; none for an adapter, whose code is no decoder."""
    if hasattr(found, "operations") or _ships(place):
        return []
    try:
        return constants_of(found)
    except Exception:  # noqa: BLE001 (the decoder's classes may raise what they like when they are looked at)
        return []


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
