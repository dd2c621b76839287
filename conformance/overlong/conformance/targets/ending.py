"""How a target's process ended, in words."""

from __future__ import annotations

import contextlib
import re
import signal
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Crashed, Misbehaved, TimedOut, describe
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from overlong.conformance.protocol.observation import Fault

_ADVICE = re.compile(r"note: run with .*|Node\.js v[0-9.]+|exit status \d+")
"""The last lines that Rust, Node.js and ``go run`` print after any failure."""
_TRACE = re.compile(
    r"at .+|\.{3} \d+ more|\}"  # JavaScript, Java
    r"|.+\.go:\d+( \+0x[0-9a-f]+)?"
    r"|\[C\]: in .+|.+:\d+: in .+"  # Lua
    r"|from .+:\d+:in .+"  # Ruby
    r"|thrown in .+ on line \d+"  # PHP
)
"""The end of a stack trace below the error."""
_ERROR = re.compile(r".*(Error|Exception|error: )\b.*|panic: .*|lua\S*: .+|PHP Fatal error: .*")
CROWDED = re.compile(r"it (had more than \d+ processes at once; overlong ended it)")
"""What the supervisor says of such a target."""


class Ended(Exception):
    """The target gave no response; ``why`` is its failure, ``words`` the last line of its stderr."""

    def __init__(self, why: Crashed | TimedOut | Misbehaved, words: str = "") -> None:
        super().__init__(why, words)
        self.why = why
        self.words = words


def was_crowded(why: Fault) -> bool:
    """True if the supervisor has ended a target for the number of its processes."""
    return CROWDED.fullmatch(describe(why)) is not None


def ended_how(code: int) -> str:
    """The end of a process in words; ``code``: its status, or the negative number of the signal."""
    if code >= 0:
        return f"exited with status {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def exit_reason(stderr: str) -> str:
    """The line of a program's stderr with the reason for its end, safe to show; empty if there is none.

    It is the last line, apart from lines that run-times print after it.
    """
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    while len(lines) > 1 and _ADVICE.fullmatch(lines[-1]):
        lines.pop()
    if not lines:
        return ""
    errors = [line for line in lines if _ERROR.fullmatch(line) and not _TRACE.fullmatch(line)]
    said = errors[-1] if errors and _TRACE.fullmatch(lines[-1]) else lines[-1]
    return printable(said, 200)
