"""The functions of a library in TOML: a table for each, with its symbol and ABI or the whole target.

.. code-block:: toml

    library = "build/libfoo.so"
    [[function]]
    symbol = "foo_cut"
    abi = "truncate(ptr,len,limit)&ill_formed=tails"
    [[function]]
    call = "py:foo.py:count?as=count-scalars"
    name = "count"                      # unless the symbol, or what is called, is name enough
"""

from __future__ import annotations

import re
from typing import Any, cast

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.support.printable import did_you_mean, printable

_KEYS = ("name", "symbol", "abi", "library", "call")
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_FORM = 'write symbol = "..." and abi = "...", or call = "..."'


def functions_in(where: str, table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The name and the target of each function in a library's table.

    Args:
        where: the file and the table, for messages.
        table: its ``function``, a list of tables, and its ``library``, the file for those that name none.

    Raises:
        UnknownTarget: a table is no function, or two have one name.
    """
    library = table.get("library", "")
    listed: Any = table.get("function", [])
    if not isinstance(library, str) or ("library" in table and "function" not in table):
        raise UnknownTarget(
            f"{where}.library is no file of functions; write library = '...', and [[...function]] tables"
        )
    if not isinstance(listed, list) or ("function" in table and not listed):
        raise UnknownTarget(f"{where}.function is no list of tables; {_FORM} in each")
    found: dict[str, str] = {}
    for number, each in enumerate(cast("list[object]", listed), 1):
        name, target = _function(f"{where}.function, number {number}", each, library)
        if name in found:
            raise UnknownTarget(f"{where}: two functions are {name}; give one another name = '...'")
        found[name] = target
    return tuple(found.items())


def _function(where: str, table: object, library: str) -> tuple[str, str]:
    said = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    if unknown := sorted(said.keys() - {*_KEYS}):
        raise UnknownTarget(f"{where}: there is no {printable(unknown[0])!r}; {did_you_mean(unknown[0], _KEYS)}")
    if not said or not all(isinstance(value, str) and value for value in said.values()):
        raise UnknownTarget(f"{where} is no table of strings; {_FORM}")
    words = cast("dict[str, str]", {"library": library, **said})
    if ("call" in words) == ("symbol" in words) or ("symbol" in words) != ("abi" in words):
        raise UnknownTarget(f"{where}: {_FORM}")
    if "symbol" in words and not words["library"]:
        raise UnknownTarget(f"{where}: write library = '...', the file of {printable(words['symbol'])}")
    call = words.get("call", "")
    name = words.get("name") or words.get("symbol", "").split(",")[0] or call.partition("?")[0].rpartition(":")[2]
    if not _NAME.fullmatch(name):
        raise UnknownTarget(f"{where}: name = {printable(name)!r}: write a name of letters, digits and any of _.+-")
    return name, call or f"so:{words['library']}:{words['symbol']}?abi={words['abi']}"
