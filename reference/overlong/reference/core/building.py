"""Builds the core once for each version of its source, its compiler and kind of machine, and keeps it.

The hook that builds wheels (``hatch_build.py``) loads this module alone: at first it imports nothing but Python's own.
"""

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
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SOURCES = tuple(sorted(Path(__file__).parent.glob("*.[ch]")))
OPTIONS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden")
COMPILERS = ("cc", "gcc", "clang")
ZIG = (sys.executable, "-P", "-m", "ziglang", "cc")
_OF_ZIG = ("-mcpu=baseline", "-s")  # by default it builds for this very processor
_BUILD_SECONDS = 240


class NotBuilt(Exception):
    """There is no core; the message is one line with the reason, and what helps."""


def install(extra: str) -> str:
    """How to install an extra of overlong: the remedy for a missing library, which messages put after its name.

    It names no package index: the name overlong is registered in none, so a stranger could take it.
    """
    return f"in a checkout of overlong: pip install '.[{extra}]'"


def cache(room: str) -> Path:
    """The folder of the user for what is built or fetched: a room of it.

    Raises:
        OSError: nobody says where this user's folders are.
    """
    from platformdirs import user_cache_path

    try:
        found = user_cache_path("overlong")
    except RuntimeError:
        found = Path("~")
    if found.parts[:1] == ("~",):
        raise FileNotFoundError("this user has no home folder: set HOME or XDG_CACHE_HOME")
    return found.absolute() / room


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


def shipped() -> Path:
    """Where a wheel of this system has the core that was built from this very source."""
    return Path(__file__).with_name(f"core-{_digest('')}.so")


def ready() -> Iterator[Path]:
    """What was built before: shipped with this source, or kept in a folder where nobody else can write."""
    if shipped().is_file():
        yield shipped()
    for compiler in _compilers():
        yield from filter(_is_ours, (folder / _name(compiler) for folder in _folders()))


def built(folder: Path) -> Path:
    """Build the core in an empty folder, and keep a copy where that is possible.

    Raises:
        NotBuilt: there is no compiler, or each refuses the source.
    """
    refused: list[NotBuilt] = []
    for compiler in _compilers():
        output = folder / _name(compiler)
        try:
            compiled(compiler, output)
        except NotBuilt as error:
            refused.append(error)
        else:
            _keep(output)
            return output
    raise _none_works(refused)


def build(output: Path, *options: str) -> None:
    """Build the core by the first compiler, with further options.

    Raises:
        NotBuilt: there is no compiler, or it refuses the source.
    """
    compiler = next(_compilers(), None)
    if compiler is None:
        raise _none_works([])
    compiled(compiler, output, options)


def compiled(compiler: Sequence[str], output: Path, options: Sequence[str] = ()) -> None:
    """Build the core by a compiler.

    Args:
        compiler: the first words of its command line.
        output: the file, in a folder that is there.
        options: further ones.

    Raises:
        NotBuilt: the compiler refuses, or cannot be started.
    """
    sources = [str(path) for path in SOURCES if path.suffix == ".c"]
    try:
        with tempfile.TemporaryDirectory(prefix="overlong-core-") as empty:
            said = quietly(
                [*compiler, *OPTIONS, *options, "-o", str(output.absolute()), *sources],
                Path(empty),
                {"ZIG_GLOBAL_CACHE_DIR": empty, "ZIG_LOCAL_CACHE_DIR": empty},
                _BUILD_SECONDS,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"building the core failed: {in_a_line(str(error))}") from error
    if said.returncode != 0:
        raise NotBuilt(f"building the core failed: {in_a_line(f'{compiler[0]}: {first_error(said.stderr)}')}")


def quietly(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a compiler, and keep what it says.

    Args:
        command: its command line.
        folder: an own one to run it in: linkers, javac and rustup read files of their current folder.
        environment: further variables.
        seconds: its limit.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it takes longer.
    """
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=seconds,
        check=False,
    )


def first_error(said: str) -> str:
    """The line of a compiler's words that says most; empty if it says nothing."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("#")]  # # is Go's
    return next((line for line in lines if "error" in line), lines[0] if lines else "")


def in_a_line(text: str) -> str:
    """A program's words, safe in a terminal."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()


def _compilers() -> Iterator[list[str]]:
    """The first words of the command lines of those that are there, best first."""
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is not None:
        yield [os.path.abspath(found)]  # noqa: PTH100 (links stay: what they are called by has a meaning)
    if importlib.util.find_spec("ziglang") is not None:
        yield [*ZIG, *_OF_ZIG]


def _none_works(refused: Sequence[NotBuilt]) -> NotBuilt:
    first = str(refused[0]) if refused else "there is no C compiler on PATH"
    return NotBuilt(f"{first}; install gcc or clang (Debian: apt install gcc libc6-dev), or, {install('cc')}")


def _digest(made_by: str) -> str:
    octets = b"".join(path.read_bytes() for path in SOURCES)
    return hashlib.sha256(octets + made_by.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _name(compiler: Sequence[str]) -> str:
    """A file's name: all that the core depends on, but not the name by which Python was started."""
    zig = importlib.util.find_spec("ziglang") if len(compiler) > 1 else None
    program = compiler[0] if zig is None or zig.origin is None else zig.origin
    machine = f"{sys.platform} {platform.machine()} {platform.libc_ver()}"
    return f"core-{_digest(f'{compiler[1:]} {stamp(program)} {OPTIONS} {machine}')}.so"


def _folders() -> Iterator[Path]:
    """Where cores are kept; the second serves a user without a writable home."""
    with suppress(OSError):
        yield cache("core")
    if sys.platform != "win32":
        yield Path(tempfile.gettempdir(), f"overlong-core-{os.geteuid()}")


def _keep(core: Path) -> None:
    """Copy a core into the first folder that is this user's own."""
    for folder in _folders():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="new-", dir=folder) as place:
                copied = Path(place, core.name)
                shutil.copyfile(core, copied)
                copied.chmod(0o700)
                publish(copied, folder / core.name)
        except OSError:  # nothing can be kept there
            continue
        if _is_ours(folder / core.name):
            return


def _is_ours(path: Path) -> bool:
    """True if a kept file is there, and nobody else could have written it."""
    try:
        states = [path.lstat(), path.parent.lstat()]
    except OSError:
        return False
    own = {0}
    if sys.platform != "win32":
        own.add(os.geteuid())
    alone = all(each.st_uid in own and not each.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for each in states)
    return alone and stat.S_ISREG(states[0].st_mode) and stat.S_ISDIR(states[1].st_mode)
