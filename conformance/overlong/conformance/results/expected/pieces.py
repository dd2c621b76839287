"""A TOML file in pieces, one for each table: what is not changed stays octet for octet.

A document's model would move comments that stand between tables; a cut before each header moves nothing.
"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathlib import Path

OWN = ("expected",)
OF_A_PROJECT = ("tool", "overlong", "expected")

_HEADER = re.compile(r"^[ \t]*(?=\[)", re.MULTILINE)


def pieces_of(text: str) -> list[str]:
    """A document, cut before the header of each table; what stands before the first is the first, if anything does.

    Raises:
        ValueError: it is no TOML.
    """
    starts = [0, *(found.start() for found in _HEADER.finditer(text)), len(text)]
    result: list[str] = []
    piece = ""
    for start, end in pairwise(starts):
        piece += text[start:end]
        if piece and _is_whole(piece):
            result.append(piece)
            piece = ""
    if piece:
        raise ValueError("a table in it is not whole")
    return result


def _is_whole(piece: str) -> bool:
    """A line that begins with a bracket inside a string or a list is no header: up to there it is no document."""
    try:
        tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return False
    return True


def is_entry(piece: str, path: tuple[str, ...]) -> bool:
    """Whether a piece is an element of the array of tables at ``path``, and its keys."""
    if not piece.lstrip(" \t").startswith("[["):
        return False
    found: Any = tomllib.loads(piece)
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return False
        found = cast("dict[str, Any]", found)[key]
    return isinstance(found, list)


def lines_of_entries(file: Path, path: tuple[str, ...], count: int) -> list[int]:
    """The numbers of the lines of their headers, from 1; none if entries are not written with headers."""
    try:
        text = file.read_bytes().decode()
        pieces = pieces_of(text)
    except (OSError, ValueError):
        return []
    lines: list[int] = []
    line = 1
    for piece in pieces:
        if is_entry(piece, path):
            lines.append(line)
        line += piece.count("\n")
    return lines if len(lines) == count else []


def in_two(piece: str) -> tuple[str, str]:
    """A piece's table, and what follows it: blank lines and comments, which belong to nobody or to the next."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", piece)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return "".join(lines[:end]), "".join(lines[end:])
