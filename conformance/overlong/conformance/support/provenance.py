"""The origin of every result: its time, overlong's version, the platform, and the names and digests of what was used.

Time enters results only here. No name has a path of this machine: a path in the current folder becomes relative to it,
and any other is cut to its last part. The verifier has the file in the current folder, or names its place; the
certificate has its digest.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import time
from datetime import date
from pathlib import Path
from typing import overload

_FUNCTIONS, _ABI = ("so:", "wasm:"), "?abi="


def today() -> date:
    """The day of :func:`timestamp`."""
    return date.fromisoformat(timestamp().partition("T")[0])


def timestamp() -> str:
    """The present time, in UTC, in the format of RFC 3339; or the time in SOURCE_DATE_EPOCH."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdecimal() and len(epoch) < 12 else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def generator() -> str:
    """``overlong`` and its version."""
    from importlib.metadata import version

    return f"overlong {version('overlong')}"


def environment() -> dict[str, str]:
    """The platform, by the operating system's names."""
    return {"system": platform.system(), "machine": platform.machine()}


@overload
def portable(target: str) -> str: ...
@overload
def portable(target: tuple[str, ...]) -> tuple[str, ...]: ...
def portable(target: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """The name of a target, or the words of a command, without absolute paths; unchanged if it has none."""
    if not isinstance(target, str):
        return tuple(_program(word) if place == 0 else _word(word) for place, word in enumerate(target))
    target = one_spelling(target)
    if target.startswith("-- "):
        return f"-- {_words(target[3:])}"
    kind, _, rest = target.partition(":")
    if kind == "py":
        return f"py:{_path(rest)}"
    if target.startswith(_FUNCTIONS):
        place, mark, convention = rest.partition(_ABI)
        if convention.startswith("py:"):
            convention = f"py:{_path(convention.removeprefix('py:'))}"
        return f"{kind}:{_in_a_folder(_path(place), place)}{mark}{convention}"
    if kind == "answers":
        return f"answers:{_path(rest)}"
    if kind.partition("[")[0] == "cmd":
        return f"{kind}:{_words(rest)}"
    return target


def one_spelling(target: str) -> str:
    """The name of a target without spaces in its ABI: ``bool(ptr, len)`` is ``bool(ptr,len)``."""
    place, mark, convention = target.partition(_ABI)
    if not place.startswith(_FUNCTIONS) or convention.startswith("py:"):  # a file's name may have spaces
        return target
    abi, more, traits = convention.partition("&")  # words of a trait have spaces: nul=ends the string
    return f"{place}{mark}{''.join(abi.split())}{more}{traits}"


def portable_file(path: Path) -> str:
    """A file's name in a certificate: relative to the current folder if it lies there, else its last part."""
    whole, here = Path(os.path.abspath(path)), Path.cwd()  # noqa: PTH100 (links stay)
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) and whole != here else whole.name


def sha256_of(path: Path) -> str:
    """The digest of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _words(text: str) -> str:
    """The words of a command, split as by a shell; the text itself if no word changes."""
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        return text
    return text if portable(words) == words else shlex.join(portable(words))


def _word(word: str) -> str:
    """A word of a command: a path, or an option with a path after its equals sign."""
    option, equals, path = word.partition("=")
    return f"{option}={_path(path)}" if equals and option.startswith("-") else _path(word)


def _program(word: str) -> str:
    """The first word of a command; its name alone is enough if the PATH leads to it."""
    short = _path(word)
    found = shutil.which(short) if short != word and "/" not in short else None
    return short if found == word else _in_a_folder(short, word)


def _in_a_folder(short: str, path: str) -> str:
    return f"./{short}" if short != path and "/" not in short else short


def _path(path: str) -> str:
    """A path, perhaps with a colon and more text; devices stay, since they are the same everywhere."""
    if not os.path.isabs(path) or re.match("/dev(/|$)", path):  # noqa: PTH117 (a word, which need not be a path)
        return path
    plain = os.path.normpath(path)
    here = str(Path.cwd())
    if plain.startswith(here.rstrip(os.sep) + os.sep):
        return Path(plain).relative_to(here).as_posix()
    return re.split(r"[/\\]", plain)[-1]
