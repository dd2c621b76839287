"""JSON lines of byte-range sequences by stride: one record serves all strings of a sequence; only digits change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from overlong.conformance.vectors.record import record, spelt
from overlong.reference import WellFormed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from overlong.conformance.vectors.byte_ranges import ByteRangeSequence

ROWS = 1024
"""The number of lines laid out at once: few enough to stay in the processor's cache."""

_HOLE = 0xE000  # private use characters mark the places of digits in a template


def json_line(data: Mapping[str, object]) -> bytes:
    """A record as one line."""
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def sequence_lines(strings: ByteRangeSequence) -> Iterator[bytes]:
    """The lines of all strings of a sequence, some at a time; each equals :func:`json_line` of the string's record."""
    template, columns = _template(strings)
    count, width = len(strings), len(template)
    rows = min(ROWS, count)
    block = bytearray(template * rows)
    for start in range(0, count, ROWS):
        if start + rows > count:
            rows = count - start
            block = block[: rows * width]
        for place, column in columns:
            block[place::width] = column[start : start + rows]
        yield bytes(block)


def _template(strings: ByteRangeSequence) -> tuple[bytes, list[tuple[int, bytes]]]:
    """The line that all strings share, and the columns of the digits in which they differ."""
    vector = strings.example
    holes: list[bytes] = []

    def hole(texts: list[bytes], start: int, end: int) -> str:
        columns = strings.column(start, end, texts)
        if len(texts) == 1:
            return texts[0].decode("ascii")
        first = len(holes)
        holes.extend(columns)
        return "".join(chr(_HOLE + first + place) for place in range(len(columns)))

    digits = "".join(
        hole([b"%02x" % octet for octet in octets], place, place + 1) for place, octets in enumerate(strings.ranges)
    )
    scalars = {
        found: hole([spelt(each).encode("ascii") for each in strings.scalars(found)], found.offset, end)
        for found in vector.segments
        if isinstance(found, WellFormed)
        for end in [found.offset + found.length]
    }
    data = record(vector, f"{vector.category}/{digits}", digits, scalars.__getitem__)
    line = json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"
    places = [(place, ord(character) - _HOLE) for place, character in enumerate(line) if ord(character) >= _HOLE]
    plain = "".join("0" if ord(character) >= _HOLE else character for character in line)
    return plain.encode("ascii"), [(place, holes[number]) for place, number in places]
