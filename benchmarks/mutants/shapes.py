"""Wrong implementations: real styles of decoder with one mistake each.

Each file of ``styles/`` is a right decoder. A comment ``//~ mistake => code`` says what the line above it reads if
someone makes that mistake; no code means that the line is missing. Operators make more mistakes anywhere: comparisons,
constants, masks, shifts, signs, lost statements and conditions, counters that are too narrow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from mutants.population import Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = Path(__file__).with_name("styles")
HEADER = STYLES / "style.h"
KINDS = {
    "bool(ptr,len)": "VERDICT",
    "errpos(ptr,len)": "OFFSET",
    "ptr-or-null(ptr,len)": "POINTER",
    "result(ptr,len)": "RESULT",
    "utf16-result(ptr,len,out)": "UTF16",
    "utf32-result(ptr,len,out)": "UTF32",
    "stream-utf32(state,ptr,len,out,cap)": "STREAM32",
    "replacing": "REPLACING",
}
"""The conventions of the styles: an ABI, or ``replacing``, which the protocol alone has; with their names in
``proving.c``."""
STREAM = ("NEW", "FEED", "FINISH", "FREE", "RESET")
"""The names of a stream's functions in a style."""
WRITTEN, OPERATOR = "written", "operator"
_BY_OPERATORS = 24
_ABI = re.compile(r"^// ABI: (\S+)$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.'{])(0x[0-9A-F]+|\d+)(?![\w'])")


@dataclass(frozen=True)
class Shaped(Mutant):
    """A style with a mistake."""

    abi: str = ""
    origin: str = WRITTEN

    @property
    def symbols(self) -> tuple[str, ...]:
        """Its functions."""
        return (
            tuple(f"{self.symbol}_{each.lower()}" for each in STREAM)
            if self.abi.startswith("stream")
            else (self.symbol,)
        )


@dataclass(frozen=True)
class Style:
    """One file."""

    name: str
    abi: str
    lines: tuple[str, ...]
    mistakes: tuple[tuple[int, str, str], ...]
    """The number of a line, the mistake in words, and what the line reads then."""

    @property
    def right(self) -> Shaped:
        """The decoder without a mistake."""
        return Shaped(f"right_{self.name}", self.name, "none", "\n".join(self.lines), abi=self.abi)

    def mutant(self, place: int, words: str, line: str, origin: str) -> Shaped:
        """The decoder with another line in one place."""
        code = "\n".join((*self.lines[:place], line, *self.lines[place + 1 :]))
        return Shaped("", self.name, words, code, abi=self.abi, origin=origin)


def styles() -> list[Style]:
    """All styles, by name."""
    return [_read(path) for path in sorted(STYLES.glob("*.c"))]


def _read(path: Path) -> Style:
    lines, mistakes = mistakes_in(text := path.read_text("ascii"), "//~")
    abi = _ABI.search(text)
    assert abi is not None, path
    return Style(path.stem, abi[1], tuple(lines), tuple(mistakes))


def mistakes_in(text: str, mark: str) -> tuple[list[str], list[tuple[int, str, str]]]:
    """The lines of a style, and its mistakes: the number of a line, the mistake in words, what the line reads then.

    Args:
        text: the style.
        mark: what begins the comment of a mistake.
    """
    mistake = re.compile(rf"^\s*{mark} (.*?) ?=> ?(.*)$")
    lines, mistakes = list[str](), list[tuple[int, str, str]]()
    for line in text.splitlines():
        if found := mistake.match(line):
            mistakes.append((len(lines) - 1, found[1], found[2]))
        else:
            lines.append(line)
    return lines, mistakes


def drawn(seed: int, share: float = 1.0) -> list[Shaped]:
    """Candidates, in order, all different: the written mistakes, and as many by operators as there is room for."""
    random, found = Random(seed), dict[str, Shaped]()  # noqa: S311 (no secret)
    for style in styles():
        written = [style.mutant(place, words, line, WRITTEN) for place, words, line in style.mistakes]
        others = [style.mutant(*each, OPERATOR) for each in dict.fromkeys(_operated(style))]
        for mine, most in ((written, len(written)), (others, _BY_OPERATORS)):
            some = random.sample(mine, min(len(mine), max(1, round(most * share))))
            for each in sorted(some, key=mine.index):
                found.setdefault(each.code, each)
    return [
        Shaped(f"h{number:04}", each.family, each.words, each.code, abi=each.abi, origin=each.origin)
        for number, each in enumerate(found.values())
    ]


def _operated(style: Style) -> Iterator[tuple[int, str, str]]:
    """All that the operators make of a style."""
    for place, line in enumerate(style.lines):
        code = line.partition("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith("#"):
            continue
        for changed in _changes(code):
            yield place, f"{line.strip()} → {changed.strip() or 'nothing'}", changed


_SWAPS = (
    (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" && ", " || "), (" || ", " && "),
    (" + ", " - "), (" - ", " + "), (" == ", " <= "), (" != ", " > "), (" | ", " ^ "), (" |= ", " = "), (" & ", " | "),
)  # fmt: skip
_STATEMENT = re.compile(r"^\s*(?:continue|[a-z][\w>.\[\]-]*(?:\+\+|--| [|&^+-]?= [^;]*))\s*;$")
_CONDITION = re.compile(r"^\s*if .*;$")
_COUNTER = re.compile(r"\bsize_t (?=(?:i|at|ascii|count|middle|start|turns) = )")


def _changes(code: str) -> Iterator[str]:
    for old, new in _SWAPS:
        for at in _places(code, old):
            yield code[:at] + new + code[at + len(old) :]
    for match in _NUMBER.finditer(code):
        before, after = code[: match.start()], code[match.end() :]
        for value in _others(match[0], is_mask=before.endswith(("& ", "^ "))):
            yield before + value + after
    if _STATEMENT.match(code) or _CONDITION.match(code):
        yield ""
    for match in _COUNTER.finditer(code):
        for narrow in ("uint8_t", "uint16_t"):
            yield f"{code[: match.start()]}{narrow} {code[match.end() :]}"


def _others(number: str, *, is_mask: bool) -> Iterator[str]:
    """Numbers that someone may type instead of this one."""
    value = int(number, 0)
    if is_mask:
        yield from (hex(value & ~(1 << bit)) for bit in range(64) if value >> bit & 1)
        return
    yield from (hex(each) if number.startswith("0x") else str(each) for each in (value - 1, value + 1) if each >= 0)


def _places(code: str, part: str) -> Iterator[int]:
    at = code.find(part)
    while at >= 0:
        yield at
        at = code.find(part, at + 1)
