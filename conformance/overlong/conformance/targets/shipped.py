"""The decoders with names: those that ship with an adapter, and those that a file of the user's adds."""

from __future__ import annotations

import os
import runpy
from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.builtins import BUILTINS

if TYPE_CHECKING:
    from overlong.conformance.targets.builtin import Builtin

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
