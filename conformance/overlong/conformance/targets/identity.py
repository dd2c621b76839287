"""The files that identify a target: taken before it starts, since it may replace its own, and held to until the end.

They are those that its command line names, and those that its decoder loads, found without loading them. Of a Python
module: the files of its top-level package; if it is in none, the modules of its folder that it imports. Of a shared
library or a program: the libraries that it is linked with, on Linux.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable_file, sha256_of
from overlong.conformance.targets.build import ADAPTERS, python_words
from overlong.conformance.targets.commands import library_in
from overlong.conformance.targets.elf import NONSENSE, Elf
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.recorded import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

PYTHON = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES, *BYTECODE_SUFFIXES)
"""How the names of a Python module's files end."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders whose modules are of many packages."""
_CACHE = "__pycache__"
_LDD, _LDD_SECONDS = "/usr/bin:/bin:/usr/sbin:/sbin", 10.0
_LINKED = re.compile(rb"^\t(.+?) => (/.+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_OF_THE_SYSTEM = re.compile(rb"ld-|lib(c|m|mvec|dl|rt|util|pthread)\.|libc\.musl-")
"""The C library's own."""


@dataclass(frozen=True)
class Identity:
    """The identity of a target: its files with their digests, and one digest of them and of the whole command.

    For a decoder elsewhere (in an interpreter, in a library), the version in its greeting identifies it.
    """

    digest: str
    files: tuple[tuple[str, str], ...]
    """The names of the files, and their digests."""
    of_a_command: bool = False
    """The files are those of a program's command line, and no one has named those that it loads."""


def identity_of(target: FramedTarget | RecordedTarget) -> Identity:
    """The identity of a target: of its command line, of the files that its decoder loads, and of its ``subjects``.

    Raises:
        OSError: a file of its command line cannot be read.
        UnknownTarget: one of its ``subjects`` cannot be read.
        TargetError: a preparation fails.
    """
    whole, files = hashlib.sha256(), list[tuple[str, str]]()
    if isinstance(target, FramedTarget):
        target.prepare()

    def add(path: Path, name: str) -> None:
        digest = sha256_of(path)
        whole.update(bytes.fromhex(digest))
        if (name, digest) not in files:
            files.append((name, digest))

    for word in target.command:
        if os.path.isfile(word):  # noqa: PTH113 (a word too long for a name is no file, and no error)
            own = word == sys.executable  # python, python3 or python3.11
            add(Path(word), Path(word).resolve().name if own else Path(word).name)
        else:
            whole.update(word.encode("utf-8", "surrogateescape") + b"\0")
    if isinstance(target, RecordedTarget):
        return Identity(whole.hexdigest(), tuple(files))
    for name, path in _loaded(target):
        add(path, name)
    for path in target.subjects:
        try:
            if not path.is_file():  # a pipe without a writer would block
                raise UnknownTarget(_no_subject(path, "no file"))
            add(path, portable_file(path))
        except OSError as error:
            raise UnknownTarget(_no_subject(path, error.strerror or str(error))) from error
    return Identity(whole.hexdigest(), tuple(files), target.is_command and not target.subjects)


def _no_subject(path: Path, why: str) -> str:
    return f"{printable(str(path))}: {why}; --subject and subjects name files of the decoder: check the path"


def _loaded(target: FramedTarget) -> Iterator[tuple[str, Path]]:
    """The names and paths of the files that its command line does not name and its decoder loads."""
    if words := python_words(target.command):
        place = words[0]
        if not place.endswith(".py"):
            yield from files_of_package(place).items()
        elif os.path.isfile(place) and not Path(place).is_relative_to(ADAPTERS):  # noqa: PTH113 (a word, perhaps too long)
            yield from files_beside(Path(place)).items()
        return
    environment = tuple(sorted((target.environment or {}).items()))
    library = library_in(target.command)
    for file in [library] if library else [word for word in target.command if target.is_command]:
        if os.path.isfile(file) and file != sys.executable:  # noqa: PTH113 (a word too long for a name is no file)
            linked = linked_with(file, sha256_of(Path(file)), environment)
            yield from ((path.name, path) for path in linked)


def hold_to(target: FramedTarget | RecordedTarget, identity: Identity) -> None:
    """Hold a target to the files that it had before it started.

    Raises:
        TargetError: one has changed since: no one can say which was measured.
        OSError: one cannot be read.
    """
    try:
        now = identity_of(target)
    except UnknownTarget as error:
        raise TargetError(f"{printable(target.id)}: not measured any further: {error}") from error
    if now == identity:
        return
    differing = [name for name, _ in {*identity.files} ^ {*now.files}]
    name = next((name for name, _ in (*identity.files, *now.files) if name in differing), "its command")
    raise TargetError(
        f"{printable(target.id)}: not measured: {printable(name)} changed during the run; leave it as it is, and run "
        "again"
    )


def files_of_package(module: str) -> dict[str, Path]:
    """The files of the top-level package of a module, by their paths in the folder that holds it.

    A module that is in no package has its own file, and those of :func:`files_beside`. Empty if it is of the standard
    library, or is not found. A namespace has no files: its parts are packages.
    """
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names:
        return {}
    spec = _found(top)
    files = _files_of(spec, rest)
    if spec is not None and spec.submodule_search_locations is None:
        for file in [*files.values()]:
            files |= files_beside(file)
    return files


def files_beside(file: Path) -> dict[str, Path]:
    """The files of the modules and packages in a Python file's folder that it imports, by their paths there.

    A module that one of these imports is among them, but none whose name is made while the decoder runs. Empty for a
    folder of installed packages.
    """
    folder = Path(os.path.abspath(file)).parent  # noqa: PTH100 (links stay: it is found where it is named)
    if not _INSTALLED.isdisjoint(folder.parts):
        return {}
    PathFinder.invalidate_caches()
    files, waiting = dict[str, Path](), [file]
    while waiting:
        reading = waiting.pop()
        for module in _imported(reading, sha256_of(reading)):
            top, *rest = module.split(".")
            if top not in sys.stdlib_module_names:
                found = _files_of(PathFinder.find_spec(top, [str(folder)]), rest).values()
                new = {path.relative_to(folder).as_posix(): path for path in found}
                waiting += [path for name, path in new.items() if name not in files]
                files |= new
    return files


@lru_cache(maxsize=1 << 10)
def _imported(file: Path, _digest: str) -> tuple[str, ...]:
    """The names that a Python file imports: ``tables.lead`` for ``from tables import lead``; none if no source."""
    if not file.name.endswith(tuple(SOURCE_SUFFIXES)):
        return ()
    try:
        with warnings.catch_warnings():  # what the compiler thinks of it is not ours to say
            warnings.simplefilter("ignore")
            nodes = [*ast.walk(ast.parse(file.read_bytes()))]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    names = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names += [f"{node.module}.{each.name}" for each in node.names]
    return tuple(dict.fromkeys(names))


def _files_of(spec: ModuleSpec | None, rest: list[str]) -> dict[str, Path]:
    """The files of a top-level module or package, by their paths in the folder that holds it.

    ``rest``: the further parts of the name, by which a namespace is left.
    """
    rest = [*rest]
    while spec is not None and spec.origin is None and spec.submodule_search_locations is not None and rest:
        spec = PathFinder.find_spec(f"{spec.name}.{rest.pop(0)}", [*spec.submodule_search_locations])
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):  # noqa: PTH113
        return {}
    if spec.submodule_search_locations is None:
        return {Path(spec.origin).name: Path(spec.origin)}
    folder = Path(spec.origin).parent
    files = (path for path in sorted(folder.rglob("*")) if path.name.endswith(PYTHON) and _CACHE not in path.parts)
    return {path.relative_to(folder.parent).as_posix(): path for path in files if path.is_file()}


def _found(top: str) -> ModuleSpec | None:
    """Where its worker finds a top-level module: the current folder goes first (``search_for`` in the adapter)."""
    PathFinder.invalidate_caches()  # a set-up command may just have made it
    try:
        return PathFinder.find_spec(top, [str(Path.cwd())]) or find_spec(top)
    except (ImportError, ValueError, OSError):
        return None


@lru_cache(maxsize=16)
def linked_with(library: str, _digest: str, environment: tuple[tuple[str, str], ...]) -> tuple[Path, ...]:
    """The files that the dynamic loader loads for a library or a program, without those of the C library.

    Empty where there is no ``ldd``, and for any other file.

    Args:
        library: its path.
        _digest: its content, since another may be linked otherwise.
        environment: variables that the decoder gets in addition to ours.
    """
    program = shutil.which("ldd", path=_LDD) if sys.platform == "linux" else None
    if program is None or not _is_elf(library):
        return ()
    try:
        said = subprocess.run(
            [program, os.path.abspath(library)],  # noqa: PTH100 (links stay: a path may be relative to them)
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LDD_SECONDS,
            env={**os.environ, **dict(environment), "LC_ALL": "C"},
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    paths = (Path(os.fsdecode(path)) for name, path in _LINKED.findall(said) if not _OF_THE_SYSTEM.match(name))
    return tuple(path for path in paths if path.is_file())


def _is_elf(file: str) -> bool:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            Elf(opened.fileno())
    except (OSError, *NONSENSE):
        return False
    return True
