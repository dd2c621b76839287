"""``so:LIBRARY:SYMBOL?abi=NAME`` to the command line of a worker process. ``docs/shared-libraries.md`` explains it."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys

from overlong.conformance.adapters.abi import ABIS
from overlong.conformance.printable import printable
from overlong.conformance.target import UnknownTarget
from overlong.conformance.targets.builtin import ADAPTERS

TRAITS = {"nul": ("ends the string", "refused"), "bom": ("strips",)}
"""What a user may say of the function, as a greeting says it (docs/protocol.md)."""

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
    place, mark, query = rest.partition("?abi=")
    library, colon, symbols = place.rpartition(":")
    if not mark or not colon or not library or not symbols:
        raise UnknownTarget(f"{shown}: {_FORM}; {_known()}")
    convention, *said = query.split("&")
    traits = [_trait(shown, each) for each in said]
    script = [sys.executable, str(ADAPTERS / "shared_library.py"), _found(library)]
    if convention.startswith("py:"):
        file, colon, function = convention.removeprefix("py:").rpartition(":")
        if not colon or not file.endswith(".py") or not function:
            raise UnknownTarget(f"{shown}: write abi=py:FILE.py:FUNCTION")
        return [*script, symbols, "py", file, function, *traits]
    abi = ABIS.get(convention)
    if abi is None:
        near = difflib.get_close_matches(convention, ABIS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownTarget(f"{shown}: no abi '{printable(convention)}'; {hint}{_known()}")
    given = symbols.count(",") + 1
    least = min(4, len(abi.functions)) or 1
    if not least <= given <= max(len(abi.functions), 1):
        wanted = f"write {','.join(abi.functions[:4])}, and reset if it has one" if abi.functions else "name one"
        raise UnknownTarget(f"{shown}: it names {given} function{'s' * (given != 1)}; {wanted}")
    return [*script, symbols, convention, *traits]


def _known() -> str:
    return f"there are {', '.join(ABIS)}, and py:FILE.py:FUNCTION"


def _trait(shown: str, said: str) -> str:
    key, _, value = said.partition("=")
    if key not in TRAITS:
        known = ", ".join(f"{each}={word}" for each, words in TRAITS.items() for word in words)
        raise UnknownTarget(f"{shown}: behind the abi stands '{printable(said)}'; there may stand {known}")
    if value not in TRAITS[key]:
        raise UnknownTarget(f"{shown}: {key} is '{printable(value)}'; there is {', '.join(TRAITS[key])}")
    return said


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
