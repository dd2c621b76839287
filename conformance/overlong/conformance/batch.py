"""Vectors in columns: what is sent together, and what a right target answers.

A batch is judged as a whole first: when a target's columns equal the expected ones octet for octet, all
its vectors are right, and no value of Python's was made for any of them. That is what makes a million
vectors cheap.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.protocol import ACCEPTED, DECODE, REFUSED, REPLACING, STREAM_DECODE, STREAMING, Answers, columns
from overlong.conformance.vector import Vector
from overlong.reference import Decoded, Rejected

if TYPE_CHECKING:
    from overlong.conformance.protocol import Units

Closed = Callable[["Batch", str, "Units"], Answers]
"""Answers to well-formed vectors known without decoding anything: see ``suites/scalars.py``."""


@dataclass(frozen=True)
class Batch:
    """Vectors of one category, as columns: each one's length, and all octets in a row."""

    category: str
    lengths: array[int]
    octets: bytes
    chunks: tuple[tuple[int, ...], ...] | None = None
    comments: tuple[str, ...] = ()
    closed: Closed | None = None

    @classmethod
    def of(cls, vectors: Sequence[Vector]) -> Batch:
        """The batch of these vectors; they share a category, and all or none are chunked."""
        chunks = [vector.chunks for vector in vectors]
        return cls(
            vectors[0].category,
            array("I", [len(vector.octets) for vector in vectors]),
            b"".join(vector.octets for vector in vectors),
            tuple(chunk for chunk in chunks if chunk is not None) if chunks[0] is not None else None,
            tuple(vector.comment for vector in vectors),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, place: int) -> Vector:
        start = self._starts[place]
        return Vector(
            self.category,
            self.octets[start : start + self.lengths[place]],
            self.comments[place] if self.comments else "",
            self.chunks[place] if self.chunks is not None else None,
        )

    def __iter__(self) -> Iterator[Vector]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def vectors(self) -> tuple[Vector, ...]:
        """All of them; made only where columns do not suffice."""
        return tuple(self)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate(self.lengths, initial=0))

    def part(self, start: int, end: int) -> Batch:
        """The vectors from ``start`` to before ``end``, as a batch."""
        if (start, end) == (0, len(self)):
            return self
        return Batch(
            self.category,
            self.lengths[start:end],
            self.octets[self._starts[start] : self._starts[end]],
            None if self.chunks is None else self.chunks[start:end],
            self.comments[start:end],
        )

    def payloads(self, operation: str) -> tuple[Sequence[int], bytes]:
        """Each item's payload length, and all payloads in a row, as the operation wants them."""
        if operation not in STREAMING:
            return self.lengths, self.octets
        items = [
            struct.pack(f">H{len(chunks)}I", len(chunks), *chunks) + vector.octets
            for vector, chunks in ((vector, vector.chunks or (len(vector.octets),)) for vector in self.vectors)
        ]
        return list(map(len, items)), b"".join(items)

    def chunk_counts(self, operation: str) -> list[int] | None:
        """For a streaming operation, how many chunks each item has."""
        if operation not in STREAMING:
            return None
        return [1] * len(self) if self.chunks is None else list(map(len, self.chunks))

    def expected(self, operation: str, units: Units) -> Answers:
        """What a right target answers, on the wire (without the marks of streams, which are the target's affair)."""
        flawless = self.closed is not None
        key = DECODE if flawless and operation in REPLACING else operation, units.name
        if key not in self._expected:
            self._expected[key] = (self.closed or Batch._expect)(self, operation, units)
        return self._expected[key]

    @cached_property
    def _expected(self) -> dict[tuple[str, str], Answers]:
        return {}

    def _expect(self, operation: str, units: Units) -> Answers:
        statuses, lengths, incompletes, output = bytearray(), bytearray(), bytearray(), bytearray()
        numbers: list[int] = []
        silent = operation not in REPLACING and operation not in (DECODE, STREAM_DECODE)
        for vector in self.vectors:
            match vector.replaced if operation in REPLACING else vector.strict:
                case Decoded(scalars):
                    written = b"" if silent else units.write(scalars)
                    statuses += ACCEPTED
                    numbers.append(len(written) // units.size)
                    lengths.append(0)
                    incompletes.append(0)
                    output += written
                case Rejected(offset, length, incomplete):
                    statuses += REFUSED
                    numbers.append(offset)
                    lengths.append(length)
                    incompletes.append(incomplete)
        return columns(bytes(statuses), numbers, bytes(lengths), bytes(incompletes), bytes(output))
