"""``cmd:COMMAND`` and ``lines:COMMAND``: programs that do not speak the protocol, and the adapters that do.

With ``cmd:`` the program takes one input and ends; its status and its output are the answer. With ``lines:`` it reads
one input per line, in hexadecimal, and answers each with a line.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.support.process import bare_script, script
from overlong.conformance.targets.adapters.documents import DOCUMENTS
from overlong.conformance.targets.builtin import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

_ONE_SHOT, _LINES = "cmd", "lines"
_EXAMPLES = {_ONE_SHOT: "cmd:iconv -f UTF-8 -t UTF-8", _LINES: "lines:./decode"}
_OUTPUTS = ("utf-8", "utf-16", "utf-32")
"""The word in the brackets of ``cmd[...]:``: the encoding of a judged output."""
_MODES = {"verdict": "V", "replace": "L"}
_UNITS = ("utf-32", "utf-16", "utf-8")
"""The possible encodings of a line's text."""
_WORDS = (*_MODES, *_UNITS, *DOCUMENTS)
"""The words in the brackets of ``lines[...]:``."""


def is_program(kind: str) -> bool:
    """True if a name begins with ``cmd:`` or ``lines:``, or with one of them and words in brackets."""
    return kind.partition("[")[0] in _EXAMPLES


def program_command(name: str) -> list[str]:
    """The adapter's command line for ``cmd:COMMAND``, ``cmd[UNITS]:COMMAND`` or ``lines[WORD,...]:COMMAND``.

    The words of ``lines``: ``verdict`` (answers are yes or no), ``replace`` (it never refuses), the units of the text
    (by default ``utf-32``), and the kind of document around the octets (``json``, ``xml``, ...).

    Raises:
        UnknownTarget: the name is no command.
        TargetError: there is no such program.
    """
    shown = printable(name)
    whole, _, rest = name.partition(":")
    kind = whole.partition("[")[0]
    if sys.platform == "win32":
        raise UnknownTarget(f"{shown}: {kind}: needs POSIX; write an adapter")
    inside, closed = whole[len(kind) + 1 :].removesuffix("]"), whole.endswith("]")
    words = [word.strip() for word in inside.split(",")] if whole != kind else []
    if kind == _ONE_SHOT and words and not (closed and inside in _OUTPUTS):
        there_is = ", ".join(f"{kind}[{each}]:" for each in _OUTPUTS)
        raise UnknownTarget(f"{shown}: before the command write {kind}:, or {there_is}")
    if words and not closed:
        raise UnknownTarget(f"{shown}: the bracket has no end; write {kind}[{printable(inside)}]:COMMAND")
    for word in words if kind == _LINES else ():
        if word not in _WORDS:
            raise UnknownTarget(f"{shown}: in the brackets is {printable(word)}; {did_you_mean(word, _WORDS)}")
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise UnknownTarget(f"{shown}: {str(error)[:1].lower()}{str(error)[1:]} in the command") from None
    if not command:
        raise UnknownTarget(f"{shown}: write a command after the colon: '{_EXAMPLES[kind]}'")
    program = shutil.which(command[0])
    if program is None:
        here = "/" not in command[0] and Path(command[0]).is_file()
        remedy = f"write ./{command[0]}" if here else "install it, or fix PATH"
        raise TargetError(f"{shown}: there is no program '{printable(command[0])}'; {printable(remedy)}")
    if kind == _ONE_SHOT:
        return bare_script(ADAPTERS / "one_shot.py", inside or "verdict", program, *command[1:])
    return lines_command(
        [program, *command[1:]],
        operation=next((_MODES[word] for word in words if word in _MODES), "D"),
        units=next((word for word in words if word in _UNITS), _UNITS[0]),
        name=printable(command[0]),
        document=next((word for word in words if word in DOCUMENTS), ""),
        version="",
        language="",
    )


def lines_command(program: Sequence[str], **settings: str) -> list[str]:
    """The adapter's command line for a program, with the settings of lines.py, and traits."""
    return script(ADAPTERS / "lines.py", *(f"{key}={word}" for key, word in settings.items()), "--", *program)
