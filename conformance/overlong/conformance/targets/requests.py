"""The requests to a process that speaks the protocol, the memory that it shares with us, and what its responses say.

A batch is one request, in the pipe or in shared memory. For a target that takes no batches, each vector is one. An
empty echo follows each batch: a failure before the echo returns belongs to that batch, not to the next one.

A pipe copies octets twice, and makes both sides wait. In shared memory, the harness writes its requests where the
target reads them, and compares the answers where the target wrote them. The target may write anywhere at any time. So
the memory's size is sealed, and the harness trusts only octets that it copied out, or found equal in place.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from collections import deque
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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
from overlong.conformance.targets.process import Ended, Process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.vectors.batch import Batch

_PLACED = 4  # octets of the response to a batch in shared memory: columns are never so short
VARIABLE = "OVERLONG_SHARED_MEMORY"
"""The variable for the target: the number of the descriptor, and the octets to map."""

SIZE = 1 << 26  # octets; only used ones take memory
_NEAR = 1 << 22  # octets that the caches of both processes hold
_ABREAST = 8  # requests of the largest size that there is room for, if possible
_AN_OCTET, _AN_ITEM, _TEXTS = 4, 7, 256  # room for answers: UTF-32, or the marks of a stream; columns; short texts
_ALIGNED = 64


class Slot(NamedTuple):
    """The place of a request, followed by the room for its answers."""

    start: int
    size: int
    """The octets of the request: the lengths of its items, and their payloads."""
    room_start: int
    room: int

    @property
    def end(self) -> int:
        return self.room_start + self.room


class SharedMemory:
    """The memory of one process. Slots are freed in the order in which they were filled.

    They go round in the first few octets, and in more once a request needs more.
    """

    descriptor: int
    """The descriptor for the new process, to be closed once that has started."""
    _octets: mmap.mmap
    _slots: deque[Slot]
    _extent: int
    """The first octets of the memory, where slots go round for now."""

    def __init__(self) -> None:
        """Make the memory.

        Raises:
            OSError: the system refuses it, or has no such memory.
        """
        if sys.platform != "linux":
            raise OSError("no memory is shared here")
        import fcntl

        self.descriptor = os.memfd_create("overlong", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, SIZE)
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(
                self.descriptor, fcntl.F_ADD_SEALS, seals
            )  # if the target shrank it, SIGBUS would end the harness
            self._octets = mmap.mmap(self.descriptor, SIZE)
        except BaseException:
            os.close(self.descriptor)
            raise
        self._slots = deque()
        self._extent = _NEAR

    @property
    def variable(self) -> dict[str, str]:
        """The value of the environment variable."""
        return {VARIABLE: f"{self.descriptor} {SIZE}"}

    def close(self) -> None:
        """Release the memory."""
        self._octets.close()

    def slot(self, items: int, octets: int, *, anywhere: bool = False) -> Slot | None:
        """A slot, to be filled next, for that many items with that many octets in all; None if there is no room now.

        ``anywhere``: it may lie beyond the octets that the caches hold.
        """
        size = 4 * items + octets
        before, room = _parts(items, octets)
        first, last = (self._slots[0].start, self._slots[-1].end) if self._slots else (0, 0)
        if first <= last:  # the slots are in one piece
            self._extent = min(max(self._extent, _ABREAST * (before + room)), SIZE)
        extent = SIZE if anywhere else self._extent
        if not self._slots:
            start, end = 0, extent
        elif last <= first:  # between the last slot and the first
            start, end = last, first - 1
        elif last + before + room <= extent:
            start, end = last, extent
        else:
            start, end = 0, first - 1
        return Slot(start, size, start + before, room) if start + before + room <= end else None

    def can_hold(self, items: int, octets: int) -> bool:
        """True if they fit when no slot is taken."""
        return sum(_parts(items, octets)) <= SIZE

    def fill(self, slot: Slot, lengths: bytes, octets: bytes) -> None:
        """Take a slot, and write the request."""
        middle = slot.start + len(lengths)
        self._octets[slot.start : middle] = lengths
        self._octets[middle : slot.start + slot.size] = octets
        self._slots.append(slot)

    def free(self) -> Slot:
        """Free the oldest slot; its content stays until other slots have been filled."""
        return self._slots.popleft()

    def holds(self, slot: Slot, octets: bytes | bytearray) -> bool:
        """True if the room of a slot begins with these octets. They are compared in place, not copied."""
        with memoryview(self._octets) as view, view[slot.room_start : slot.end] as room:
            return len(octets) <= slot.room and octets.startswith(room[: len(octets)])

    def answer(self, slot: Slot, size: int) -> bytes:
        """The first octets of a slot's room."""
        return self._octets[slot.room_start : slot.room_start + size]


class SharingProcess(Process):
    """A target's process, with memory that it shares with the harness if it can."""

    def __init__(self, command: Sequence[str], *, environment: dict[str, str] | None = None, **more: Any) -> None:
        """Start it; the arguments are those of :class:`Process`."""
        self.shared: SharedMemory | None = None
        """Its memory shared with the harness, if the system allows it and, after the greeting, the target uses it."""
        with contextlib.suppress(OSError, ValueError):
            self.shared = SharedMemory()
            environment = {**(environment or {}), **self.shared.variable}
            more["inherited"] = (self.shared.descriptor,)
        super().__init__(command, environment=environment, **more)

    def greeting(self, timeout: float) -> Greeting:
        """As that of any process; a target that does not use the memory loses it."""
        greeting = super().greeting(timeout)
        if not (greeting.shared_memory and BATCH in greeting.operations):
            self._share_nothing()
        return greeting

    def kill(self) -> None:
        """Kill it, and release the memory."""
        super().kill()
        self._share_nothing()

    def _share_nothing(self) -> None:
        if self.shared is not None:
            self.shared.close()
            self.shared = None


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
    process: SharingProcess, batch: Batch, operation: str, *, anywhere: bool = False, waits: bool = False
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


def received(process: SharingProcess, asked: Asked, timeout: float) -> Answers:
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


def _parts(items: int, octets: int) -> tuple[int, int]:
    """The octets of a request, and of the room for its answers."""
    return _aligned(4 * items + octets), _aligned(_AN_ITEM * items + _AN_OCTET * octets + _TEXTS)


def _aligned(octets: int) -> int:
    return -(-octets // _ALIGNED) * _ALIGNED
