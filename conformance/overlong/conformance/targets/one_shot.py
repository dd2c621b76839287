"""``cmd:COMMAND``: a program that takes one input and ends, and the meaning of its status and output."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.interpreter import bare_script
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.builtin import ADAPTERS

KIND = "cmd"
OUTPUTS = ("utf-8", "utf-16", "utf-32")
"""The words in brackets: the encoding of a judged output."""


def is_one_shot(kind: str) -> bool:
    """True if a name begins with ``cmd:`` or ``cmd[...]:``."""
    return kind == KIND or kind.startswith(f"{KIND}[")


def one_shot_command(name: str) -> list[str]:
    """The adapter's command line for ``cmd:COMMAND`` or ``cmd[UNITS]:COMMAND``.

    Raises:
        UnknownTarget: the name is no command.
        TargetError: there is no such program.
    """
    if sys.platform == "win32":
        raise UnknownTarget(f"{printable(name)}: cmd: needs POSIX; write an adapter")
    kind, _, rest = name.partition(":")
    units = "verdict"
    if kind != KIND:
        units = kind[len(KIND) + 1 : -1]
        if not kind.endswith("]") or units not in OUTPUTS:
            there_is = ", ".join(f"{KIND}[{each}]:" for each in OUTPUTS)
            raise UnknownTarget(f"{printable(name)}: before the command write {KIND}:, or {there_is}")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UnknownTarget(f"{printable(name)}: {str(error)[:1].lower()}{str(error)[1:]} in the command") from None
    if not words:
        raise UnknownTarget(f"{printable(name)}: write a command after the colon: 'cmd:iconv -f UTF-8 -t UTF-8'")
    program = shutil.which(words[0])
    if program is None:
        here = "/" not in words[0] and Path(words[0]).is_file()
        remedy = f"write ./{words[0]}" if here else "install it, or fix PATH"
        raise TargetError(f"{printable(name)}: there is no program '{printable(words[0])}'; {printable(remedy)}")
    return bare_script(ADAPTERS / "one_shot.py", units, program, *words[1:])
