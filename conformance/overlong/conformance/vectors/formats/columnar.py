"""Arrow and Parquet: the vectors as columns. Needs the extra ``columns``."""

# pyright: basic
# (pyarrow has no types)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.vectors.formats.format import VectorFormat
from overlong.conformance.vectors.registry import about

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def _write_arrow(selection: Selection, sink: Sink) -> None:
    """Write the columns into one IPC file."""
    import pyarrow as pa

    from overlong.conformance.vectors.columns import SCHEMA

    schema = SCHEMA.with_metadata(about(selection.words))
    _write_columns(selection, sink, lambda file: pa.ipc.new_file(file, schema))


def _write_parquet(selection: Selection, sink: Sink) -> None:
    """Columns, compressed."""
    from pyarrow import parquet

    from overlong.conformance.vectors.columns import SCHEMA

    schema = SCHEMA.with_metadata(about(selection.words))
    _write_columns(selection, sink, lambda file: parquet.ParquetWriter(file, schema, compression="zstd"))


def _write_columns(selection: Selection, sink: Sink, opened: Callable[[Any], Any]) -> None:
    from overlong.conformance.vectors.columns import batches

    with sink.open() as file, opened(file) as writer:
        for batch in batches(selection.blocks()):
            writer.write_batch(batch)


FORMATS = {
    "arrow": VectorFormat("arrow", "vectors.arrow", _write_arrow, extra="columns"),
    "parquet": VectorFormat("parquet", "vectors.parquet", _write_parquet, extra="columns"),
}
