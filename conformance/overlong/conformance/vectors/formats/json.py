"""JSON: one document, vectors grouped by family. ``schemas/vectors-1.schema.json`` describes it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.record import notes, record
from overlong.conformance.vectors.registry import about

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def write(selection: Selection, sink: Sink) -> None:
    """A line for each vector, so that differences between versions can be read."""
    head = {**about(selection.published), "notes": notes()}
    with sink.open() as file:
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


FORMAT = Format("json", "vectors.json", write)
