"""``wasm:FILE:EXPORT?abi=NAME`` to the command line of a worker process. ``docs/wasm.md`` explains it."""

from __future__ import annotations

import os
from importlib.util import find_spec

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.interpreter import script
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.abi import ABIS, ITERATE
from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.function_name import FunctionName
from overlong.reference.extra import install

KIND = "wasm"
OFFERED = tuple(name for name, abi in ABIS.items() if not abi.functions and abi is not ITERATE)
"""ABIs of one function that is called once for an input."""
_KNOWN = f"there is {', '.join(OFFERED)}"


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
    form = f"write {KIND}:FILE:EXPORT?abi=NAME, as in '{KIND}:./mine.wasm:is_utf8?abi=bool(ptr,len)'; {_KNOWN}"
    function = FunctionName.of(shown, rest, form)
    if function.abi not in OFFERED:
        raise function.no_abi(shown, OFFERED, " for WebAssembly", _KNOWN)
    module = function.file
    if not os.path.isfile(module):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        raise TargetError(f"{shown}: there is no file {printable(module)}; build it, or check the path")
    if find_spec("wasmtime") is None:
        raise TargetError(f"{shown}: needs wasmtime, which is not installed; {install('wasm')}")
    return script(ADAPTERS / "wasm.py", module, function.name, function.abi, *function.traits)
