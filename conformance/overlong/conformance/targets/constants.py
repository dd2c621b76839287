"""The numbers that a decoder's code names: of a Python callable, in its greeting; of a library's function, in its file.

Sweeps ask around them. No code of a library runs for this.
"""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.support.interpreter import environment, script
from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.functions import library_in

if TYPE_CHECKING:
    from overlong.conformance.targets.framed import FramedTarget

_SECONDS = 20.0
"""The time for reading a function; it takes less than one."""


def constants_of(target: FramedTarget) -> tuple[int, ...]:
    """The numbers, ascending; none if the code cannot be read, or capstone is not installed.

    Args:
        target: a target that has greeted.
    """
    library = library_in(target.command)
    if not library:
        return target.greeting.constants
    if find_spec("capstone") is None:
        return ()
    symbols = target.command[target.command.index(library) + 1].split(",")
    try:
        said = subprocess.run(
            script(ADAPTERS / "immediates.py", library, *symbols),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env=environment(),
            check=True,
        ).stdout
        return tuple(map(int, said.split()))
    except (OSError, subprocess.SubprocessError, ValueError):  # the disassembler may fail on anything
        return ()
