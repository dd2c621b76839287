"""Libraries: many functions under one name, which ``overlong certify`` tests in one run.

A project defines its own in ``overlong.toml`` (``configured.py``); ``libraries.toml`` has those at hand. The function
``libglib/g_utf8_strlen`` is a target like any other. Functions that no ABI fits are called by ``adapters/calls.py``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.builtins import CLibrary
from overlong.conformance.targets.configured import configured, functions_in, set_up
from overlong.conformance.targets.packages import Project, fetched

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ADAPTERS / "calls.py"


@dataclass(frozen=True)
class Library:
    """A library at hand."""

    name: str
    what: str
    functions: dict[str, str]
    """The target of each function; ``{library}`` is the library's file, ``{version}`` the number in that."""
    missing: Callable[[], str]
    """What to install; empty if nothing."""
    file: Callable[[], str]
    """Its file; fetches and builds it if necessary. Empty if its functions need none."""

    def target(self, function: str) -> str:
        """The target of a function, as on the command line."""
        file = self.file()
        words = {"{library}": file, "{version}": file.rpartition(".so.")[2], "{calls}": str(CALLS)}
        target = self.functions[function]
        for word, value in words.items():
            target = target.replace(word, value)
        return target


@cache
def _linked(link: str) -> str:
    from ctypes.util import find_library  # most targets do not need it

    return find_library(link) or ""


def _not_linked(link: str, debian: str) -> str:
    return "" if _linked(link) else f"no lib{link} here; install it (Debian: apt install {debian})"


def _library(name: str, table: dict[str, Any]) -> Library:
    functions = dict(functions_in(f"libraries.toml: {name}", {"library": "{library}", "function": table["function"]}))
    missing, file = _found(table)
    return Library(name, table["what"], functions, missing, file)


def _found(table: dict[str, Any]) -> tuple[Callable[[], str], Callable[[], str]]:
    """What is missing for a library, and its file: the linker finds it, or it is compiled, or fetched and compiled."""
    match table:
        case {"link": link, "debian": debian}:
            return partial(_not_linked, link, debian), partial(_linked, link)
        case {"source": source, "of": of}:
            headers = CLibrary(**of)
            return headers.missing, partial(headers.shared, source)
        case {"project": words, "built": built}:
            project = Project.of(words)
            return project.missing, lambda: str(fetched(project) / built)
        case _:
            return str, str


@cache
def libraries() -> dict[str, Library]:
    """The libraries at hand, by their names."""
    tables = tomllib.loads((Path(__file__).parent / "libraries.toml").read_text("utf-8"))
    return {name: _library(name, table) for name, table in tables.items()}


def functions_of(name: str) -> tuple[str, ...]:
    """The targets of a library's functions; empty if no library has that name.

    Raises:
        UnknownTarget: the project's file cannot be read.
    """
    if ":" in name or "/" in name:
        return ()
    own = configured()
    if name in own:
        return own[name].of_functions(name)
    library = libraries().get(name)
    return tuple(f"{name}/{function}" for function in library.functions) if library else ()


def set_up_library(name: str) -> None:
    """Run the set-up commands of a library of the project, once for all its functions.

    Raises:
        TargetError: one fails.
    """
    own = configured()
    if name in own:
        set_up(name, own[name])


def at_hand(name: str) -> tuple[Library, str] | None:
    """The library at hand, and the function of it, that a target's name means; None if it means none."""
    library, mark, function = name.partition("/")
    found = libraries().get(library) if mark else None
    return (found, function) if found and function in found.functions else None
