# pyright: basic
"""Machine code that Numba made, kept on disk and loaded by LLVM alone: importing Numba takes as long as compiling."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters import abi

if TYPE_CHECKING:
    from collections.abc import Callable

_HELPER = re.compile(rb"\0_?((?:numba|NRT)_\w+)(?=\0)")
"""The name of a function of Numba's that code calls to raise an exception."""


class Compiled:
    """A compiled function of an empty first parameter and numbers; it returns nothing, and raises nothing."""

    def __init__(self, name: str, numbers: int, make: Callable[[], tuple[Any, Any]], *others: Path) -> None:
        """Load it from the cache, or compile it.

        Args:
            name: a name for the cache.
            numbers: the number of parameters, without the first.
            make: returns a function that Numba can compile, and the Numba type of its first parameter; None: any.
            others: the function's sources, apart from the modules of this package.
        """
        path = _folder() / f"overlong.{name}-{_edition(name, numbers, *others)}.code"
        symbol, code = _read(path) or _made(path, numbers, *make())
        self._engine = _loaded(code)
        self.address: int = self._engine.get_function_address(symbol)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * numbers)(self.address)

    def __call__(self, *numbers: int) -> None:
        """Call it; other threads run meanwhile."""
        self._call(None, *numbers)


@cache
def _sources(*others: Path) -> bytes:
    files = (*sorted(Path(__file__).parent.glob("*.py")), Path(abi.__file__), *others)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


@cache
def _machine() -> str:
    """The processor, and the versions of Numba and LLVM."""
    import llvmlite.binding as llvm

    numba = find_spec("numba")
    assert numba is not None
    assert numba.origin is not None
    status = Path(numba.origin).stat()
    features = llvm.get_host_cpu_features().flatten()
    versions = f"{numba.origin} {status.st_size} {status.st_mtime_ns} {llvm.llvm_version_info}"
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} {versions}"


def _edition(name: str, numbers: int, *others: Path) -> str:
    """A digest of everything that code depends on."""
    return hashlib.sha256(_sources(*others) + f"{name} {numbers} {_machine()}".encode()).hexdigest()[:24]


@cache
def _folder() -> Path:
    """The folder of kept code: beside the modules, or else in the user's cache, as Numba has it."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    beside = Path(__file__).with_name("__pycache__")
    if os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    from platformdirs import user_cache_path

    return user_cache_path("overlong").absolute() / "compiled"


def _read(path: Path) -> tuple[str, bytes] | None:
    """The function's name and the code in a file; None if there is none, or it is damaged."""
    try:
        name, digest, code = path.read_bytes().split(b"\n", 2)
    except (OSError, ValueError):
        return None
    return (name.decode(), code) if hashlib.sha256(code).hexdigest().encode() == digest else None


def _made(path: Path, numbers: int, function: Any, first: Any) -> tuple[str, bytes]:
    """Compile a function, and keep it if that is possible."""
    from numba import cfunc, types

    signature = types.void(types.Opaque("Nothing") if first is None else first, *[types.int64] * numbers)
    made: Any = cfunc(signature, error_model="numpy")(function)
    name, code = made.native_name, made._library._get_compiled_object()  # noqa: SLF001 (Numba's own cache does so)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(b"\n".join((name.encode(), hashlib.sha256(code).hexdigest().encode(), code)))
        part.replace(path)
    return name, code


def _loaded(code: bytes) -> Any:
    """An engine of LLVM that holds this code.

    The code for exceptions needs functions of Numba's. As there are no exceptions, any address will do if Numba has
    not been imported.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for helper in map(bytes.decode, _HELPER.findall(code)):
        if not llvm.address_of_symbol(helper):
            llvm.add_symbol(helper, ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
