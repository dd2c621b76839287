"""Python started anew: the one place that knows how. Nothing is ever imported from the current folder by that.

A program that is named by its module has the current folder in front of the standard library, one that is named by its
file has the folder of that file there; ``-P`` (Python 3.11) leaves both out. An empty entry of ``PYTHONPATH`` means the
current folder, too: mostly it comes from ``PYTHONPATH=$PYTHONPATH:more``, and is an accident. Entries that say where
they are stay as the user gave them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

_PATH, _SAFE = "PYTHONPATH", "PYTHONSAFEPATH"
_OURS = "by overlong"
"""What the variable is set to, to be known again: Python takes any word for yes."""


def script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file."""
    return [sys.executable, "-P", str(file), *words]


def module(name: str, *words: str) -> list[str]:
    """The command line that runs a module."""
    return [sys.executable, "-P", "-m", name, *words]


def bare_script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file on the standard library alone, whatever the environment says."""
    return [sys.executable, "-I", "-S", str(file), *words]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str] | None:
    """What a process is to get: the environment with ``more``; None if that is this process's, as it is."""
    whole = {**os.environ, **(more or {})}
    path = without_empty_entries(whole.get(_PATH, ""))
    if path == whole.get(_PATH, ""):
        return whole if more else None
    return {**whole, _PATH: path}


def without_empty_entries(path: str) -> str:
    """A search path that does not mean the current folder without saying so."""
    return os.pathsep.join(filter(None, path.split(os.pathsep)))


@contextlib.contextmanager
def safe_for_children() -> Generator[None]:
    """Python that :mod:`multiprocessing` starts in here leaves the current folder out; it has no option for that.

    Such a process calls :func:`as_before` before it starts others.
    """
    before = {name: os.environ.get(name) for name in (_PATH, _SAFE)}
    if path := before[_PATH]:
        os.environ[_PATH] = without_empty_entries(path)
    if not before[_SAFE]:
        os.environ[_SAFE] = _OURS
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def as_before() -> None:
    """Let what this process starts have the environment that the user gave."""
    if os.environ.get(_SAFE) == _OURS:
        del os.environ[_SAFE]
