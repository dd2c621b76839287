"""``so:LIBRARY:SYMBOL?abi=NAME`` to the command line of a worker process. ``docs/shared-libraries.md`` explains it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.support.interpreter import script
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.function_name import FunctionName

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN = f"there are {', '.join(ABIS)}, and py:FILE.py:FUNCTION"
_FORM = "write so:LIBRARY:SYMBOL?abi=NAME, as in 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'"


def command(name: str, rest: str) -> list[str]:
    """The worker's command line; the library and the file of ``abi=py:`` are words of their own.

    Args:
        name: the target as the user wrote it, for messages.
        rest: what stands behind ``so:``.

    Raises:
        UnknownTarget: it names no library and no way to call it; the message says what to write.
    """
    shown = printable(name)
    if os.name != "posix":
        raise UnknownTarget(f"{shown}: so: needs fork and guard pages, which this system lacks; write an adapter in C")
    function = FunctionName.of(shown, rest, f"{_FORM}; {_KNOWN}")
    symbols, convention = function.name, function.abi
    worker = script(ADAPTERS / "shared_library.py", _found(function.file))
    if convention.startswith("py:"):
        file, colon, name_of = convention.removeprefix("py:").rpartition(":")
        if not colon or not file.endswith(".py") or not name_of:
            raise UnknownTarget(f"{shown}: write abi=py:FILE.py:FUNCTION")
        return [*worker, symbols, "py", file, name_of, *function.traits]
    abi = ABIS.get(convention)
    if abi is None:
        raise function.no_abi(shown, ABIS, "", _KNOWN)
    given = symbols.count(",") + 1
    least = min(4, len(abi.functions)) or 1
    if not least <= given <= max(len(abi.functions), 1):
        wanted = f"write {','.join(abi.functions[:4])}, and reset if it has one" if abi.functions else "name one"
        raise UnknownTarget(f"{shown}: it names {given} function{'s' * (given != 1)}; {wanted}")
    return [*worker, symbols, convention, *function.traits]


def library_in(command: Sequence[str]) -> str:
    """The library that a worker's command line names."""
    script = str(ADAPTERS / "shared_library.py")
    return command[command.index(script) + 1]


def _found(library: str) -> str:
    """The path of a library: as it was written if that is a file, else where the loader finds that name."""
    if os.path.isfile(library):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        return library if "/" in library else f"./{library}"
    if "/" in library:
        return library  # the worker says what is wrong with it
    return next((path for name, path in _cached() if name == library), library)


def _cached() -> list[tuple[str, str]]:
    """The names and paths that the loader has in its cache (glibc); none where there is no such cache."""
    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, check=True, timeout=10, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    lines = (line.split(" => ") for line in os.fsdecode(said).splitlines())
    return [(parts[0].split()[0], parts[1]) for parts in lines if len(parts) == 2 and parts[0].split()]
