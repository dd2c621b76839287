"""Parquet: the vectors as columns, compressed. Needs the extra ``columns``."""

# pyright: basic
# (pyarrow has no types)

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def write(selection: Selection, sink: Sink) -> None:
    from pyarrow import parquet

    from overlong.conformance.vectors.columns import SCHEMA, batches
    from overlong.conformance.vectors.registry import about

    schema = SCHEMA.with_metadata(about(selection.published))
    with sink.open() as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches(selection.blocks()):
            writer.write_batch(batch)


FORMAT = Format("parquet", "vectors.parquet", write, extra="columns")
