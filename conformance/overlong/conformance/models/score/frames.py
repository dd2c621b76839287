"""Reads a stream of request frames, in the form of the target protocol, as a list of strings."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NoReturn

from overlong.conformance.models.score.expectations import ReadError, ScoreEntry
from overlong.conformance.protocol.wire import (
    BATCH,
    DECODE,
    HEAD,
    LARGEST_FRAME,
    OPERATIONS,
    REPLACE,
    STREAMING,
    VALIDATE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WHOLE = VALIDATE + DECODE + REPLACE
_LEAST = HEAD.size + 1


def looks_like_frames(head: bytes) -> bool:
    """True if a file that begins so may be a stream of request frames."""
    if len(head) < _LEAST:
        return False
    length, _ = HEAD.unpack_from(head)
    return 5 <= length <= LARGEST_FRAME and chr(head[HEAD.size]) in OPERATIONS


def frames(read: Callable[[int], bytes], name: str) -> Iterator[ScoreEntry]:
    """The inputs of all requests; a batch has many, and an echo request has none."""
    number = 0
    while head := read(HEAD.size):
        number += 1
        place = f"{name}: frame {number}"
        if len(head) < HEAD.size:
            _refuse(place, "the file ends inside it")
        length, _ = HEAD.unpack(head)
        if not 5 <= length <= LARGEST_FRAME:
            _refuse(place, f"a length of {length}; this is no stream of request frames")
        body = read(length - 4)
        if len(body) < length - 4:
            _refuse(place, "the file ends inside it")
        operation, payload = chr(body[0]), body[1:]
        if operation not in OPERATIONS:
            _refuse(place, f"operation {body[0]:02X}; there are {', '.join(OPERATIONS)}")
        if operation == BATCH:
            yield from _batch(payload, place)
        else:
            yield from _single(operation, payload, place)


def _refuse(place: str, why: str) -> NoReturn:
    raise ReadError(f"{place}: {why}")


def _single(operation: str, payload: bytes, place: str) -> Iterator[ScoreEntry]:
    if operation in _WHOLE:
        yield ScoreEntry(payload, place)
    elif operation in STREAMING:
        count = struct.unpack_from(">H", payload)[0] if len(payload) >= 2 else 0
        start = 2 + 4 * count
        if len(payload) < max(start, 2):
            _refuse(place, "it is too short for its chunks")
        chunks = struct.unpack_from(f">{count}I", payload, 2)
        if sum(chunks) != len(payload) - start:
            _refuse(place, "its chunks do not add up")
        yield ScoreEntry(payload[start:], place, chunks=chunks)


def _batch(payload: bytes, place: str) -> Iterator[ScoreEntry]:
    if len(payload) < 5:
        _refuse(place, "it is too short for a batch")
    operation, (count,) = chr(payload[0]), struct.unpack_from(">I", payload, 1)
    start = 5 + 4 * count
    if start > len(payload):
        _refuse(place, f"it is too short for {count} items")
    lengths = struct.unpack_from(f">{count}I", payload, 5)
    if start + sum(lengths) != len(payload):
        _refuse(place, "its items do not add up")
    for item, length in enumerate(lengths, 1):
        yield from _single(operation, payload[start : start + length], f"{place}, item {item}")
        start += length
