"""Builds the core once for each version of its source, its compiler and kind of machine, and keeps it."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.reference.extra import install

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES = tuple(sorted(Path(__file__).parent.glob("*.[ch]")))
OPTIONS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden")
COMPILERS = ("cc", "gcc", "clang")
_BUILD_SECONDS = 120


class NotBuilt(Exception):
    """There is no core; the message is one line with the reason, and what helps."""


def cache(room: str) -> Path:
    """The folder of the user for what is built or fetched: a room of it."""
    from platformdirs import user_cache_path

    return user_cache_path("overlong").absolute() / room


def stamp(program: str) -> str:
    """A key that distinguishes versions of a program on PATH without running it."""
    status = Path(program).resolve().stat()
    return f"{program} {status.st_size} {status.st_mtime_ns}"


def publish(output: Path, finished: Path) -> None:
    """Rename a build in one step, so that no process sees half of it. Another process may build the same first."""
    try:
        output.replace(finished)
    except OSError:  # a non-empty folder, or a running program (Windows)
        if not finished.exists():
            raise


def build(output: Path, *options: str) -> None:
    """Build the core, with further options of the compiler.

    Raises:
        NotBuilt: there is no compiler, or it refuses the source.
    """
    _compile(_compiler(), output, options)


def built(folder: Path) -> Path:
    """The kept core, which is built first if there is none.

    Args:
        folder: an empty one, for a core that cannot be kept, or that others could have written. It may be removed once
            the core is loaded.

    Raises:
        NotBuilt: there is no compiler, or it refuses the source.
    """
    compiler = _compiler()
    finished = cache("core") / f"core-{_key(compiler)}.so"
    if _is_ours(finished):
        return finished
    try:
        finished.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="core-", dir=finished.parent) as place:
            _compile(compiler, Path(place, finished.name))
            publish(Path(place, finished.name), finished)
    except OSError:  # nothing can be kept there
        pass
    if _is_ours(finished):
        return finished
    _compile(compiler, folder / finished.name)
    return folder / finished.name


def _compiler() -> list[str]:
    """The first words of its command line.

    Raises:
        NotBuilt: there is none.
    """
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is not None:
        return [os.path.abspath(found)]  # noqa: PTH100 (links stay: what they are called by has a meaning)
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    where = "install gcc or clang (Debian: apt install gcc libc6-dev)"
    raise NotBuilt(f"there is no C compiler on PATH; {where}, or, {install('cc')}")


def _key(compiler: Sequence[str]) -> str:
    """A digest of everything that the core depends on."""
    zig = importlib.util.find_spec("ziglang") if len(compiler) > 1 else None
    program = compiler[0] if zig is None or zig.origin is None else zig.origin
    said = f"{compiler} {stamp(program)} {OPTIONS} {sys.platform} {platform.machine()}"
    octets = b"".join(path.read_bytes() for path in SOURCES)
    return hashlib.sha256(octets + said.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _is_ours(path: Path) -> bool:
    """True if a kept file is there, and nobody else could have written it."""
    try:
        states = [path.lstat(), path.parent.lstat()]
    except OSError:
        return False
    own = {os.geteuid(), 0} if sys.platform != "win32" else {0}
    alone = all(each.st_uid in own and not each.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for each in states)
    return alone and stat.S_ISREG(states[0].st_mode)


def _compile(compiler: Sequence[str], output: Path, options: Sequence[str] = ()) -> None:
    """Raises: NotBuilt: the compiler refuses, or cannot be started."""
    sources = [str(path) for path in SOURCES if path.suffix == ".c"]
    try:
        said = subprocess.run(
            [*compiler, *OPTIONS, *options, "-o", str(output), *sources],
            cwd=output.parent,  # linkers read files of their current folder
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"building the core failed: {error}") from error
    if said.returncode != 0:
        errors = [line for line in said.stderr.splitlines() if "error" in line] or said.stderr.splitlines() or [""]
        first = errors[0].encode("ascii", "backslashreplace").decode()
        raise NotBuilt(f"building the core failed: {compiler[0]}: {first}")
