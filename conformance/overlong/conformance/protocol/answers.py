"""The answers to a batch, column by column, as they are on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, compress, pairwise
from operator import mul
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Accepted, Failed, Misbehaved, Refused, Unsupported
from overlong.conformance.protocol.units import Units, big_endian, cut_evenly, read_numbers
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    BREACH,
    FAILED,
    INCOMPLETE_NOT_SAID,
    LARGEST_FRAME,
    NOT_SAID,
    REFUSED,
    UNSUPPORTED,
    ProtocolError,
)
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.protocol.observation import Observation

_TEXT_SHOWN = 1 << 12  # octets of a text that messages may show

Row = tuple[int, bytes, int, int, bytes]
"""An answer: status, number on the wire, length, incomplete, and output or text on the wire."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a batch, column by column, as on the wire.

    For n items: ``statuses`` n octets; ``numbers`` n u32 (accepted: units put out; refused: offset;
    failed or unsupported: octets of text); ``lengths`` n u8 and ``incompletes`` n u8 (refused; 0
    otherwise); ``units`` and texts of the items, in order. The items are cut out only on demand, because right
    answers are compared as a whole. ``marks`` are u32: one for each chunk of an accepted stream, and one for a
    refused stream of a target that names the chunk of a refusal.
    """

    count: int
    columns: bytes | bytearray
    marks: bytes = b""
    asked: Sequence[int] = field(default=(), compare=False)
    """The size of each item in octets, if known: it bounds the output."""

    @property
    def statuses(self) -> bytes:
        return self._column(0, 1)

    @property
    def numbers(self) -> bytes:
        return self._column(1, 5)

    @property
    def lengths(self) -> bytes:
        return self._column(5, 6)

    @property
    def incompletes(self) -> bytes:
        return self._column(6, 7)

    @property
    def units(self) -> bytes:
        return bytes(memoryview(self.columns)[7 * self.count :])

    def _column(self, start: int, end: int) -> bytes:
        return bytes(memoryview(self.columns)[start * self.count : end * self.count])

    @classmethod
    def of(cls, statuses: bytes, numbers: bytes, lengths: bytes, incompletes: bytes, units: bytes) -> Answers:
        return cls(len(statuses), b"".join((statuses, numbers, lengths, incompletes, units)))

    @classmethod
    def from_batch(
        cls,
        payload: bytes | bytearray,
        count: int,
        chunk_counts: Sequence[int] | None,
        size: int,
        *,
        marked: bool = False,
        right: bytes | bytearray | None = None,
    ) -> Answers:
        """The columns of a batch's response.

        Args:
            payload: the response without its own status.
            count: the number of items in the request.
            chunk_counts: for a streaming operation, the chunks of each item.
            size: octets in a unit.
            marked: a refused stream has a mark.
            right: valid columns, if any are known: most responses equal them.

        Raises:
            ProtocolError: the columns do not add up.
        """
        if right is not None and payload == right:
            return cls(count, right)  # the same object: comparing it again costs nothing
        if len(payload) < 7 * count:
            raise ProtocolError(
                f"its batch response has {len(payload)} octets; {count} items need at least {7 * count}"
            )
        answers = cls(count, payload)
        statuses = answers.statuses
        if strange := statuses.translate(None, b"ARUX"):
            raise ProtocolError(f"its batch response has status {min(strange):02X}; there are A, R, U and X")
        end = 7 * count + _octets_announced(statuses, answers.numbers, size)
        marks = 0
        if chunk_counts is not None:
            marks = 4 * sum(marks_of(statuses, chunk_counts, marked=marked))
        if len(payload) != end + marks:
            raise ProtocolError(
                f"its batch response has {len(payload)} octets where its own columns add up to {end + marks}"
            )
        return cls(count, payload[:end], bytes(payload[end:])) if marks else answers

    @classmethod
    def from_single(
        cls, status: bytes, payload: bytes | bytearray, chunks: int | None, size: int, *, marked: bool = False
    ) -> Answers:
        """One plain response, as columns of one item.

        Raises:
            ProtocolError: the payload does not fit the status.
        """
        marks, payload = b"", bytes(payload)
        if status == ACCEPTED:
            if chunks is not None:
                marks, payload = payload[: 4 * chunks], payload[4 * chunks :]
                if len(marks) != 4 * chunks:
                    raise ProtocolError(f"its stream response has no count for each of {chunks} chunks")
            if len(payload) % size:
                raise ProtocolError(f"its output of {len(payload)} octets is no whole number of {size}-octet units")
            return cls(1, b"".join((status, big_endian("I", [len(payload) // size]), b"\0\0", payload)), marks)
        if status == REFUSED:
            if marked and chunks is not None:
                if len(payload) != 10:
                    raise ProtocolError(
                        f"its refusal of a stream carries {len(payload)} octets; as it promises marks, it must carry "
                        "an offset (4), a length (1), whether the input is incomplete (1) and the chunk (4)"
                    )
                marks, payload = payload[6:], payload[:6]
            if len(payload) not in (0, 4, 5, 6):
                raise ProtocolError(
                    f"its refusal carries {len(payload)} octets; it may carry none, an offset (4), a length (5) "
                    "and whether the input is incomplete (6)"
                )
            offset = payload[:4] or big_endian("I", [NOT_SAID])
            columns = status, offset, payload[4:5] or b"\0", payload[5:6] or bytes([INCOMPLETE_NOT_SAID])
            return cls(1, b"".join(columns), marks)
        if status in (UNSUPPORTED, FAILED):
            return cls.of(status, big_endian("I", [len(payload)]), b"\0", b"\0", payload)
        raise ProtocolError(f"its response has status {status.hex().upper()}; there are A, R, U and X")

    @classmethod
    def concatenated(cls, parts: Sequence[Answers]) -> Answers:
        """The answers to several requests, joined into one."""
        whole = cls.of(
            b"".join(part.statuses for part in parts),
            b"".join(part.numbers for part in parts),
            b"".join(part.lengths for part in parts),
            b"".join(part.incompletes for part in parts),
            b"".join(part.units for part in parts),
        )
        return cls(whole.count, whole.columns, b"".join(part.marks for part in parts))

    def part(self, start: int, end: int, size: int) -> Answers:
        """The answers from ``start`` to before ``end``, if none has a text; a unit has ``size`` octets."""
        accepted = self.statuses.translate(_ACCEPTED_ONLY)
        before, until = (size * _sum_of(self.numbers[: 4 * place], accepted[:place]) for place in (start, end))
        columns = self.statuses[start:end], self.numbers[4 * start : 4 * end]
        return Answers.of(*columns, self.lengths[start:end], self.incompletes[start:end], self.units[before:until])

    def agrees(self, expected: Answers) -> bool:
        """True if the answers equal the expected ones, apart from columns that no refusal fills.

        That is sufficient for all answers to be right, and not necessary: some refusals may report less than others.
        """
        if self.columns == expected.columns:
            return True
        statuses, count = self.statuses, self.count
        if statuses != expected.statuses or self.units != expected.units:
            return False
        refused = statuses.translate(_REFUSED_AS_NOT_SAID)
        return (
            self.numbers in (expected.numbers, _number_not_said(expected.numbers, refused))
            and self.lengths in (expected.lengths, bytes(count))
            and self.incompletes in (expected.incompletes, refused)
        )

    def alike(self) -> Answers | None:
        """One of the answers, if all are the same and the items have one size; otherwise None."""
        count, asked = self.count, self.asked
        columns = self.statuses, self.numbers, self.lengths, self.incompletes, self.units
        if not count or (asked and min(asked) < max(asked)):
            return None
        firsts = [column[: len(column) // count] for column in columns]
        if any(first * count != column for first, column in zip(firsts, columns, strict=True)):
            return None
        return Answers(1, b"".join(firsts), asked=asked[:1])

    def outputs(self, size: int) -> list[bytes]:
        """Each item's output or text in the wire format; a unit has ``size`` octets."""
        units, numbers = self.units, read_numbers(self.numbers)
        lengths = list(map(mul, numbers, self.statuses.translate(_OCTETS_COUNTED[size])))
        if lengths and lengths[0] and lengths.count(lengths[0]) == len(lengths):
            return cut_evenly(units[: sum(lengths)], lengths[0])
        return [units[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]

    def rows(self, size: int) -> list[Row]:
        """Each item's answer; a unit has ``size`` octets."""
        numbers = cut_evenly(self.numbers, 4)
        return list(zip(self.statuses, numbers, self.lengths, self.incompletes, self.outputs(size), strict=True))

    @classmethod
    def of_rows(cls, rows: Iterable[Row]) -> Answers:
        """The answers in these rows; there is at least one."""
        statuses, numbers, lengths, incompletes, outputs = zip(*rows, strict=True)
        return cls.of(bytes(statuses), b"".join(numbers), bytes(lengths), bytes(incompletes), b"".join(outputs))

    def observations(
        self, units: Units, *, verdict_only: bool, chosen: Iterable[object] | None = None
    ) -> Iterator[Observation]:
        """Each item's answer as a value; with ``chosen``, only those of the items for which it is true."""
        asked = self.asked or [LARGEST_FRAME] * self.count
        columns = self.statuses, read_numbers(self.numbers), self.lengths, self.incompletes, asked
        rows = zip(*columns, self.outputs(units.size), strict=True)
        for status, number, length, incomplete, octets, output in rows if chosen is None else compress(rows, chosen):
            if status == ACCEPTED[0]:
                if number > most_units(octets) and not verdict_only:
                    yield Misbehaved(f"output {number} units; its input allows at most {most_units(octets)}")
                else:
                    yield Accepted(None if verdict_only else units.values(output))
            elif status == REFUSED[0]:
                if number == NOT_SAID:
                    yield _REFUSED
                elif incomplete not in (0, 1, INCOMPLETE_NOT_SAID):
                    yield Misbehaved(f"said {incomplete:02X} for incomplete; it is 00, 01, or FF for not said")
                else:
                    yield _refused(number, length, incomplete)
            elif status == UNSUPPORTED[0]:
                yield Unsupported()
            else:
                text = printable(output[:_TEXT_SHOWN].decode("ascii", "backslashreplace"))
                yield Misbehaved(text) if incomplete == BREACH else Failed(text)


_REFUSED = Refused()
"""A refusal that reports nothing more."""


@lru_cache(maxsize=1 << 12)
def _refused(offset: int, length: int, incomplete: int) -> Refused:
    """A refusal, from its columns."""
    return Refused(offset, length or None, {0: False, 1: True}.get(incomplete))


def most_units(octets: int) -> int:
    """The most units that a decoder can put out for a request of ``octets`` octets.

    ``&iuml;&iquest;&frac12;`` in place of an octet has 24. An output with more is no decoding, and thousands of such
    answers would fill the disk with results.
    """
    return 64 + 32 * octets


def marks_of(statuses: bytes, chunk_counts: Sequence[int], *, marked: bool) -> list[int]:
    """The number of marks of each stream of a batch."""
    of_refused = 1 if marked else 0
    return [
        count if status == ACCEPTED[0] else of_refused if status == REFUSED[0] else 0
        for status, count in zip(statuses, chunk_counts, strict=True)
    ]


_REFUSED_AS_NOT_SAID = bytes(0xFF * (octet == REFUSED[0]) for octet in range(256))
_ACCEPTED_ONLY = bytes(0xFF * (octet == ACCEPTED[0]) for octet in range(256))
_OCTETS_COUNTED = {
    size: bytes(0 if octet == REFUSED[0] else size if octet == ACCEPTED[0] else 1 for octet in range(256))
    for size in (1, 2, 4)
}
_TEXTS_ONLY = bytes(0xFF * (octet in UNSUPPORTED + FAILED) for octet in range(256))


def _octets_announced(statuses: bytes, numbers: bytes, size: int) -> int:
    """The number of octets of units and texts that the columns of a batch announce."""
    count = len(statuses)
    if statuses == ACCEPTED * count and numbers == numbers[:4] * count:  # the common case, by far the fastest
        return count * size * int.from_bytes(numbers[:4], "big")
    texts = _sum_of(numbers, statuses.translate(_TEXTS_ONLY)) if statuses.translate(None, b"AR") else 0
    return size * _sum_of(numbers, statuses.translate(_ACCEPTED_ONLY)) + texts


def _sum_of(numbers: bytes, chosen: bytes) -> int:
    """The sum of the u32 for which the octet in ``chosen`` is FF, not 00.

    It adds up each of their four octets separately: three of them are usually all zeros, and then cost nothing.
    """
    mask, total = int.from_bytes(chosen, "big"), 0
    for place in range(4):
        octets = int.from_bytes(numbers[place::4], "big") & mask
        total = (total << 8) + (sum(octets.to_bytes(len(chosen), "big")) if octets else 0)
    return total


def _number_not_said(numbers: bytes, refused: bytes) -> bytes:
    """The u32, with FFFFFFFF in place of those for which the octet in ``refused`` is FF, not 00."""
    one_in_four = refused.decode("latin-1").encode("utf-32-be")  # 000000FF, or 0
    not_said = int.from_bytes(one_in_four, "big") * 0x01010101
    return (int.from_bytes(numbers, "big") | not_said).to_bytes(len(numbers), "big")
