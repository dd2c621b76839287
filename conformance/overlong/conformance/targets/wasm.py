"""``wasm:FILE:EXPORT?abi=NAME`` to the command line of a worker process. ``docs/wasm.md`` explains it."""

from __future__ import annotations

import difflib
import os
import sys
from importlib.util import find_spec

from overlong.conformance.adapters.abi import ABIS, ITERATE
from overlong.conformance.printable import printable
from overlong.conformance.target import TargetError, UnknownTarget
from overlong.conformance.targets.builtin import ADAPTERS

KIND = "wasm"
OFFERED = tuple(name for name, abi in ABIS.items() if not abi.functions and abi is not ITERATE)
"""ABIs of one function that is called once for an input."""
TRAITS = ("nul=ends the string", "nul=refused", "bom=strips")
"""What a user may say of the function, as a greeting says it (docs/protocol.md)."""


def command(name: str, rest: str) -> list[str]:
    """The worker's command line; the module is a word of its own.

    Args:
        name: the target as the user wrote it, for messages.
        rest: what stands behind ``wasm:``.

    Raises:
        UnknownTarget: it names no module and no way to call it; the message says what to write.
        TargetError: there is no such module, or no wasmtime; the message says what to install.
    """
    shown = printable(name)
    place, mark, query = rest.partition("?abi=")
    module, colon, export = place.rpartition(":")
    if not mark or not colon or not module or not export:
        raise UnknownTarget(
            f"{shown}: write {KIND}:FILE:EXPORT?abi=NAME, as in '{KIND}:./mine.wasm:is_utf8?abi=bool(ptr,len)'; "
            f"there is {', '.join(OFFERED)}"
        )
    convention, *traits = query.split("&")
    if convention not in OFFERED:
        near = difflib.get_close_matches(convention, OFFERED, 1)
        hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(OFFERED)}"
        raise UnknownTarget(f"{shown}: no abi '{printable(convention)}' for WebAssembly; {hint}")
    for trait in traits:
        if trait not in TRAITS:
            raise UnknownTarget(
                f"{shown}: behind the abi stands '{printable(trait)}'; there may stand {', '.join(TRAITS)}"
            )
    if not os.path.isfile(module):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        raise TargetError(f"{shown}: there is no file {printable(module)}; build it, or check the path")
    if find_spec("wasmtime") is None:
        raise TargetError(f"{shown}: needs wasmtime, which is not installed; pip install 'overlong[wasm]'")
    return [sys.executable, str(ADAPTERS / "wasm.py"), module, export, convention, *traits]
