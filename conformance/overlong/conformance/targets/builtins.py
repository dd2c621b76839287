"""Decoders and libraries with names: those that ship with an adapter, and decoders that a file of the user's adds.

Each entry of ``builtins.toml`` becomes a :class:`Builtin`, each table of ``libraries.toml`` a :class:`Library`: many
functions under one name, which ``overlong certify`` tests in one run. A project defines libraries of its own in
``overlong.toml`` (``configured.py``). The function ``libglib/g_utf8_strlen`` is a target like any other. Functions that
no ABI fits are called by ``adapters/calls.py``.
"""

from __future__ import annotations

import os
import platform
import re
import runpy
import shutil
import sys
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import script
from overlong.conformance.targets.build import (
    ADAPTERS,
    COMPILERS,
    ELSEWHERE,
    C,
    Compiler,
    Project,
    built,
    fetched,
    found,
    not_on_path,
    pkg_config_flags,
    python_command,
    said,
)
from overlong.conformance.targets.configured import configured, functions_in, set_up
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SOURCES = ADAPTERS / "c"
_PKG_CONFIG = "pkg-config (Debian: apt install pkg-config)"
_ASKED_AT_ONCE = 8  # versions: each question waits for an interpreter or a virtual machine


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


@dataclass(frozen=True)
class Programs:
    """Decoders in programs: the table's words become commands.

    In a word, ``{NAME}`` is the path of a required program, ``{program}`` that of the chosen one, ``{adapters}`` the
    adapters' folder, ``{built}`` the built program, ``{word}`` the decoder's own word, ``{fetched}`` the folder of a
    project, ``{uutf}`` the version of OCaml's library.
    """

    language: str
    start: list[str]
    """The command that starts a decoder; a leading ``python`` means this Python."""
    needs: list[str] = field(default_factory=list[str])
    """Programs that must all exist, and the packages that have them."""
    install: str = ""
    one_of: list[str] = field(default_factory=list[str])
    """Programs of which the first one is used that exists and whose version :attr:`fits`; or a way to find one."""
    found_by: str = ""
    fits: str = ""
    absent: str = ""
    """The message if no program is found."""
    posix: bool = False
    """True if its adapter needs POSIX."""
    build: str = ""
    """A compiler, and its output."""
    sources: list[str] = field(default_factory=list[str])
    ask: list[str] = field(default_factory=list[str])
    """The command that prints the version; empty if only the greeting has it."""
    words: int | None = None
    """The number of the answer's words that form the version."""
    prefix: str = ""
    elsewhere: bool = False
    """True if it starts in a folder without files that it could read as code, also to print its version."""
    asked_elsewhere: bool = False
    part: str = ""
    """An optional part, the package that has it, and a command that prints ``yes`` if it is installed."""
    part_install: str = ""
    part_probe: list[str] = field(default_factory=list[str])
    project: Project | None = None
    """The fetched packages of the decoders; then a row has the word, the package, and a description."""

    def missing(self, *_row: str) -> str:
        """Packages to install to use a decoder here; empty if none."""
        if self.project is not None:
            return self.project.missing(*self.needs)
        if self.posix and sys.platform == "win32":
            return "its adapter needs POSIX"
        if why := not_on_path(tuple(self.needs), self.install):
            return why
        if (self.one_of or self.found_by) and not self._program():
            return self.absent
        if self.part and self._asked(self.part_probe) != "yes":
            name = self.needs[0]
            return f"{name} has no extension {self.part}; install it (Debian: apt install {self.part_install})"
        return ""

    def command(self, word: str, *_row: str) -> list[str]:
        """The command of a decoder; builds its program first if necessary."""
        folder = "" if self.project is None else str(fetched(self.project))
        words = self._filled(self.start, built=self._built(), word=word, fetched=folder)
        return script(*words[1:]) if words[0] == "python" else words

    def version(self, *row: str) -> str:
        """The installed version; empty if only the greeting has it."""
        if self.project is not None:
            return self.project.version(row[1])
        return self._filled([self.prefix])[0] + self._asked(self.ask) if self.ask else ""

    def fetches(self, *row: str) -> str:
        """Packages fetched on a decoder's first use."""
        return "" if self.project is None else f"{row[1]} of {self.project.registry}"

    def _built(self) -> str:
        if not self.build:
            return ""
        library = [Path(self._program())] if self.found_by else []
        return str(built(COMPILERS[self.build], *(ADAPTERS / name for name in self.sources), *library))

    def _filled(self, words: list[str], program: str = "", **more: str) -> list[str]:
        program = program or self._program()
        known = {name: found(name) for name in self.needs} | {"program": program, "part": self.part}
        known["uutf"] = _stated(program) if self.found_by == "uutf" else ""
        return [word.format(adapters=ADAPTERS, pathsep=os.pathsep, **known, **more) for word in words]

    def _asked(self, words: list[str], program: str = "") -> str:
        """The first line of a command's answer."""
        answer = said(*self._filled(words, program), folder=ELSEWHERE if self.asked_elsewhere else None)
        return answer if self.words is None else " ".join(answer.split()[: self.words])

    def _program(self) -> str:
        """The path of the chosen program or its substitute; empty if there is none."""
        if self.found_by:
            return _WAYS[self.found_by]()
        for path in map(os.path.abspath, filter(None, map(shutil.which, self.one_of))):
            if not self.fits or re.match(self.fits, self._asked(self.ask, path)):
                return path
        return ""


@lru_cache(maxsize=1)
def _sqlite() -> str:
    """The name of SQLite's library."""
    from ctypes.util import find_library

    return find_library("sqlite3") or ""


def _postgresql() -> str:
    """The folder of the server's programs: Debian has a folder for each version, none of them on PATH."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    versions = [each for each in Path("/usr/lib/postgresql").glob("*") if each.name.isdecimal()]
    folders += [each / "bin" for each in sorted(versions, key=lambda each: int(each.name), reverse=True)]
    whole = (each for each in folders if all((each / name).is_file() for name in ("initdb", "postgres")))
    return str(next(whole, ""))


def _uutf() -> str:
    """The file with the version of OCaml's library Uutf, which is in a folder of the compiler; empty if none."""
    meta = Path(said(found("ocamlopt"), "-where")) / "uutf" / "META"
    return str(meta) if meta.is_file() else ""


_WAYS: dict[str, Callable[[], str]] = {"sqlite": _sqlite, "postgresql": _postgresql, "uutf": _uutf}
"""Ways to find what a table needs, by the words for them."""


def _stated(meta: str) -> str:
    stated = re.search(r'^version = "([^"]*)"', Path(meta).read_text("utf-8", "backslashreplace"), re.MULTILINE)
    return printable(stated[1], 40) if stated else ""


def _missing_package(requirement: str = "", module: str = "") -> str:
    """What to install for a decoder in a Python package; empty if nothing, or if it is in no package."""
    if not requirement:
        return ""
    package, _, least = requirement.partition(">=")  # the first major version with its own decoder
    remedy = f"pip install '{requirement}', or for all such packages, {install('decoders')}"
    here = _installed(package)
    if not here or not _is_there(module):
        return f"no {module} in this Python; {remedy}"
    major = re.match(r"\d+", here)
    if least and (major is None or int(major[0]) < int(least)):
        return f"{package} {here} decodes with CPython's decoder; {remedy}"
    return ""


def _version_in_python(requirement: str = "", _module: str = "") -> str:
    if not requirement:
        return f"{platform.python_implementation()} {platform.python_version()}"
    package = requirement.partition(">=")[0]
    return f"{package} {_installed(package)}".strip()


def _installed(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _is_there(module: str) -> bool:
    """True if a module can be imported, found without importing it."""
    try:
        return find_spec(module) is not None
    except ImportError:  # its package is missing too
        return False


@dataclass(frozen=True)
class CLibrary:
    """Decoders of a library in C or C++; a row has the word, the adapter's source, and a description."""

    language: str
    name: str
    debian: str = ""
    """The Debian package that has its headers."""
    package: str = ""
    """The package in ``pkg-config``; without one, the compiler looks for :attr:`header`, and links :attr:`links`."""
    header: str = ""
    links: list[str] = field(default_factory=list[str])
    compiler: str = "c"
    revised: bool = False
    """True if Debian's revisions of it answer differently."""
    own: bool = False
    """True if it is the C library of this system."""

    def missing(self, *_row: str) -> str:
        if self.own and platform.libc_ver()[0] != self.name:
            return f"it is {self.name}'s own: Linux with {self.name} only"
        if why := no_compiler(COMPILERS[self.compiler]):
            return why
        if self.package and (why := not_on_path("pkg-config", _PKG_CONFIG)):
            return why
        if (self.package and not self._number()) or (self.header and not self._has_header()):
            return f"no headers of {self.name} here; install them (Debian: apt install {self.debian})"
        return ""

    def command(self, word: str, source: str) -> list[str]:
        stated = "" if self.own else self.version()
        return [c_program(COMPILERS[self.compiler], source, stated, *self._flags()), *filter(None, [word])]

    def shared(self, source: str) -> str:
        """The path of a shared library of some of its functions; builds it if necessary."""
        compiler = replace(COMPILERS[self.compiler], arguments=("-O2", "-shared", "-fPIC", "-o"))
        return c_program(compiler, source, self.version(), *self._flags())

    def version(self, *_row: str) -> str:
        return f"{self.name} {self._number()}".strip()

    def _number(self) -> str:
        """Its version, found without building anything; empty if unknown."""
        if self.own:
            return platform.libc_ver()[1]
        if self.package:
            return (self.revised and debian_version(self.debian)) or said("pkg-config", "--modversion", self.package)
        return debian_version(self.debian)

    def _has_header(self) -> bool:
        language = "c++" if self.language == "C++" else "c"
        asked = (COMPILERS[self.compiler].found() or "", "-x", language, "-include", self.header, "-E", "-")
        return bool(said(*asked, folder=ELSEWHERE))

    def _flags(self) -> list[str]:
        """Compiler arguments to find and link it."""
        if not self.package:
            return self.links
        return pkg_config_flags(self.package)


def no_compiler(compiler: Compiler = C) -> str:
    """Packages to install to compile C or C++; empty if none."""
    return "" if compiler.found() else compiler.absent


def c_program(compiler: Compiler, source: str, stated: str, *libraries: str) -> str:
    """Build an adapter for a library, with the version, which the library itself may not report; return its path."""
    defined = f'-DLIBRARY_VERSION="{stated}"' if stated else ""
    whole = replace(compiler, libraries=(*filter(None, [defined]), *libraries))
    return str(built(whole, SOURCES / source, *sorted(SOURCES.glob("*.h"))))


def debian_version(package: str) -> str:
    """The version of a Debian package; empty on other systems."""
    return said("dpkg-query", "-W", "-f", "${Version}", package)


def _family(table: dict[str, Any], project: Project | None) -> tuple[Builtin, ...]:
    """The decoders of a table.

    Of one in Python, a row has the attribute in the file; for a package, also its requirement and its module.
    """
    kind, language, rows = table.get("kind"), table["language"], table["decoders"].items()
    if kind == "python":
        return tuple(
            Builtin(
                name,
                language,
                what,
                partial(_missing_package, *package),
                partial(python_command, str(ADAPTERS / table["file"]), attribute),
                partial(_version_in_python, *package),
            )
            for name, (attribute, *package, what) in rows
        )
    keys = {key: value for key, value in table.items() if key not in ("kind", "like", "decoders", "project")}
    maker = CLibrary(**keys) if kind == "library" else Programs(**keys, project=project)
    return tuple(
        Builtin(
            name,
            language,
            what,
            partial(maker.missing, *row),
            partial(maker.command, *row),
            partial(maker.version, *row),
            ELSEWHERE if table.get("elsewhere") else None,
            maker.fetches(*row) if isinstance(maker, Programs) else "",
        )
        for name, (*row, what) in rows
    )


_TABLES = tomllib.loads((Path(__file__).parent / "builtins.toml").read_text(encoding="utf-8"))
PROJECTS = {name: Project.of(table["project"]) for name, table in _TABLES.items() if "project" in table}
"""The fetched packages, by their tables."""
FAMILIES = {
    name: _family(_TABLES.get(table.get("like"), {}) | table, PROJECTS.get(name)) for name, table in _TABLES.items()
}
"""The decoders by their tables."""
BUILTINS = {builtin.name: builtin for family in FAMILIES.values() for builtin in family}
"""Builtins by their names."""
VARIABLE = "OVERLONG_DECODERS"
"""Environment variable: a Python file. Its ``decoders()`` returns further decoders, each a ``Builtin``, by their names.
Processes that run parts of a run inherit it."""


def shipped(name: str) -> Builtin | None:
    """The decoder of that name. The file is read only for names without an adapter.

    Raises:
        TargetError: the file cannot be read.
    """
    return BUILTINS.get(name) or _added(os.environ.get(VARIABLE, "")).get(name)


def all_shipped() -> dict[str, Builtin]:
    """All these decoders, by their names.

    Raises:
        TargetError: the file cannot be read.
    """
    return BUILTINS | _added(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=1)
def _added(file: str) -> dict[str, Builtin]:
    if not file:
        return {}
    try:
        added: dict[str, Builtin] = runpy.run_path(file)["decoders"]()
    except TargetError:
        raise
    except Exception as error:
        why = printable(f"{VARIABLE}={file}: {type(error).__name__}: {error}", 300)
        raise TargetError(f"{why}; name a file that defines decoders(), or unset {VARIABLE}") from error
    return added


def at_hand(decoders: Iterable[Builtin]) -> list[dict[str, Any]]:
    """The state of each decoder on this machine, in order, as ``overlong target list --format json`` prints it.

    ``missing`` names packages to install; it is empty if the decoder can be used. ``version`` is empty if it is
    missing, or if only the decoder itself can report it. Programs are asked for their versions; nothing is built or
    fetched.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        return list(pool.map(_look, decoders))


def _look(builtin: Builtin) -> dict[str, Any]:
    missing = builtin.missing()
    return {
        "name": builtin.name,
        "language": builtin.language,
        "what": builtin.what,
        "version": "" if missing else builtin.version(),
        "ready": not missing,
        "missing": missing,
        "fetches": builtin.fetches,
    }


CALLS = ADAPTERS / "calls.py"


@dataclass(frozen=True)
class Library:
    """A library at hand."""

    name: str
    what: str
    functions: dict[str, str]
    """The target of each function; ``{library}`` is the library's file, ``{version}`` the number in that."""
    missing: Callable[[], str]
    """What to install; empty if nothing."""
    file: Callable[[], str]
    """Its file; fetches and builds it if necessary. Empty if its functions need none."""

    def target(self, function: str) -> str:
        """The target of a function, as on the command line."""
        file = self.file()
        words = {"{library}": file, "{version}": file.rpartition(".so.")[2], "{calls}": str(CALLS)}
        target = self.functions[function]
        for word, value in words.items():
            target = target.replace(word, value)
        return target


@cache
def _linked(link: str) -> str:
    from ctypes.util import find_library

    return find_library(link) or ""


def _not_linked(link: str, debian: str) -> str:
    return "" if _linked(link) else f"no lib{link} here; install it (Debian: apt install {debian})"


def _library(name: str, table: dict[str, Any]) -> Library:
    functions = dict(functions_in(f"libraries.toml: {name}", {"library": "{library}", "function": table["function"]}))
    missing, file = _found(table)
    return Library(name, table["what"], functions, missing, file)


def _found(table: dict[str, Any]) -> tuple[Callable[[], str], Callable[[], str]]:
    """What is missing for a library, and its file: the linker finds it, or it is compiled, or fetched and compiled."""
    match table:
        case {"link": link, "debian": debian}:
            return partial(_not_linked, link, debian), partial(_linked, link)
        case {"source": source, "of": of}:
            headers = CLibrary(**of)
            return headers.missing, partial(headers.shared, source)
        case {"project": words, "built": built}:
            project = Project.of(words)
            return project.missing, lambda: str(fetched(project) / built)
        case _:
            return str, str


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


def function_at_hand(name: str) -> tuple[Library, str] | None:
    """The library at hand, and the function of it, that a target's name means; None if it means none."""
    library, mark, function = name.partition("/")
    found = libraries().get(library) if mark else None
    return (found, function) if found and function in found.functions else None
