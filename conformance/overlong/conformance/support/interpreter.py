"""Starts new Python processes, which never import from the current folder. No other module starts Python.

For a program started as a module, Python puts the current folder before the standard library; for a file, it puts that
file's folder there. ``-P`` (Python 3.11) leaves both out. An empty entry of ``PYTHONPATH`` means the current folder,
too: mostly it comes from ``PYTHONPATH=$PYTHONPATH:more``, and is an accident. All other entries stay as the user gave
them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

_OPTIONS, _BARE = ("-P",), ("-I", "-S")
_PATH, _SAFE = "PYTHONPATH", "PYTHONSAFEPATH"
_OURS = "by overlong"
"""The value of the variable, by which overlong recognises its own setting: Python takes any word for yes."""


def script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file."""
    return [sys.executable, *_OPTIONS, str(file), *words]


def module(name: str, *words: str) -> list[str]:
    """The command line that runs a module."""
    return [sys.executable, *_OPTIONS, "-m", name, *words]


def bare_script(file: str | Path, *words: str) -> list[str]:
    """The command line that runs a file with the standard library only, whatever the environment says."""
    return [sys.executable, *_BARE, str(file), *words]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str] | None:
    """The environment for a new process, with ``more``; None if it equals the environment of this process."""
    whole = {**os.environ, **(more or {})}
    path = without_empty_entries(whole.get(_PATH, ""))
    if path == whole.get(_PATH, ""):
        return whole if more else None
    return {**whole, _PATH: path}


def without_empty_entries(path: str) -> str:
    """A search path without empty entries, which would mean the current folder."""
    return os.pathsep.join(filter(None, path.split(os.pathsep)))


@contextlib.contextmanager
def safe_for_children() -> Generator[None]:
    """In this context, processes that :mod:`multiprocessing` starts do not import from the current folder.

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
    """Restore the user's environment, for the processes that this one starts."""
    if os.environ.get(_SAFE) == _OURS:
        del os.environ[_SAFE]
