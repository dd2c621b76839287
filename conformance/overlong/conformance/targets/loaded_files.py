"""The files that a decoder loads, besides those that its command line names: found before it starts, without loading.

Of a Python module: the files of its top-level package. Of a shared library: those that it is linked with, on Linux.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_SUFFIXES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES, *BYTECODE_SUFFIXES)
_CACHE = "__pycache__"
_LDD, _LDD_SECONDS = "/usr/bin:/bin:/usr/sbin:/sbin", 10.0
_LINKED = re.compile(rb"^\t(.+?) => (/.+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_OF_THE_SYSTEM = re.compile(rb"ld-|lib(c|m|mvec|dl|rt|util|pthread)\.|libc\.musl-")
"""The C library's own."""


def files_of_package(module: str) -> dict[str, Path]:
    """The files of the top-level package of a module, by their paths in the folder that holds it.

    Empty if it is of the standard library, or is not found. A namespace has no files: its parts are packages.
    """
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names:
        return {}
    spec = _found(top)
    while spec is not None and spec.origin is None and spec.submodule_search_locations is not None and rest:
        spec = PathFinder.find_spec(f"{spec.name}.{rest.pop(0)}", [*spec.submodule_search_locations])
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):  # noqa: PTH113
        return {}
    if spec.submodule_search_locations is None:
        return {Path(spec.origin).name: Path(spec.origin)}
    folder = Path(spec.origin).parent
    files = (path for path in sorted(folder.rglob("*")) if path.name.endswith(_SUFFIXES) and _CACHE not in path.parts)
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
    """The files that the dynamic loader loads for a library, without those of the C library.

    Empty where there is no ``ldd``, and for what is no library.

    Args:
        library: its path.
        _digest: its content, since another may be linked otherwise.
        environment: variables that the decoder gets in addition to ours.
    """
    program = shutil.which("ldd", path=_LDD) if sys.platform == "linux" else None
    if program is None:
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
