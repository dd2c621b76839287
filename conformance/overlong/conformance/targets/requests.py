"""The requests to a process that speaks the protocol, and what its responses say.

A batch is one request, in the pipe or in shared memory. For a target that takes no batches, each vector is one. An
empty echo follows each batch: a failure before the echo returns belongs to that batch, not to the next one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Misbehaved
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    BATCH,
    ECHO,
    HEAD,
    SHARED_BATCH,
    TOGETHER,
    Answers,
    ProtocolError,
    big_endian,
    frame,
)
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.ending import Ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.targets.process import Process
    from overlong.conformance.targets.shared_memory import SharedMemory, Slot
    from overlong.conformance.vectors.batch import Batch

_PLACED = 4  # octets of the response to a batch in shared memory: columns are never so short


@dataclass
class Asked:
    """A batch under way."""

    batch: Batch
    operation: str
    first: int
    """The number of its first request."""
    requests: int
    """The number of its requests, without the echo that follows."""
    lengths: Sequence[int]
    """The octets of each vector's payload."""
    sent: float
    """The moment, by :func:`time.monotonic`."""
    slot: Slot | None
    """Its place in shared memory, if it has one."""


def prepared(
    process: Process, batch: Batch, operation: str, *, anywhere: bool = False, waits: bool = False
) -> tuple[Asked, Sequence[bytes]] | None:
    """A batch with the next numbers of the process, and its frames in sending order.

    It stands in shared memory if there is room; a pipe takes one that is larger than all of it, or for itself.

    Args:
        process: that it will be sent to.
        batch: vectors.
        operation: what is asked of them.
        anywhere: it may stand in all of the shared memory.
        waits: return None if room in shared memory will come free.
    """
    lengths, octets = batch.payloads(operation)
    shared, slot = None if batch.singly or batch.threads else process.shared, None
    if shared is not None:
        slot = shared.slot(len(lengths), len(octets), anywhere=anywhere)
        if slot is None and waits and shared.can_hold(len(lengths), len(octets)):
            return None
    code = operation.encode()
    batched = BATCH in process.greeting(0).operations
    whole = batched and not batch.singly
    count = 1 if whole else len(lengths)
    first = process.numbers(count + 1)
    if shared is not None and slot is not None:
        shared.fill(slot, batch.lengths_on_wire(operation), octets)
        requests = [frame(first, SHARED_BATCH.encode() + code + big_endian("I", (len(lengths), *slot)))]
    elif whole:
        kind = BATCH.encode() + code
        if batch.threads:
            kind = TOGETHER.encode() + code + big_endian("H", [batch.threads])
        head = HEAD.pack(4 + len(kind) + 4 + 4 * len(lengths) + len(octets), first) + kind
        head += big_endian("I", [len(lengths)])
        requests = [head, batch.lengths_on_wire(operation), octets]  # parts of one frame
    else:
        bounds = list(accumulate(lengths, initial=0))
        frames = [
            frame((first + place) & 0xFFFFFFFF, _one(code, octets[start:end], batched=batched))
            for place, (start, end) in enumerate(pairwise(bounds))
        ]
        requests = [b"".join(frames)]
    asked = Asked(batch, operation, first, count, lengths, time.monotonic(), slot)
    return asked, (*requests, frame((first + count) & 0xFFFFFFFF, ECHO.encode()))


def received(process: Process, asked: Asked, timeout: float) -> Answers:
    """The answers to the oldest batch under way; ``timeout``: seconds for each response.

    Raises:
        Ended: there is no answer, or one that breaks the protocol.
    """
    greeting = process.greeting(0)
    units, marked = greeting.units_of(asked.operation), greeting.marks_refusals
    chunks = asked.batch.chunk_counts(asked.operation)
    batched = BATCH in greeting.operations
    parts: list[Answers] = []
    right: bytes | bytearray | None = None
    try:
        for place in range(asked.requests + 1):
            request, status, payload = process.receive(timeout)
            following = (asked.first + place) & 0xFFFFFFFF
            if request != following:
                raise ProtocolError(f"it answered request {request} where {following} was next")
            if place == asked.requests:
                if (status, payload) != (ACCEPTED, b""):
                    raise ProtocolError(f"it answered an empty echo with status {status!r}, {len(payload)} octets")
            elif not batched:
                count = chunks[place] if chunks else None
                parts.append(Answers.from_single(status, payload, count, units.size, marked=marked))
            elif status == ACCEPTED:
                some, number = chunks, len(asked.batch)
                if asked.batch.singly:
                    some, number = chunks and chunks[place : place + 1], 1
                else:
                    right = asked.batch.right_columns(asked.operation, units)
                columns = payload if asked.slot is None else _taken(process.shared, asked.slot, payload, right)
                parts.append(Answers.from_batch(columns, number, some, units.size, marked=marked, right=right))
            else:
                text = printable(payload[:80].decode("utf-8", "backslashreplace"))
                raise ProtocolError(
                    f"it answered a batch with status {printable(repr(status))}" + (f": {text}" if text else "")
                )
    except ProtocolError as error:
        process.kill()
        raise Ended(Misbehaved(str(error))) from error
    return replace(parts[0] if len(parts) == 1 else Answers.concatenated(parts), asked=asked.lengths)


def _taken(
    shared: SharedMemory | None, slot: Slot, payload: bytes, right: bytes | bytearray | None
) -> bytes | bytearray:
    """The columns in shared memory, or those in the response if it has them.

    Raises:
        ProtocolError: they are larger than the slot's room.
    """
    assert shared is not None
    freed = shared.free()
    assert freed is slot, "answers come in the order of the requests"
    if len(payload) != _PLACED:
        return payload
    size = int.from_bytes(payload, "big")
    if size > slot.room:
        raise ProtocolError(f"its batch response has {size} octets in shared memory, where it has room for {slot.room}")
    if right is not None and len(right) == size and shared.holds(slot, right):
        return right
    return shared.answer(slot, size)


def _one(code: bytes, octets: bytes, *, batched: bool) -> bytes:
    """A request of one vector: as a batch of one, if the target takes batches."""
    return BATCH.encode() + code + big_endian("I", (1, len(octets))) + octets if batched else code + octets
