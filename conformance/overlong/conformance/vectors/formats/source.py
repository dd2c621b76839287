"""The common parts of source code formats: comments, literals, and a vector's answers as plain values."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.printable import plain
from overlong.conformance.vectors.registry import notice
from overlong.reference import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import Environment

    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.sink import Writable
    from overlong.conformance.vectors.vector import Vector


def put(file: Writable, *lines: str) -> int:
    """Write lines of ASCII; return the number of octets."""
    return file.write("".join(f"{line}\n" for line in lines).encode("ascii"))


def heading(selection: Selection, mark: str = "// ") -> tuple[str, ...]:
    """The notice as comment lines. No text of a user's glob can end the comment."""
    return tuple(mark + plain(line) for line in notice(selection.words))


@cache
def templates(folder: Path) -> Environment:
    """The source code templates in a folder. A name without a value is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # noqa: S701 (source code, not HTML: templates quote the text that they insert)
        loader=FileSystemLoader(folder, encoding="ascii"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def part(name: str, block: str, **values: Any) -> str:
    """A block of a format's template, without its last line end."""
    template = templates(Path(__file__).parent / "templates").get_template(f"{name}.jinja")
    return "".join(template.blocks[block](template.new_context(values))).removesuffix("\n")


def quoted(text: str) -> str:
    """A string literal of printable ASCII, valid in every language with C's quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def escaped(octets: bytes) -> str:
    r"""``\xe0\x80``: octets inside a literal."""
    return "".join(f"\\x{octet:02x}" for octet in octets)


def in_decimal(numbers: Iterable[int]) -> str:
    """``1, 2, 3``."""
    return ", ".join(map(str, numbers))


def in_hex(numbers: Iterable[int]) -> str:
    """``0x2f, 0xfffd``."""
    return ", ".join(map(hex, numbers))


def wrapped(words: Iterable[str], width: int) -> Iterator[str]:
    """Words with spaces between them, in lines of at most ``width`` columns, except for longer words."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def sentence(vector: Vector) -> str:
    r"""Its comment in ASCII; other characters are spelt as ``\xe9``."""
    return vector.comment.encode("ascii", "backslashreplace").decode("ascii")


def refusal(vector: Vector) -> Rejected | None:
    """The refusal of a strict decoder; None if it accepts."""
    return vector.strict if isinstance(vector.strict, Rejected) else None
