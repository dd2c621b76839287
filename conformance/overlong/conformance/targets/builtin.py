"""Decoders that come with an adapter: what each needs, and how it is started. Nothing is built early."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.printable import printable
from overlong.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

ADAPTERS = Path(__file__).parent.parent / "adapters"
_BUILD_SECONDS = 120


@dataclass(frozen=True)
class Builtin:
    """A decoder that ships with an adapter."""

    name: str
    language: str
    what: str
    missing: Callable[[], str]
    """What to install to use it here; empty if nothing."""
    command: Callable[[], list[str]]
    """How to start it; builds it first where it must be built."""


def python_command(place: str, name: str, mode: str = "") -> list[str]:
    """The worker process for a Python decoder."""
    return [sys.executable, str(ADAPTERS / "python.py"), place, name, *([mode] if mode else [])]


def _cpython(name: str, attribute: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Python",
        what,
        lambda: "",
        lambda: python_command(str(ADAPTERS / "cpython.py"), attribute),
    )


def _node(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "JavaScript",
        what,
        lambda: "" if shutil.which("node") else "node is not on PATH; install Node.js 18.14 or later",
        lambda: [_found("node"), str(ADAPTERS / "node.js"), mode],
    )


def _glibc_missing() -> str:
    if platform.libc_ver()[0] != "glibc":
        return "it is glibc's own decoder: Linux with glibc only"
    return "" if _compiler() else "no C compiler on PATH; install gcc or clang (Debian: apt install gcc libc6-dev)"


BUILTINS = {
    builtin.name: builtin
    for builtin in (
        _cpython("cpython", "Strict", "bytes.decode, strict and replace"),
        _cpython("cpython-incremental", "Incremental", "codecs' incremental decoder, whole and in chunks"),
        _cpython("cpython-surrogatepass", "Surrogatepass", "bytes.decode with surrogatepass"),
        _cpython("cpython-surrogateescape", "Surrogateescape", "bytes.decode with surrogateescape (PEP 383)"),
        _node("node-textdecoder", "textdecoder", "TextDecoder, fatal and replacing, whole and in chunks"),
        _node("node-buffer", "buffer", "Buffer.toString and buffer.isUtf8"),
        Builtin(
            "glibc-iconv",
            "C",
            "iconv from UTF-8 to UTF-32",
            _glibc_missing,
            lambda: [str(_compiled("glibc_iconv.c"))],
        ),
    )
}


def _found(program: str) -> str:
    path = shutil.which(program)
    assert path is not None, "asked only when nothing is missing"
    return path


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def _compiled(source: str) -> Path:
    """The adapter's program, built once for each version of its source and compiler, in the user's cache folder.

    Raises:
        TargetError: the compiler fails; the message has its first error.
    """
    from platformdirs import user_cache_path

    path = ADAPTERS / source
    compiler = _compiler()
    assert compiler is not None, "asked only when nothing is missing"
    status = Path(compiler).resolve().stat()
    key = hashlib.sha256(path.read_bytes() + f"{compiler} {status.st_size} {status.st_mtime_ns}".encode()).hexdigest()
    folder = user_cache_path("overlong") / "adapters"
    program = folder / f"{path.stem}-{key[:16]}"
    if program.exists():
        return program
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_name(f"{program.name}.{os.getpid()}")
        built = subprocess.run(
            [compiler, "-O2", "-o", str(unfinished), str(path)],
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
        if built.returncode != 0:
            lines = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
            raise TargetError(f"building {source} failed: {printable(lines[0]) if lines else compiler}")
        unfinished.replace(program)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"building {source} failed: {printable(str(error))}") from error
    return program
