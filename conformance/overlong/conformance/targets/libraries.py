"""Libraries: many functions under one name, which ``overlong certify`` tests in one run.

A project defines its own in ``overlong.toml`` (``configured.py``); ``libraries.toml`` has those at hand. The function
``libglib/g_utf8_strlen`` is a target like any other. Functions that no ABI fits are called by ``adapters/calls.py``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.configured import configured, set_up
from overlong.conformance.targets.function_tables import functions_in

CALLS = ADAPTERS / "calls.py"


@dataclass(frozen=True)
class Library:
    """A library at hand."""

    name: str
    what: str
    debian: str
    """The Debian package that has it."""
    link: str
    """Its name for the linker; empty if its functions are targets that ship with an adapter."""
    functions: dict[str, str]
    """The target of each function; ``{library}`` is its file, ``{version}`` the number in that."""

    @property
    def file(self) -> str:
        """The file's name here; empty if it is not installed."""
        return _file(self.link)

    @property
    def missing(self) -> str:
        """The package to install; empty if none."""
        if not self.link or self.file:
            return ""
        return f"no lib{self.link} here; install it (Debian: apt install {self.debian})"

    def target(self, function: str) -> str:
        """The target of a function, as on the command line."""
        words = {"{library}": self.file, "{version}": self.file.rpartition(".so.")[2], "{calls}": str(CALLS)}
        target = self.functions[function]
        for word, value in words.items():
            target = target.replace(word, value)
        return target


@cache
def _file(link: str) -> str:
    from ctypes.util import find_library  # most targets do not need it

    return find_library(link) or ""


def _library(name: str, table: dict[str, str]) -> Library:
    functions = dict(functions_in(f"libraries.toml: {name}", {"library": "{library}", "function": table["function"]}))
    return Library(name, table["what"], table.get("debian", ""), table.get("link", ""), functions)


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
