"""The line of a program's stderr that says why it ended: the last one, but for what run-times print after it."""

from __future__ import annotations

import re

from overlong.conformance.support.printable import printable

_ADVICE = re.compile(r"note: run with .*|Node\.js v[0-9.]+|exit status \d+")
"""What Rust, Node.js and ``go run`` say last, whatever happened."""
_TRACE = re.compile(
    r"at .+|\.{3} \d+ more|\}"  # JavaScript, Java
    r"|.+\.go:\d+( \+0x[0-9a-f]+)?"
    r"|\[C\]: in .+|.+:\d+: in .+"  # Lua
    r"|from .+:\d+:in .+"  # Ruby
    r"|thrown in .+ on line \d+"  # PHP
)
"""The end of a trace of calls that stands below the error."""
_ERROR = re.compile(r".*(Error|Exception|error: )\b.*|panic: .*|lua\S*: .+|PHP Fatal error: .*")


def last_words(stderr: str) -> str:
    """That line, safe to show; empty if there is none."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    while len(lines) > 1 and _ADVICE.fullmatch(lines[-1]):
        lines.pop()
    if not lines:
        return ""
    errors = [line for line in lines if _ERROR.fullmatch(line) and not _TRACE.fullmatch(line)]
    said = errors[-1] if errors and _TRACE.fullmatch(lines[-1]) else lines[-1]
    return printable(said, 200)
