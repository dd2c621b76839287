"""Turns ``so:LIBRARY:SYMBOL?abi=NAME`` and ``wasm:FILE:EXPORT?abi=NAME`` into command lines of worker processes.

``docs/shared-libraries.md`` explains them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.interpreter import script
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.abi import ABIS, ITERATE
from overlong.conformance.targets.adapters.question_abis import QUESTION_ABIS
from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.function_name import FunctionName
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN = "'overlong target abis' lists all, and how each is called"
_FORM = (
    "write so:LIBRARY:SYMBOL?abi=NAME, as in 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'; for example "
    f"bool(ptr,len), errpos-or-minus1(ptr,len), or utf32(ptr,len,out,cap), which outputs code points; {_KNOWN}"
)
OFFERED_TO_WASM = tuple(name for name, abi in ABIS.items() if not abi.functions and abi is not ITERATE)
"""The ABIs of one function that is called once for an input."""
_KNOWN_OF_WASM = "'overlong target abis' lists them; no streams, and no function that is called until the input ends"
_FORM_OF_WASM = (
    "write wasm:FILE:EXPORT?abi=NAME, as in 'wasm:./mine.wasm:is_utf8?abi=bool(ptr,len)'; for example "
    f"bool(ptr,len), errpos(ptr,len), or utf8(ptr,len,out,cap), which outputs UTF-8; {_KNOWN_OF_WASM}"
)


def library_command(name: str, rest: str) -> list[str]:
    """The worker's command line; the library and the file of ``abi=py:`` are separate words.

    Args:
        name: the target as the user wrote it, for messages.
        rest: the text after ``so:``.

    Raises:
        UnknownTarget: it does not name a library and its ABI; the message shows the right form.
    """
    shown = printable(name)
    if sys.platform == "win32":
        raise UnknownTarget(f"{shown}: so: needs fork and guard pages, which this system lacks; write an adapter in C")
    function = FunctionName.of(shown, rest, _FORM)
    symbols, convention = function.name, function.abi
    worker = script(ADAPTERS / "shared_library.py", _found(function.file))
    if convention.startswith("py:"):
        file, colon, name_of = convention.removeprefix("py:").rpartition(":")
        if not colon or not file.endswith(".py") or not name_of:
            raise UnknownTarget(f"{shown}: write abi=py:FILE.py:FUNCTION")
        return [*worker, symbols, "py", file, name_of, *function.traits]
    if convention not in ABIS and convention not in QUESTION_ABIS:
        raise function.no_abi(shown, (*ABIS, *QUESTION_ABIS), "", _KNOWN)
    if convention in ABIS and function.modes:
        member = function.modes[0].partition("=")[0]
        raise UnknownTarget(f"{shown}: {member}= is for a function that answers a question; {_KNOWN}")
    functions = ABIS[convention].functions if convention in ABIS else ()
    given = symbols.count(",") + 1
    least = min(4, len(functions)) or 1
    if not least <= given <= max(len(functions), 1):
        wanted = f"write {','.join(functions[:4])}, and reset if it has one" if functions else "name one"
        raise UnknownTarget(f"{shown}: it names {given} function{'s' * (given != 1)}; {wanted}")
    return [*worker, symbols, convention, *function.modes, *function.traits]


def library_in(command: Sequence[str]) -> str:
    """The library that a worker's command line names; empty for other workers."""
    script = str(ADAPTERS / "shared_library.py")
    return command[command.index(script) + 1] if script in command else ""


def _found(library: str) -> str:
    """The path of a library: as written if that is a file; otherwise the path at which the loader finds that name."""
    if os.path.isfile(library):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        return library if "/" in library else f"./{library}"
    if "/" in library:
        return library  # the worker will report the error
    return next((path for name, path in _cached() if name == library), library)


def _cached() -> list[tuple[str, str]]:
    """The names and paths in the loader's cache (glibc); empty on systems without one."""
    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, check=True, timeout=10, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    lines = (line.split(" => ") for line in os.fsdecode(said).splitlines())
    return [(parts[0].split()[0], parts[1]) for parts in lines if len(parts) == 2 and parts[0].split()]


def wasm_command(name: str, rest: str) -> list[str]:
    """The worker's command line; the module is a separate word.

    Args:
        name: the target as the user wrote it, for messages.
        rest: the text after ``wasm:``.

    Raises:
        UnknownTarget: it does not name a module and its ABI; the message shows the right form.
        TargetError: there is no such module, or no wasmtime; the message names the package to install.
    """
    shown = printable(name)
    function = FunctionName.of(shown, rest, _FORM_OF_WASM)
    if function.abi not in OFFERED_TO_WASM:
        raise function.no_abi(shown, OFFERED_TO_WASM, " for WebAssembly", _KNOWN_OF_WASM)
    module = function.file
    if not os.path.isfile(module):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        raise TargetError(f"{shown}: there is no file {printable(module)}; build it, or check the path")
    if find_spec("wasmtime") is None:
        raise TargetError(f"{shown}: needs wasmtime, which is not installed; {install('wasm')}")
    return script(ADAPTERS / "wasm.py", module, function.name, function.abi, *function.traits)
