"""Makes what decoders run in, once for each version of what it is made of, and keeps it; finds programs and asks them.

What it makes is a program, by a compiler from an adapter's sources; or a folder, by the commands of a recipe, which may
fetch packages of a registry. The lock file beside an adapter's sources pins the packages, including their digests. The
registry's own client fetches them, so the user's configuration decides from where.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import script
from overlong.reference.core.building import cache, first_error, publish, quietly, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ADAPTERS = Path(__file__).parent / "adapters"
ELSEWHERE = os.path.abspath(os.sep)  # noqa: PTH100 (a word of a command)
"""A folder for programs that read code or settings from their current folder: compilers, rustup, Go, Erlang."""
_ASK_SECONDS = 10.0  # for a version: virtual machines are slow to start


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


_BUILD_SECONDS = 120  # the first Go build compiles the standard library
_STEP_SECONDS = 900


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
    program = compiler.found()
    assert program is not None, "asked only when nothing is missing"
    try:
        version = f"{stamp(program)} {(*compiler.arguments, *compiler.libraries)}"
        octets = b"".join(path.read_bytes() for path in (source, *parts))
        key = hashlib.sha256(octets + version.encode("utf-8", "surrogateescape")).hexdigest()
        suffix = ".exe" if os.name == "nt" and not compiler.folder else ""
        finished = cache("adapters") / f"{source.stem}-{key[:16]}{suffix}"
        sources = (source, *parts) if compiler.names_parts else (source,)
        _keep(finished, finished.name, partial(_build, compiler, program, sources))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"building {source.name} failed: {printable(str(error))}") from error
    return finished


def _keep(finished: Path, name: str, make: Callable[[Path], None]) -> None:
    """Make a file or a folder, unless it exists; ``make`` gets a path of this name in a folder of its own."""
    if finished.exists():
        return
    finished.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{finished.stem}-", dir=finished.parent) as folder:
        output = Path(folder) / name
        make(output)
        publish(output, finished)


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


def made(
    name: str,
    room: str,
    files: Mapping[str, bytes],
    steps: Sequence[tuple[str, ...]],
    *,
    failure: Callable[[str], str],
    environment: Mapping[str, str],
    drop: Iterable[str] = (),
    sums: str = "",
) -> Path:
    """A folder with a decoder, in the user's cache folder; made if it does not exist yet.

    Args:
        name: the beginning of the folder's name.
        room: the folder of the cache.
        files: files of the folder: their contents by their paths.
        steps: commands to run in it; the first may fetch.
        failure: makes the message for a failure from the first error.
        environment: further environment variables of the commands.
        drop: folders that are removed afterwards.
        sums: a file with the digests of the files that the first step fetches.

    Raises:
        TargetError: a step fails, or the folder cannot be kept.
    """
    programs = [found(step[0]) for step in steps]
    key = hashlib.sha256(repr((tuple(steps), sorted(environment.items()))).encode("utf-8", "surrogateescape"))

    def follow(work: Path) -> None:
        for path, octets in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(octets)
        for number, (step, program) in enumerate(zip(steps, programs, strict=True)):
            wrong = _error_of([program, *step[1:]], work, environment)
            if not wrong and not number and sums:
                wrong = _not_pinned(work, sums)
            if wrong:
                raise TargetError(failure(wrong))
        for path in drop:
            shutil.rmtree(work / path)

    try:
        key.update(repr([stamp(program) for program in programs]).encode("utf-8", "surrogateescape"))
        for path, octets in files.items():
            key.update(f"{path}\0".encode() + hashlib.sha256(octets).digest())
        finished = cache(room) / f"{name}-{key.hexdigest()[:16]}"
        _keep(finished, "work", follow)
    except subprocess.TimeoutExpired as error:
        raise TargetError(failure(f"{steps[0][0]} took more than {_STEP_SECONDS} s")) from error
    except OSError as error:
        raise TargetError(f"{printable(str(error))}: decoders of {name} cannot be kept there") from error
    return finished


def _error_of(command: list[str], work: Path, environment: Mapping[str, str]) -> str:
    """The first error of a command that fails; empty if it does not."""
    done = subprocess.run(
        command,
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_STEP_SECONDS,
        check=False,
        env={**os.environ, **environment},
    )
    if done.returncode == 0:
        return ""
    text = (done.stderr + b"\n" + done.stdout).decode("utf-8", "backslashreplace")  # Maven complains on stdout
    said = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("go: downloading")]
    errors = [line for line in said if re.search("error|fail", line, re.IGNORECASE)] or said
    return errors[0] if errors else f"status {done.returncode}"


def _not_pinned(work: Path, sums: str) -> str:
    """Says which fetched file is not the one that a file of digests pins; empty if each is."""
    for line in (work / sums).read_text(encoding="ascii").splitlines():
        digest, name = line.split()
        if hashlib.sha256((work / name).read_bytes()).hexdigest() != digest:
            return f"{Path(name).name} is not the file that {sums} pins"
    return ""


@dataclass(frozen=True)
class Project:
    """Packages of one registry, and the adapter of their decoders."""

    folder: str
    """The folder of the sources and the lock file, below the adapters."""
    registry: str
    """The registry's common name."""
    steps: tuple[tuple[str, ...], ...]
    """Commands, run in a copy of the folder: the first one fetches, the others build."""
    install: str
    """The source of the programs that the steps need."""
    probe: str
    """A command that tests the connection to the registry."""
    pin: str
    """A pattern that finds a package's version in the lock file; the package's name replaces ``{}``."""
    lock: str
    """The file that pins the versions."""
    shared: tuple[str, ...] = ()
    """Other adapters' files that its sources use; they are copied beside them."""
    environment: Mapping[str, str] | None = None
    """Further environment variables of its commands."""
    drop: tuple[str, ...] = ()
    """Files of the build that are removed afterwards."""
    sums: str = ""
    """A file of SHA-256 digests for the fetched files, if the client has no lock file of its own."""

    @classmethod
    def of(cls, table: dict[str, Any]) -> Project:
        """Make a project from a TOML table."""
        steps: list[list[str]] = table["steps"]
        fixed: dict[str, Any] = {key: tuple(table.get(key, ())) for key in ("shared", "drop")}
        fixed["steps"] = tuple(map(tuple, steps))
        return cls(**table | fixed)

    def missing(self, *more: str) -> str:
        """Packages to install, including those that run its decoders; empty if none."""
        return not_on_path(tuple(dict.fromkeys((*more, *(step[0] for step in self.steps)))), self.install)

    def version(self, package: str) -> str:
        """The pinned version of a package."""
        text = (ADAPTERS / self.folder / self.lock).read_text(encoding="utf-8")
        match = re.search(self.pin.format(re.escape(package)), text)
        assert match is not None, f"{self.lock} pins {package}"
        return match[1]


def fetched(project: Project) -> Path:
    """The folder of a project in the user's cache folder, with its packages in it.

    Raises:
        TargetError: it cannot be fetched or built; the message has the client's first error and a command to test with.
    """
    try:
        files = {name: path.read_bytes() for name, path in _sources(project).items()}
    except OSError as error:
        raise TargetError(f"{printable(str(error))}: decoders of {project.registry} cannot be read") from error
    return made(
        project.folder,
        "packages",
        files,
        project.steps,
        failure=partial(_failure, project),
        environment=project.environment or {},
        drop=project.drop,
        sums=project.sums,
    )


def _sources(project: Project) -> dict[str, Path]:
    folder = ADAPTERS / project.folder
    own = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return own | {name: ADAPTERS / name for name in project.shared}


def _failure(project: Project, why: str) -> str:
    return (
        f"fetching decoders from {project.registry} failed: {printable(why, 200)}; "
        f"'{project.probe}' shows whether it can be reached from here"
    )
