"""Lines of a report, none longer than :data:`LINE`.

Commands are as a reader pastes them: none is cut, and a long one goes on in the next line after a backslash. Other
text is broken where a word of letters begins: any other line could have a meaning, of markup or for the runner of a
CI job.
"""

from __future__ import annotations

import re

from overlong.conformance.support.printable import counted, printable

LINE = 200
"""The most characters of a line of a report; a single word of a command may be longer."""
_LONGEST = 1 << 17
"""The most octets that Linux takes as one argument, such as that of ``sh -c``."""
_WORD = re.compile(r"""(?:"\$\((?:'[^']*'|[^'()])*\)"|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+""")
"""A word of a command, with its quotes; ``"$(…)"`` holds a command of its own."""
_KEPT = ("#", ":")
"""What the first word of a line of a command must not begin with: a comment, or ``::`` for the runner of a CI job."""


def command_lines(command: str, begins: str = "", width: int = LINE) -> list[str]:
    """The lines of a command; a command that no shell would take is a comment that gives its length.

    Args:
        command: may hold hostile text.
        begins: the beginning of the first line; the others are indented as far as that is, and by two columns more.
        width: of a line.
    """
    if len(command) > _LONGEST:
        command = f"# a command of {counted(len(command), 'character')}: the file of results has it"
    shown = printable(command, _LONGEST)
    words = _WORD.findall(shown)
    if shown.startswith("#") or " ".join(words) != shown:  # a comment, or no words as this program writes them
        return [begins + shown]
    further = " " * (len(begins) - len(begins.lstrip()) + 2)
    lines = [begins + words[0]] if words else []
    for word in words[1:]:
        if len(lines[-1]) + len(word) + len("  \\") <= width or word.startswith(_KEPT):
            lines[-1] += f" {word}"
        else:
            lines[-1] += " \\"
            lines.append(further + word)
    return lines


def prose_lines(words: str, begins: str = "", further: str = "", width: int = LINE) -> list[str]:
    """The lines of a text that is safe to show; a word too long for a line loses its end.

    Args:
        words: the text.
        begins: the beginning of the first line.
        further: the indentation of the others.
        width: of a line.
    """
    most = width - max(len(begins), len(further))
    lines = [begins]
    for number, word in enumerate(words.split(" ")):
        shown = word if len(word) <= most else f"{word[: most - 1]}…"
        if number and (len(lines[-1]) + 1 + len(shown) > width) and (shown[:1].isalpha() or shown[:1] == "&"):
            lines.append(further + shown)
        else:
            lines[-1] += f" {shown}" if number else shown
    return lines
