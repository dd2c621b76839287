"""JSON Lines: a header, a line for each vector, a footer. A file without its footer was cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.lines import json_line, sequence_lines
from overlong.conformance.vectors.record import notes, record
from overlong.conformance.vectors.registry import about

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def write(selection: Selection, sink: Sink) -> None:
    with sink.open() as file:
        header = {"record": "header", **about(selection.published), "notes": notes()}
        file.write(json_line(header))
        count = 0
        for block in selection.blocks():
            count += len(block)
            if isinstance(block, list):
                file.writelines(json_line(record(vector)) for vector in block)
            else:
                file.writelines(sequence_lines(block))
        file.write(json_line({"record": "footer", "vectors": count}))


FORMAT = Format("jsonl", "vectors.jsonl", write)
