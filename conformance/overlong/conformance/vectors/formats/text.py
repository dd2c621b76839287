"""Text: what source code formats have in common, a list for people, and a dictionary and seeds for fuzzers."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.support.printable import plain
from overlong.conformance.vectors.families.family import (
    out_of_range,
    overlong,
    surrogate,
    surrogate_pair,
    truncated,
    well_formed,
)
from overlong.conformance.vectors.vector import notice, spelt
from overlong.reference import Rejected, dialect
from overlong.reference.automaton import access_words
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import Environment

    from overlong.conformance.vectors.export import Opened, Selection
    from overlong.conformance.vectors.vector import Vector


def put(file: IO[bytes], *lines: str) -> int:
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


# Text for people: a list of the vectors, and a file with their octets to open in the program under test.
#
# Markus Kuhn's UTF-8 decoder stress test is the model of the second. The list gives the place of each vector's octets
# in that file, so that programs can find them, too.

WIDTH = 79
_ONE_COLUMN = {REPLACEMENT_CHARACTER, *range(0x20, 0x7F)}


def _write_list(selection: Selection, opened: Opened) -> None:
    notice = wrap(" ".join(heading(selection, "")), WIDTH)
    with opened("utf8_vectors.bin") as raw, opened() as text:  # closed first, so listed first
        put(text, *notice, part("text", "list"))
        place = put(raw, *notice, part("text", "raw", width=WIDTH))
        for category, vectors in groupby(selection.vectors(), key=lambda vector: vector.category):
            title = ("", category, "=" * len(category), "")
            put(text, *title)
            place += put(raw, *title)
            for vector in vectors:
                place += put(raw, *_field("", vector.id), *_field("", sentence(vector))) + raw.write(b'"')
                put(text, *_block(vector, place), "")
                place += raw.write(vector.octets) + put(raw, '"' + _ruler(vector))
        put(raw, "", "END")


def _block(vector: Vector, place: int) -> Iterator[str]:
    refused = refusal(vector)
    yield from _field("id", vector.id)
    yield from _field("comment", sentence(vector))
    yield from _field("octets", vector.octets.hex(" ").upper())
    if vector.chunks is not None:
        yield from _field("chunks", " ".join(map(str, vector.chunks)))
    if refused is None:
        yield from _field("expected", "accept")
    else:
        shown = "its end shows it" if vector.detectable_at is None else f"shown by {vector.detectable_at}"
        yield from _field("expected", f"reject, offset {refused.offset}, length {refused.length}, {shown}")
    yield from _field("output", spelt(*vector.replaced.scalars))
    yield from _field("in .bin", f"{place} {len(vector.octets)}")


def _field(name: str, value: str) -> list[str]:
    """A value after its name, or in lines of its own; no line if it is empty."""
    label = f"{name:<10}" if name else ""
    lines = wrap(value, WIDTH - len(label), break_on_hyphens=False)
    return [(" " * len(label) if number else label) + line for number, line in enumerate(lines)]


def _ruler(vector: Vector) -> str:
    """``|``, in the last column if the width of the text before it is known."""
    shown = vector.replaced.scalars
    if not _ONE_COLUMN.issuperset(shown):
        return "|"
    return " " * (WIDTH - len('""|') - len(shown)) + "|"


# libFuzzer and AFL: a seed corpus, and a dictionary derived from the automaton.


def _write_seeds(selection: Selection, opened: Opened) -> None:
    """Write a seed for each input, named by its SHA-1 as libFuzzer does; inputs that differ only in chunks are one."""
    with opened() as file:
        put(file, *heading(selection, "# "))
        for octets, name in tokens().items():
            put(file, f'{name}="{escaped(octets)}"')
    written = set[bytes]()
    for vector in selection.vectors():
        digest = hashlib.sha1(vector.octets, usedforsecurity=False)
        if digest.digest() not in written:
            written.add(digest.digest())
            with opened(f"seeds/{digest.hexdigest()}") as file:
                file.write(vector.octets)


def tokens() -> dict[bytes, str]:
    """The entries of the dictionary: octets, and their first name."""
    result: dict[bytes, str] = {}
    for name, octets in (*_lawful(), *_unlawful()):
        if octets:
            result.setdefault(octets, name)
    return result


def _lawful() -> Iterator[tuple[str, bytes]]:
    """The parts of the grammar and its automaton."""
    automaton = dialect().automaton
    for state, word in enumerate(access_words(automaton)):
        yield f"access_state_{state}", word
    for number, octet_class in enumerate(automaton.classes):
        yield f"class_{number}_least", bytes([octet_class.least])
        yield f"class_{number}_greatest", bytes([octet_class.octets[-1]])
    positions = {position for opened in automaton.open for position in opened}
    for position in sorted(positions, key=lambda each: each.index):
        place = f"{position.form.rule.lower().replace('-', '_')}_{position.index}"
        yield f"{place}_low", bytes([position.octets.low])
        yield f"{place}_high", bytes([position.octets.high])
    for number, ranges in enumerate(well_formed_products(automaton)):
        yield f"row_{number}_first", bytes(octets[0] for octets in ranges)
        yield f"row_{number}_last", bytes(octets[-1] for octets in ranges)
    yield "signature", well_formed(0xFEFF)
    yield "noncharacter", well_formed(0xFFFE)
    yield "replacement_character", well_formed(0xFFFD)


def _unlawful() -> Iterator[tuple[str, bytes]]:
    """Unlawful moves that known decoders accept."""
    for scalar, name in ((0x2F, "slash"), (0, "nul")):
        for length in range(2, 7):
            yield f"overlong_{name}_{length}", overlong(scalar, length)
    for length, scalar in ((2, 0x7F), (3, 0x7FF), (4, 0xFFFF)):
        yield f"overlong_largest_{length}", overlong(scalar, length)
    for code_point in (0xD800, 0xDBFF, 0xDC00, 0xDFFF):
        yield f"surrogate_{code_point:x}", surrogate(code_point)
    for scalar in (0x10000, 0x10FFFF):
        yield f"surrogate_pair_{scalar:x}", surrogate_pair(scalar)
    for number in (0x110000, 0x1FFFFF, 0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF):
        yield f"out_of_range_{number:x}", out_of_range(number)
    for scalar in (0x20AC, 0x1F600):
        for length in range(1, len(well_formed(scalar))):
            yield f"truncated_{scalar:x}_{length}", truncated(scalar, length)


WRITERS = {"text": _write_list, "libfuzzer": _write_seeds}
