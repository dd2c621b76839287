"""Arrow: the vectors as columns, in one IPC file. Needs the extra ``columns``."""

# pyright: basic
# (pyarrow has no types)

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def write(selection: Selection, sink: Sink) -> None:
    import pyarrow as pa

    from overlong.conformance.vectors.columns import SCHEMA, batches
    from overlong.conformance.vectors.registry import about

    schema = SCHEMA.with_metadata(about(selection.published))
    with sink.open() as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches(selection.blocks()):
            writer.write_batch(batch)


FORMAT = Format("arrow", "vectors.arrow", write, extra="columns")
