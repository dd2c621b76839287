"""Octets, text and numbers as source code, in lines that formatters leave alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.source import escaped, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PER_LINE = 16
"""Octets of a line of a literal."""


def octet_lines(octets: bytes) -> list[str]:
    r"""``\xe0\x80``: what stands between quotes, a line of at most 16 octets after the other; one at least."""
    return [escaped(octets[start : start + PER_LINE]) for start in range(0, len(octets), PER_LINE)] or [""]


def text_lines(text: str, spelt: Callable[[int], str]) -> list[str]:
    """The same of text; ``spelt`` writes a scalar value as an escape sequence."""
    step = PER_LINE // 2
    parts = (text[start : start + step] for start in range(0, len(text), step))
    return ["".join(spelt(ord(character)) for character in part) for part in parts] or [""]


def number_lines(numbers: Iterable[int], width: int, form: Callable[[int], str] = str) -> list[str]:
    """``1, 2, 3,``: numbers, a comma behind each, in lines of at most ``width`` columns."""
    return list(wrapped((f"{form(number)}," for number in numbers), width))


def listed(numbers: Sequence[int], form: Callable[[int], str] = str) -> str:
    """``1, 2, 3``."""
    return ", ".join(map(form, numbers))


def commented(lines: Sequence[str], mark: str) -> list[str]:
    """Lines as comments."""
    return [f"{mark} {line}".rstrip() for line in lines]


def source_of(*parts: str | Sequence[str]) -> str:
    """Lines, and groups of lines, as a file."""
    lines: list[str] = []
    for part in parts:
        lines += [part] if isinstance(part, str) else part
    return "\n".join(lines) + "\n"
