"""Target protocol, version 1: its operations, frames, the units of output, and answers in columns.

``docs/protocol.md`` explains it. All integers are big-endian. This room neither starts processes nor judges answers.
"""

from __future__ import annotations

import struct
import sys
from array import array
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, compress, pairwise
from operator import mul
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Accepted, Failed, Misbehaved, Refused, Unsupported
from overlong.conformance.support.printable import printable
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.protocol.observation import Observation


VERSION = 1

ECHO, VALIDATE, DECODE, REPLACE = "P", "V", "D", "L"
STREAM_DECODE, STREAM_REPLACE, BATCH = "S", "T", "B"
AGAIN_DECODE, AGAIN_REPLACE = "N", "M"
ENCODE, ENCODE_UTF16, ANNOUNCE = "E", "F", "Z"
GUARDED = "G"
SEPARATE = "I"
ASK = "Q"
GUARDED_ASK = "K"
SHARED_BATCH = "C"
"""A batch whose items and answers are in shared memory. It is not in the list of operations: see ``shared_memory``."""
TOGETHER = "H"
"""A batch that several threads of the target answer at once. Not in that list, either: see ``threads``."""
OPERATIONS = {
    ECHO: "echo",
    VALIDATE: "validate",
    DECODE: "decode strictly",
    REPLACE: "decode and replace",
    STREAM_DECODE: "decode a stream strictly",
    STREAM_REPLACE: "decode and replace a stream",
    AGAIN_DECODE: "decode a stream strictly with a decoder used before",
    AGAIN_REPLACE: "decode and replace a stream with a decoder used before",
    ENCODE: "encode code points",
    ENCODE_UTF16: "encode UTF-16",
    ANNOUNCE: "announce the size of what is encoded",
    GUARDED: "examine what it does to memory",
    SEPARATE: "validate a list of values",
    ASK: "answer a question about a text",
    GUARDED_ASK: "examine what a question does to memory",
    BATCH: "batch",
}
STREAMING = STREAM_DECODE + STREAM_REPLACE
AGAIN = AGAIN_DECODE + AGAIN_REPLACE
REPLACING = REPLACE + STREAM_REPLACE + AGAIN_REPLACE
ENCODING = ENCODE + ENCODE_UTF16 + ANNOUNCE
MEASURED = VALIDATE + DECODE + REPLACE + STREAMING + AGAIN + ENCODING + GUARDED + SEPARATE + ASK + GUARDED_ASK
"""The operations, in the order of the requests."""
ASKING = ASK + GUARDED_ASK
"""The operations whose vectors hold a question and a text."""
IN_MEMORY = GUARDED + GUARDED_ASK
"""The operations whose answers tell what a function does to memory."""
OTHER_INPUT = ENCODING + ASKING
"""The operations whose vectors do not hold a text to decode, but numbers, or a question and a text."""

ACCEPTED, REFUSED, UNSUPPORTED, FAILED = b"A", b"R", b"U", b"X"
NOT_SAID = 0xFFFFFFFF
INCOMPLETE_NOT_SAID = 0xFF
BREACH = 1
"""``incomplete`` of a failure in a batch: the decoder gave its adapter an answer that breaks what the two agreed on."""

ECHO_PROBE = bytes.fromhex("0D0A0A1A0080FF")
"""Octets that reveal pipes in text mode, an effect of Ctrl-Z, and streams that pass through a charset decoder."""

LARGEST_FRAME = 1 << 26
LARGEST_GREETING = 1 << 16

HEAD = struct.Struct(">II")  # length of the rest, request id
QUESTION = struct.Struct(">BI")
"""The number of a question and its argument: a text follows."""


class ProtocolError(Exception):
    """A target broke the protocol; the message says how, and is safe to show."""


def frame(request: int, body: bytes) -> bytes:
    """One frame: length, id and payload."""
    return HEAD.pack(4 + len(body), request) + body


def stream_payload(octets: bytes, chunks: Sequence[int]) -> bytes:
    """The payload of a streaming operation: the number of chunks, their lengths, all octets."""
    return stream_head(tuple(chunks)) + octets


@lru_cache(maxsize=1 << 12)
def stream_head(chunks: tuple[int, ...]) -> bytes:
    """The part of a stream before its octets: number and lengths of its chunks."""
    return struct.pack(f">H{len(chunks)}I", len(chunks), *chunks)


def again_payload(first: bytes, second: bytes) -> bytes:
    """The payload for a reused decoder: the length of the first stream, and both streams."""
    return struct.pack(">I", len(first)) + first + second


@dataclass(frozen=True)
class Units:
    """The units of a target's output."""

    name: str
    size: int  # octets in a unit
    codec: str  # Python's codec for UTF-32 or UTF-16 output, which never was UTF-8

    def values(self, units: bytes) -> tuple[int, ...]:
        """The numbers in a target's output; lone surrogates and numbers beyond Unicode stay as they are."""
        if self is OCTETS:
            return tuple(units)
        if self.size == 4:
            return tuple(read_numbers(units))
        if self.size == 2:
            return tuple(map(ord, units.decode(self.codec, "surrogatepass")))
        return _octets_as_values(units)

    def write(self, scalars: Sequence[int]) -> bytes:
        """Scalar values in these units, as a correct target writes them."""
        if self is OCTETS:
            return bytes(scalars)
        if self.size == 4:
            return big_endian("I", scalars)
        if self.size == 2:
            return "".join(map(_in_utf16, scalars)).encode(self.codec, "surrogatepass")
        return b"".join(map(_in_utf8, scalars))

    def count(self, scalars: Sequence[int]) -> int:
        """The number of units that the scalar values take."""
        if self.size == 4:
            return len(scalars)
        return len(self.write(scalars)) // self.size


OCTETS = Units("octets", 1, "")
"""The units of an encoder's output, for every target."""
NUMBERS = Units("numbers", 4, "")
"""The units of an answer to a question, for every target."""


def _in_utf16(number: int) -> str:
    """A number in UTF-16; beyond 10FFFF there is none, so noncharacters stand for it, which no target can write."""
    return chr(number) if number < CODE_POINTS.stop else "\uffff\uffff"


@lru_cache(maxsize=1 << 12)
def _in_utf8(number: int) -> bytes:
    """A number encoded by the layout alone, even surrogates and the longer forms of RFC 2279; empty if it is larger."""
    return load_layout("rfc2279").encode(number) or b""


UNITS = {
    units.name: units
    for units in (Units("utf-32", 4, "utf-32-be"), Units("utf-16", 2, "utf-16-be"), Units("utf-8", 1, ""))
}


def read_numbers(octets: bytes) -> array[int]:
    """The u32 of a column."""
    numbers = array("I", octets)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def cut_evenly(octets: bytes | bytearray, length: int) -> list[bytes]:
    """``octets`` in pieces of one length, which is not 0.

    Raises:
        struct.error: the last piece would be shorter.
    """
    return list(chain.from_iterable(struct.iter_unpack(f"{length}s", octets)))


def big_endian(code: str, numbers: Sequence[int]) -> bytes:
    """Numbers in the wire format; ``code`` is a type code of :mod:`array`."""
    result = array(code, numbers)
    if sys.byteorder == "little":
        result.byteswap()
    return result.tobytes()


def _octets_as_values(units: bytes) -> tuple[int, ...]:
    """The values in a target's UTF-8 output, read by RFC 2279, so that surrogates and large numbers show up.

    Octets that are ill-formed even there show up as U+DCxx.
    """
    from overlong.reference import WellFormed, dialect, segments

    values: list[int] = []
    for found in segments(units, spoken=dialect("rfc2279")):
        if isinstance(found, WellFormed):
            values.append(found.scalar)
        else:
            values.extend(0xDC00 + octet for octet in units[found.offset : found.offset + found.length])
    return tuple(values)


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
    """The sum of the u32 for which the octet in ``chosen`` is not 00."""
    return sum(compress(read_numbers(numbers), chosen))


def _number_not_said(numbers: bytes, refused: bytes) -> bytes:
    """The u32, with FFFFFFFF in place of those for which the octet in ``refused`` is FF, not 00."""
    one_in_four = refused.decode("latin-1").encode("utf-32-be")  # 000000FF, or 0
    not_said = int.from_bytes(one_in_four, "big") * 0x01010101
    return (int.from_bytes(numbers, "big") | not_said).to_bytes(len(numbers), "big")
