"""Text for people: a list of the vectors, and a file with their octets to open in the program under test.

Markus Kuhn's UTF-8 decoder stress test is the model of the second. The list gives the place of each vector's octets
in that file, so that programs can find them, too.
"""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.source import heading, part, put, refusal, sentence
from overlong.conformance.vectors.record import spelt
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.sink import Sink
    from overlong.conformance.vectors.vector import Vector

WIDTH = 79
_ONE_COLUMN = {REPLACEMENT_CHARACTER, *range(0x20, 0x7F)}


def write(selection: Selection, sink: Sink) -> None:
    notice = wrap(" ".join(heading(selection, "")), WIDTH)
    with sink.open("utf8_vectors.bin") as raw, sink.open() as text:  # closed first, so listed first
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


WRITERS = {"text": write}
