"""``lines:COMMAND``: a program that reads one input per line, in hexadecimal, and answers each with a line."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.interpreter import script
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.targets.adapters.documents import DOCUMENTS
from overlong.conformance.targets.builtin import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

KIND = "lines"
UNITS = ("utf-32", "utf-16", "utf-8")
"""The possible encodings of an answer's text."""
_MODES = {"verdict": "V", "replace": "L"}
_WORDS = (*_MODES, *UNITS, *DOCUMENTS)


def is_line_by_line(kind: str) -> bool:
    """True if a name begins with ``lines:`` or ``lines[...]:``."""
    return kind == KIND or kind.startswith(f"{KIND}[")


def line_command(name: str) -> list[str]:
    """The adapter's command line for ``lines:COMMAND`` or ``lines[WORD,...]:COMMAND``.

    The words: ``verdict`` (answers are yes or no), ``replace`` (it never refuses), the units of the text (by default
    ``utf-32``), and the kind of document around the octets (``json``, ``xml``, ...).

    Raises:
        UnknownTarget: the name is no command.
        TargetError: there is no such program.
    """
    if sys.platform == "win32":
        raise UnknownTarget(f"{printable(name)}: lines: needs POSIX; write an adapter")
    kind, _, rest = name.partition(":")
    words = [word.strip() for word in kind[len(KIND) + 1 : -1].split(",")] if kind != KIND else []
    for word in words:
        if not kind.endswith("]") or word not in _WORDS:
            shown = printable(word)
            raise UnknownTarget(f"{printable(name)}: in the brackets is {shown}; {did_you_mean(word, _WORDS)}")
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise UnknownTarget(f"{printable(name)}: {str(error)[:1].lower()}{str(error)[1:]} in the command") from None
    if not command:
        raise UnknownTarget(f"{printable(name)}: write a command after the colon: 'lines:./decode'")
    program = shutil.which(command[0])
    if program is None:
        raise TargetError(f"{printable(name)}: there is no program '{printable(command[0])}'; install it, or fix PATH")
    return lines_command(
        [program, *command[1:]],
        operation=_chosen(words, _MODES, "D"),
        units=next((word for word in words if word in UNITS), UNITS[0]),
        name=printable(command[0]),
        document=next((word for word in words if word in DOCUMENTS), ""),
        version="",
        language="",
    )


def lines_command(program: Sequence[str], **settings: str) -> list[str]:
    """The adapter's command line for a program, with the settings of lines.py, and traits."""
    return script(ADAPTERS / "lines.py", *(f"{key}={word}" for key, word in settings.items()), "--", *program)


def _chosen(words: Sequence[str], meaning: dict[str, str], otherwise: str) -> str:
    return next((meaning[word] for word in words if word in meaning), otherwise)
