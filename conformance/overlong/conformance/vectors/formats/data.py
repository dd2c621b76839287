"""Data for programs: JSON, JSON Lines, TSV and CSV with every expectation; and frames, requests of the protocol."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from itertools import chain, count, groupby
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import (
    DECODE,
    ECHO,
    ECHO_PROBE,
    REPLACE,
    STREAM_DECODE,
    STREAM_REPLACE,
    VALIDATE,
    frame,
    stream_payload,
)
from overlong.conformance.vectors.vector import SUITE_VERSION, about, notes, record, spelt
from overlong.reference import Decoded, WellFormed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from overlong.conformance.vectors.export import Opened, Selection
    from overlong.conformance.vectors.suites.suite import ByteRangeSequence
    from overlong.conformance.vectors.vector import Vector


COLUMNS = (
    "id", "hex", "chunks", "verdict", "offset", "length", "incomplete", "detectable_at", "scalars", "replacement",
    "chunked", "flags", "rule", "alternative", "cases", "comment",
)  # fmt: skip
"""Columns of TSV and CSV."""
ROWS = 1024
"""The number of JSON lines laid out at once: few enough to stay in the processor's cache."""

_HOLE = 0xE000  # private use characters mark the places of digits in a template


def _write_json(selection: Selection, opened: Opened) -> None:
    """Write one document with vectors grouped by family; ``schemas/vectors-1.schema.json`` describes it.

    Each vector has its own line, so that people can read differences between versions.
    """
    head = {**about(selection.words), "notes": notes()}
    with opened() as file:
        file.write((json.dumps(head, indent=1)[:-2] + ',\n "groups": [').encode("ascii"))
        between = b"\n"
        for category, vectors in groupby(selection.vectors(), key=lambda vector: vector.category):
            file.write(between + f'  {{"category": {json.dumps(category)}, "tests": ['.encode("ascii"))
            between = b"\n"
            for vector in vectors:
                file.write(between + b"   " + json.dumps(record(vector)).encode("ascii"))
                between = b",\n"
            file.write(b"\n  ]}")
        file.write(b"\n ]\n}\n")


def _write_jsonl(selection: Selection, opened: Opened) -> None:
    """Write a header, a line for each vector, and a footer. A file without its footer is truncated."""
    with opened() as file:
        header = {"record": "header", **about(selection.words), "notes": notes()}
        file.write(json_line(header))
        count = 0
        for block in selection.blocks():
            count += len(block)
            if isinstance(block, list):
                file.writelines(json_line(record(vector)) for vector in block)
            else:
                file.writelines(sequence_lines(block))
        file.write(json_line({"record": "footer", "vectors": count}))


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


def _write_tsv(selection: Selection, opened: Opened) -> None:
    """Write a line of names, then a line for each vector. Spreadsheets open it, and any language can split it."""
    with opened() as file:
        file.write(("\t".join(COLUMNS) + "\n").encode("ascii"))
        for vector in selection.vectors():
            file.write(("\t".join(_row(vector)) + "\n").encode("ascii"))


def _write_csv(selection: Selection, opened: Opened) -> None:
    """Write the columns of TSV in the format of RFC 4180."""
    with opened() as file:
        for row in chain((COLUMNS,), map(_row, selection.vectors())):
            line = io.StringIO()
            csv.writer(line).writerow(row)
            file.write(line.getvalue().encode("ascii"))


def _row(vector: Vector) -> tuple[str, ...]:
    """One vector's fields, named as in :data:`COLUMNS`; a field that does not apply is empty."""
    strict = vector.strict
    if isinstance(strict, Decoded):
        answer = ("accept", "", "", "", "", spelt(*strict.scalars))
    else:
        known = "" if vector.detectable_at is None else str(vector.detectable_at)
        answer = ("reject", str(strict.offset), str(strict.length), str(strict.incomplete).lower(), known, "")
    return (
        vector.id,
        vector.octets.hex(),
        "" if vector.chunks is None else " ".join(map(str, vector.chunks)),
        *answer,
        spelt(*vector.replaced.scalars),
        "|".join(spelt(*each) for each in vector.chunked),
        " ".join(vector.flags),
        *vector.provenance,
        " ".join(vector.cases),
        vector.comment,
    )


# Frames: requests of the target protocol in a file, for an adapter that overlong cannot start itself.


def requests(vector: Vector) -> Iterator[tuple[str, bytes]]:
    """The operations for a vector, with their payloads: V, D and L for a whole input; S and T for chunks."""
    if vector.chunks is None:
        operations, payload = VALIDATE + DECODE + REPLACE, vector.octets
    else:
        operations, payload = STREAM_DECODE + STREAM_REPLACE, stream_payload(vector.octets, vector.chunks)
    for operation in operations:
        yield operation, payload


def description(selection: Selection) -> bytes:
    """The text of the first echo after its probe, in ASCII: it comes back, so a file of answers names its questions."""
    from overlong.conformance.support.provenance import generator

    asked = {name: list(values) for name, values in vars(selection).items()}
    data = {"vectors": selection.count(), "suite": SUITE_VERSION, "generator": generator(), **asked}
    return json.dumps(data).encode("ascii")


def stream(selection: Selection) -> Iterator[bytes]:
    """The frames. The first echo has id 0; the others count up in the order of the vectors.

    The last frame is an echo of the SHA-256 of all frames before it. Answers that end with it are complete, and belong
    to these requests.
    """
    numbers, digest = count(), hashlib.sha256()
    first = frame(next(numbers), ECHO.encode("ascii") + ECHO_PROBE + description(selection))
    digest.update(first)
    yield first
    for vector in selection.vectors():
        for operation, payload in requests(vector):
            asked = frame(next(numbers) & 0xFFFFFFFF, operation.encode("ascii") + payload)
            digest.update(asked)
            yield asked
    yield frame(next(numbers) & 0xFFFFFFFF, ECHO.encode("ascii") + digest.digest())


def _write_frames(selection: Selection, opened: Opened) -> None:
    """Write all frames into one file."""
    with opened() as file:
        file.writelines(stream(selection))


WRITERS = {"json": _write_json, "jsonl": _write_jsonl, "tsv": _write_tsv, "csv": _write_csv, "frames": _write_frames}
