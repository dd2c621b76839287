"""Arrow and Parquet: the vectors as columns. Needs the extra ``columns`` (numpy, pyarrow).

Byte-range sequences are laid out by stride, as everywhere; single vectors fill the same columns one by one.
"""

# pyright: basic
# (pyarrow has no types)

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from overlong.conformance.vectors.suites.suite import PART
from overlong.conformance.vectors.vector import FIRST, about, published, since
from overlong.reference import DEFECTS, Decoded, Rejected, WellFormed, dialect
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from overlong.conformance.vectors.export import Opened, Selection
    from overlong.conformance.vectors.suites.suite import ByteRangeSequence
    from overlong.conformance.vectors.vector import Vector

ROWS = 1 << 14
"""The approximate number of rows of a batch; smaller blocks are joined."""

HEX = np.frombuffer(b"".join(b"%02x" % octet for octet in range(0x100)), "u2")

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("octets", pa.binary(), nullable=False),
        pa.field("chunks", pa.list_(pa.uint32())),
        pa.field("accept", pa.bool_(), nullable=False),
        pa.field("offset", pa.uint32()),
        pa.field("length", pa.uint8()),
        pa.field("incomplete", pa.bool_()),
        pa.field("detectable_at", pa.uint32()),
        pa.field("scalars", pa.list_(pa.uint32())),
        pa.field("replacement", pa.list_(pa.uint32()), nullable=False),
        pa.field("put_out", pa.list_(pa.uint32()), nullable=False),
        pa.field("flag", pa.dictionary(pa.int8(), pa.string())),
        pa.field("rule", pa.dictionary(pa.int8(), pa.string())),
        pa.field("alternative", pa.dictionary(pa.int8(), pa.string())),
        pa.field("since", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("cases", pa.list_(pa.string())),
        pa.field("comment", pa.string()),
    ]
)
"""``put_out``: how many scalar values of ``replacement`` are out after each chunk (without chunks: each octet)."""


def batches(blocks: Iterable[ByteRangeSequence | list[Vector]]) -> Iterator[pa.RecordBatch]:
    """The columns of all blocks, in record batches of :data:`SCHEMA`; memory holds a few of them."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for block in blocks:
        batch = _of_vectors(block) if isinstance(block, list) else _of_sequence(block)
        if len(block) < ROWS:
            waiting.append(batch)
            rows += len(block)
        if waiting and (rows >= ROWS or len(block) >= ROWS):
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
        if len(block) >= ROWS:
            yield batch
    if waiting:
        yield pa.concat_batches(waiting)


def _words(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _words_of_the_grammar() -> dict[str, tuple[str, ...]]:
    """Every rule and every alternative that a provenance can name."""
    rules = dialect().grammar.rules.values()
    return {
        "rule": tuple(rule.name for rule in rules),
        "alternative": _words(alternative.text for rule in rules for alternative, _ in rule.alternatives),
    }


WORDS = {"flag": tuple(DEFECTS), "since": _words((FIRST, *published().values())), **_words_of_the_grammar()}
"""The values of dictionary-coded columns: each file has all of them."""


def _row(vector: Vector) -> dict[str, Any]:
    """One vector's values, named as in :data:`SCHEMA`; None for each that does not apply."""
    strict, (rule, alternative) = vector.strict, vector.provenance
    rejected = strict._asdict() if isinstance(strict, Rejected) else {}
    return {
        "id": vector.id,
        "octets": vector.octets,
        "chunks": vector.chunks,
        "accept": not rejected,
        **rejected,
        "detectable_at": vector.detectable_at,
        "scalars": strict.scalars if isinstance(strict, Decoded) else None,
        "replacement": vector.replaced.scalars,
        "put_out": vector.put_out,
        "flag": vector.flags[0] if vector.flags else None,
        "rule": rule or None,
        "alternative": alternative or None,
        "since": since(vector.id),
        "cases": vector.cases or None,
        "comment": vector.comment or None,
    }


def _column(name: str, values: list[Any]) -> pa.Array:
    if name not in WORDS:
        return pa.array(values, SCHEMA.field(name).type)
    indices = pa.array([None if value is None else WORDS[name].index(value) for value in values], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(WORDS[name], pa.string()))


def _of_vectors(vectors: list[Vector]) -> pa.RecordBatch:
    rows = list(map(_row, vectors))
    arrays = [_column(name, [row.get(name) for row in rows]) for name in SCHEMA.names]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


@lru_cache(maxsize=1024)
def _constant(name: str, value: Any) -> pa.Array:
    """A column of one value, as long as a byte-range sequence can be."""
    return _column(name, [value]).take(np.zeros(PART, "i8"))


def _of_sequence(strings: ByteRangeSequence) -> pa.RecordBatch:
    """One string's answers, and columns for the values that differ."""
    count, width, vector = len(strings), len(strings.ranges), strings.example
    row, octets = _row(vector), strings.octets
    changing = {
        "id": _ids(strings.category, np.frombuffer(octets, "u1").reshape(count, width)),
        "octets": _fixed(pa.binary(), count, width, octets),
        "replacement": _scalars(strings),
    }
    if vector.flaw is None:
        changing["scalars"] = changing["replacement"]
    arrays = [
        changing[name] if name in changing else _constant(name, row.get(name)).slice(0, count) for name in SCHEMA.names
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _fixed(kind: pa.DataType, count: int, width: int, data: bytes | np.ndarray[Any, Any]) -> pa.Array:
    """An array of ``count`` values of ``width`` octets each, in a row."""
    offsets = np.arange(0, (count + 1) * width, width, dtype="i4") if width else np.zeros(count + 1, "i4")
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _ids(category: str, octets: np.ndarray[Any, Any]) -> pa.Array:
    head = np.frombuffer(f"{category}/".encode("ascii"), "u1")
    count, width = octets.shape
    ids = np.empty((count, len(head) + 2 * width), "u1")
    ids[:, : len(head)] = head
    ids[:, len(head) :] = HEX[octets].view("u1")
    return _fixed(pa.string(), count, ids.shape[1], ids)


def _scalars(strings: ByteRangeSequence) -> pa.Array:
    """The output of a replacing decoder, for each string."""
    segments = strings.example.segments
    values = np.empty((len(strings), len(segments)), "u4")
    for place, found in enumerate(segments):
        if isinstance(found, WellFormed):
            after = prod(map(len, strings.ranges[found.offset + found.length :]))
            scalars = np.repeat(np.array(strings.scalars(found), "u4"), after)
            values[:, place] = np.tile(scalars, len(strings) // len(scalars))
        else:
            values[:, place] = REPLACEMENT_CHARACTER
    return _lists(values)


def _lists(values: np.ndarray[Any, Any]) -> pa.Array:
    """A list for each row."""
    count, width = values.shape
    offsets = np.arange(0, values.size + 1, width, dtype="i4") if width else np.zeros(count + 1, "i4")
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values.reshape(-1), pa.uint32()))


def _write_arrow(selection: Selection, opened: Opened) -> None:
    """Write the columns into one IPC file."""
    schema = SCHEMA.with_metadata(about(selection.words))
    _write_columns(selection, opened, lambda file: pa.ipc.new_file(file, schema))


def _write_parquet(selection: Selection, opened: Opened) -> None:
    """Columns, compressed."""
    from pyarrow import parquet

    schema = SCHEMA.with_metadata(about(selection.words))
    _write_columns(selection, opened, lambda file: parquet.ParquetWriter(file, schema, compression="zstd"))


def _write_columns(selection: Selection, opened: Opened, writing: Callable[[Any], Any]) -> None:
    with opened() as file, writing(file) as writer:
        for batch in batches(selection.blocks()):
            writer.write_batch(batch)


WRITERS = {"arrow": _write_arrow, "parquet": _write_parquet}
