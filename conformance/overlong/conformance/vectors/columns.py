"""Vectors as columns, for Arrow and Parquet files: the extra ``columns`` (numpy, pyarrow).

Products are laid out by stride, as everywhere; vectors that come singly fill the same columns one by one.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from overlong.conformance.vectors.registry import since
from overlong.reference import DEFECTS, Decoded, Rejected, WellFormed, dialect
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.product import Product
    from overlong.conformance.vector import Vector

ROWS = 1 << 16
"""Rows of a batch, at least, where there are that many."""

FLAGS = tuple(DEFECTS)
HEX = np.frombuffer(b"".join(b"%02x" % octet for octet in range(0x100)), "u1").reshape(0x100, 2)

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
        pa.field("since", pa.string(), nullable=False),
        pa.field("case", pa.string()),
        pa.field("comment", pa.string()),
    ]
)
"""``put_out``: scalar values of ``replacement`` that are out after each chunk (without chunks: each octet)."""


def batches(blocks: Iterable[Product | list[Vector]]) -> Iterator[pa.RecordBatch]:
    """The columns of all blocks, in record batches of :data:`SCHEMA`; memory holds a few of them."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for block in blocks:
        waiting.append(_of_vectors(block) if isinstance(block, list) else _of_product(block))
        rows += len(block)
        if rows >= ROWS:
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def put_out(vector: Vector) -> list[int]:
    """How many scalar values a replacing decoder has put out after each piece."""
    total, result = 0, list[int]()
    for scalars in vector.chunked[:-1]:
        total += len(scalars)
        result.append(total)
    return result


def _words(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _rules() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every rule and every alternative that a provenance can name."""
    grammar = dialect().grammar
    alternatives = [alternative for rule in grammar.rules.values() for alternative, _ in rule.alternatives]
    return _words(each.rule for each in alternatives), _words(each.text for each in alternatives)


RULES, ALTERNATIVES = _rules()


def _of_vectors(vectors: list[Vector]) -> pa.RecordBatch:
    rejected = [each.strict if isinstance(each.strict, Rejected) else None for each in vectors]
    provenances = [each.provenance for each in vectors]
    columns: list[Any] = [
        [each.id for each in vectors],
        [each.octets for each in vectors],
        [each.chunks for each in vectors],
        [each is None for each in rejected],
        [each and each.offset for each in rejected],
        [each and each.length for each in rejected],
        [each and each.incomplete for each in rejected],
        [each.detectable_at for each in vectors],
        [each.strict.scalars if isinstance(each.strict, Decoded) else None for each in vectors],
        [each.replaced.scalars for each in vectors],
        [put_out(each) for each in vectors],
        _coded(FLAGS, [each.flags[0] if each.flags else None for each in vectors]),
        _coded(RULES, [each and each.rule for each in provenances]),
        _coded(ALTERNATIVES, [(each and each.alternative) or None for each in provenances]),
        [since(each.id) for each in vectors],
        [each.case or None for each in vectors],
        [each.comment or None for each in vectors],
    ]
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for field, column in zip(SCHEMA, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _coded(words: tuple[str, ...], values: list[str | None]) -> pa.Array:
    indices = pa.array([None if value is None else words.index(value) for value in values], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))


def _of_product(strings: Product) -> pa.RecordBatch:
    """One vector's answers, and columns for what differs."""
    count, width, vector = len(strings), len(strings.ranges), strings.example
    one = _of_vectors([vector])
    changing = {
        "id": _ids(strings),
        "octets": _fixed(pa.binary(), count, width, strings.octets),
        "replacement": _scalars(strings, [REPLACEMENT_CHARACTER]),
    }
    if vector.flaw is None:
        changing["scalars"] = changing["replacement"]
    same = np.zeros(count, "i8")
    arrays = [
        changing[field.name] if field.name in changing else one.column(field.name).take(same) for field in SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _fixed(kind: pa.DataType, count: int, width: int, data: bytes | np.ndarray[Any, Any]) -> pa.Array:
    """An array of ``count`` values of ``width`` octets each, in a row."""
    offsets = np.arange(0, (count + 1) * width, width, "i4") if width else np.zeros(count + 1, "i4")
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _ids(strings: Product) -> pa.Array:
    head = f"{strings.category}/".encode("ascii")
    count, width = len(strings), len(strings.ranges)
    ids = np.empty((count, len(head) + 2 * width), "u1")
    ids[:, : len(head)] = np.frombuffer(head, "u1")
    octets = np.frombuffer(strings.octets, "u1").reshape(count, width)
    ids[:, len(head) :] = HEX[octets].reshape(count, 2 * width)
    return _fixed(pa.string(), count, ids.shape[1], ids)


def _scalars(strings: Product, instead: list[int]) -> pa.Array:
    """The output of a replacing decoder, for each string."""
    columns: list[Any] = []
    for found in strings.example.segments:
        if isinstance(found, WellFormed):
            after = prod(map(len, strings.ranges[found.offset + found.length :]))
            values = np.repeat(np.array(strings.scalars(found), "u4"), after)
            columns.append(np.tile(values, len(strings) // len(values)))
        else:
            columns += instead
    values = np.empty((len(strings), len(columns)), "u4")
    for place, column in enumerate(columns):
        values[:, place] = column
    offsets = np.arange(0, values.size + 1, len(columns), "i4")
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values.reshape(-1), pa.uint32()))
