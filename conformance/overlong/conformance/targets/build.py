"""Builds programs from the adapters' sources, once for each version of source and compiler, and keeps them."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.builtin import ELSEWHERE
from overlong.reference.core.building import cache, first_error, publish, quietly, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BUILD_SECONDS = 120  # the first Go build compiles the standard library


@dataclass(frozen=True)
class Compiler:
    """The compiler of one language."""

    names: tuple[str, ...]
    """Its possible names on PATH, the preferred one first."""
    arguments: tuple[str, ...]
    """Those before the path of the output; the source comes last."""
    environment: Callable[[str, Path], Mapping[str, str]] = lambda _program, _cache: {}
    """Further environment variables, given its path and the build's folder."""
    folder: bool = False
    """True if its output is a folder."""
    libraries: tuple[str, ...] = ()
    """Arguments after the sources: includes and libraries."""
    names_parts: bool = False
    """True if its arguments include a program's other sources; otherwise the first source names them."""
    litters: bool = False
    """True if it writes files beside the source, so that it gets a copy."""
    absent: str = ""
    """The message if it is missing, unless the table has one."""

    def found(self) -> str | None:
        """Its path."""
        return next(map(os.path.abspath, filter(None, map(shutil.which, self.names))), None)


def _go(_program: str, cache: Path) -> dict[str, str]:
    # No modules and no other toolchain: nothing is fetched, and a go.mod above the current folder is ignored.
    alone = {"GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    at_home = any(os.environ.get(name) for name in ("GOCACHE", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"))
    return alone if at_home else {**alone, "GOCACHE": str(cache / "go-build")}  # Go needs a cache


def _rust(program: str, _cache: Path) -> dict[str, str]:
    asked = subprocess.run(
        [program, "--version"], cwd=ELSEWHERE, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )
    return {"OVERLONG_RUSTC": asked.stdout.strip()}  # the program has no other way to learn its version


C = Compiler(
    ("cc", "gcc", "clang"),
    ("-O2", "-o"),
    absent="no C compiler on PATH; install gcc or clang (Debian: apt install gcc libc6-dev)",
)
CXX = Compiler(
    ("c++", "g++", "clang++"),
    ("-O2", "-o"),
    absent="no C++ compiler on PATH; install g++ or clang (Debian: apt install g++)",
)
MUSL = Compiler(
    ("musl-gcc",),
    ("-static", "-O2", "-o"),
    absent="musl-gcc is not on PATH; install musl (Debian: apt install musl-tools)",
)
GO = Compiler(("go",), ("build", "-o"), _go, names_parts=True)
RUST = Compiler(("rustc",), ("-O", "--edition", "2021", "-o"), _rust)
JAVA = Compiler(("javac",), ("-encoding", "UTF-8", "-d"), folder=True, names_parts=True)
OCAML = Compiler(("ocamlopt",), ("-I", "+uutf", "uutf.cmxa", "-o"), litters=True)
_COMPILE = """(use-modules (system base compile))
(let ((files (cdr (command-line)))) (compile-file (cadr files) #:output-file (car files)))"""
GUILE = Compiler(("guile", "guile-3.0"), ("--no-auto-compile", "-c", _COMPILE))
COMPILERS = {"c": C, "c++": CXX, "musl": MUSL, "go": GO, "rust": RUST, "java": JAVA, "ocaml": OCAML, "guile": GUILE}
"""Compilers by the words of the table of decoders."""


def built(compiler: Compiler, source: Path, *parts: Path) -> Path:
    """Build the adapter's program, or the folder of its classes, in the user's cache folder; ``parts``: other sources.

    Raises:
        TargetError: it cannot be built; the message has the compiler's first error.
    """
    import tempfile

    program = compiler.found()
    assert program is not None, "asked only when nothing is missing"
    try:
        version = f"{stamp(program)} {(*compiler.arguments, *compiler.libraries)}"
        octets = b"".join(path.read_bytes() for path in (source, *parts))
        key = hashlib.sha256(octets + version.encode("utf-8", "surrogateescape")).hexdigest()
        suffix = ".exe" if os.name == "nt" and not compiler.folder else ""
        finished = cache("adapters") / f"{source.stem}-{key[:16]}{suffix}"
        if not finished.exists():
            finished.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f"{source.stem}-", dir=finished.parent) as folder:
                sources = (source, *parts) if compiler.names_parts else (source,)
                _build(compiler, program, sources, Path(folder) / finished.name)
                publish(Path(folder) / finished.name, finished)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"building {source.name} failed: {printable(str(error))}") from error
    return finished


def pkg_config_flags(packages: str) -> list[str]:
    """Compiler arguments to find and link libraries, from ``pkg-config``.

    Raises:
        TargetError: it does not know one of them.
    """
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *packages.split()],
        capture_output=True, text=True, errors="backslashreplace", timeout=10, check=False,
    )  # fmt: skip
    if asked.returncode != 0:
        raise TargetError(f"pkg-config does not say how {packages} is linked: {printable(asked.stderr.strip(), 200)}")
    return shlex.split(asked.stdout)


def _build(compiler: Compiler, program: str, sources: tuple[Path, ...], output: Path) -> None:
    if compiler.folder:
        output.mkdir()
    if compiler.litters:
        sources = tuple(Path(shutil.copy(source, output.parent)) for source in sources)
    command = [program, *compiler.arguments, str(output), *map(str, sources), *compiler.libraries]
    environment = compiler.environment(program, output.parent.parent)
    built = quietly(command, output.parent, environment, _BUILD_SECONDS)
    if built.returncode != 0:
        error = first_error(built.stderr) or f"{program}: status {built.returncode}"
        raise TargetError(f"building {sources[0].name} failed: {printable(error)}")
