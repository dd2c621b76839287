"""A decoder that ships with an adapter: its requirements, its installed version, and its command."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ADAPTERS = Path(__file__).parent / "adapters"
ELSEWHERE = os.path.abspath(os.sep)  # noqa: PTH100 (a word of a command)
"""A folder for programs that read code or settings from their current folder: compilers, rustup, Go, Erlang."""
_ASK_SECONDS = 10.0  # for a version: virtual machines are slow to start


@dataclass(frozen=True)
class Builtin:
    """A decoder that ships with an adapter. Nothing is built, fetched or started before it is needed."""

    name: str
    language: str
    what: str
    missing: Callable[[], str]
    """Packages to install to use it here; empty if none."""
    command: Callable[[], list[str]]
    """Returns its command; builds the program first if necessary."""
    version: Callable[[], str] = lambda: ""
    """The installed version, found without building anything; empty if only the greeting has it."""
    folder: str | None = None
    """The folder to start it in, if not the current one."""
    fetches: str = ""
    """Packages fetched from a registry on first use; empty if none."""


def python_command(place: str, name: str, *said: str) -> list[str]:
    """The command of a Python decoder's worker; ``said``: its mode and its traits, ``MEMBER=WORD`` each."""
    return script(ADAPTERS / "python.py", place, name, *said)


def python_words(command: Sequence[str]) -> list[str]:
    """The arguments of a Python decoder's worker: place, name, mode and traits; empty for other workers."""
    adapter = str(ADAPTERS / "python.py")
    return list(command[command.index(adapter) + 1 :]) if adapter in command else []


def found(program: str) -> str:
    """The path of a program that is known to exist."""
    path = shutil.which(program)
    assert path is not None, "asked only when nothing is missing"
    return os.path.abspath(path)  # noqa: PTH100 (it may be started elsewhere)


def not_on_path(programs: str | tuple[str, ...], install: str) -> str:
    """Packages to install; empty if the programs exist."""
    missing = [each for each in ((programs,) if isinstance(programs, str) else programs) if not shutil.which(each)]
    if not missing:
        return ""
    return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on PATH; install {install}"


@lru_cache(maxsize=64)
def said(*command: str, folder: str | None = None) -> str:
    """The first line of a command's output, such as that of ``--version``, safe to show; empty if it fails.

    ``folder``: the folder to run it in, if not the current one.
    """
    try:
        asked = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (asked.stdout or asked.stderr).decode("utf-8", "backslashreplace").strip().splitlines()
    return printable(lines[0].strip(), 60) if lines and asked.returncode == 0 else ""
