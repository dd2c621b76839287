r"""Reads octets in programs: arrays of numbers, and string literals with ``\x`` escapes, of most languages.

Examples are WPT's lists (``input: [0xC3, 0x28]``), and tests in C, Go, Rust, Java and Python. It runs no program, and
reads no verdicts.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from overlong.conformance.models.score.expectations import ReadError, ScoreEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENDINGS = (
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".go", ".java", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".kt",
    ".php", ".pl", ".py", ".rb", ".rs", ".swift", ".zig",
)  # fmt: skip
_NUMBER = r"(?:\([a-z]+\)\s*)?(?:0[xX][0-9A-Fa-f]{1,2}|[0-9]{1,3})"
_ARRAY = re.compile(rf"[\[{{(]\s*+({_NUMBER}(?:\s*+,\s*+{_NUMBER})*+)\s*+(?:,\s*+)?[\]}})]")
_LITERAL = re.compile(r"""\\.|(["'`])((?:\\.|(?!\1)[^\\\n])*+)\1""")
"""A literal, or an escape outside of one. Nothing in these patterns gives back what it took, and an escape is one
token everywhere, so the time is linear: a quote without its partner is looked for once in a line."""
_WITH_X = re.compile(r"(?:[^\\]|\\[^x])*+\\x")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([abfnrtv\\'\"`?]))|([^\\])")
_PLAIN = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def is_program(name: str) -> bool:
    """True if the file's name is that of a program."""
    return name.lower().endswith(_ENDINGS)


def source_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """The arrays and literals of a program. An array may take several lines; messages name its first line.

    Raises:
        ReadError: the program is not text.
    """
    texts: list[str] = []
    for number, line in lines:
        try:
            texts.append(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ReadError(f"{name}:{number}: octets that are not text; a program has none such") from None
    whole = "".join(texts)
    found = chain(
        ((match.start(), _of_array(match[1])) for match in _ARRAY.finditer(whole)),
        ((match.start(), _of_literal(match[2])) for match in _LITERAL.finditer(whole) if _WITH_X.match(match[2] or "")),
    )
    number, seen = 1, 0
    for place, octets in sorted(found, key=lambda each: each[0]):
        number += whole.count("\n", seen, place)
        seen = place
        if octets is not None:
            yield ScoreEntry(octets, f"{name}:{number}")


def _of_array(text: str) -> bytes | None:
    """The octets of an array, if all its numbers are octets; a single number in brackets is an index, not an array."""
    words = [word.rpartition(")")[2].strip() for word in text.split(",")]
    numbers = [int(word, 16) if word[:2] in ("0x", "0X") else int(word) for word in words]
    if max(numbers) > 0xFF or (len(numbers) == 1 and not words[0].lower().startswith("0x")):
        return None
    return bytes(numbers)


def _of_literal(text: str) -> bytes | None:
    r"""The octets of a literal with ``\x`` escapes; None if it has escapes for characters, such as ``\u``."""
    octets = bytearray()
    end = 0
    for match in _ESCAPE.finditer(text):
        if match.start() != end:
            return None
        end = match.end()
        hexadecimal, octal, letter, character = match.groups()
        if hexadecimal or octal:
            octets.append(int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF)
        elif letter:
            octets.append(_PLAIN.get(letter, ord(letter)))
        else:
            octets += character.encode("utf-8", "surrogatepass")
    return bytes(octets) if end == len(text) else None
