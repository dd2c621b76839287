"""The answers of a correct encoder: the octets of code points or of UTF-16 code units, or their number.

The ``octets`` of an encoder's vector hold the encoder's input: code points as u32 or code units as u16,
big-endian. The reference encoder gives the octets that must come back (RFC 3629 section 3).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import ACCEPTED, ANNOUNCE, ENCODE_UTF16, REFUSED, Answers, big_endian
from overlong.reference import Decoded, NotEncodable, Rejected, encode_scalars
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import from_utf16

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.reference import Dialect, Outcome

SCALARS, UTF16 = "encoding", "utf-16"
"""The categories of vectors that hold code points, and code units."""

WIDTHS = {SCALARS: 4, UTF16: 2}
"""The number of octets of a vector that hold one number."""

QUESTION_MARK = b"?"


class Piece(NamedTuple):
    """One number of the input, or the two of a UTF-16 pair: its value, and its expected octets."""

    place: int
    """Its place in the input, counted in code points or code units."""
    number: int
    octets: bytes | None
    """None: the number is no scalar value, and the dialect has no octets for it."""


def given(operation: str, payload: bytes) -> tuple[int, ...]:
    """The code points, or the code units, of a payload.

    Raises:
        struct.error: the payload does not hold a whole number of them.
    """
    if operation == ENCODE_UTF16:
        return struct.unpack(f">{len(payload) // 2}H", payload)
    return struct.unpack(f">{len(payload) // 4}I", payload)


def pieces(operation: str, payload: bytes, spoken: Dialect) -> Iterator[Piece]:
    """The input piece by piece. Only UTF-16 joins pairs: among code points, each surrogate is a piece of its own."""
    found = given(operation, payload)
    for index, number in from_utf16(found) if operation == ENCODE_UTF16 else enumerate(found):
        try:
            yield Piece(index, number, encode_scalars([number], spoken))
        except NotEncodable:
            yield Piece(index, number, None)


def halves(supplementary: int) -> tuple[int, int]:
    """The lead and the trail surrogate of a supplementary character in UTF-16."""
    lead, trail = given(ENCODE_UTF16, chr(supplementary).encode("utf-16-be"))
    return lead, trail


def replacement(encode_errors: str, spoken: Dialect) -> bytes | None:
    """The octets that an encoder writes for a number that is no scalar value; None if it refuses."""
    if encode_errors == "replacement":
        return encode_scalars([REPLACEMENT_CHARACTER], spoken)
    return QUESTION_MARK if encode_errors == "question mark" else None


def encoded(operation: str, payload: bytes, spoken: Dialect, encode_errors: str = "fatal") -> Outcome:
    """The answer of a correct encoder: octets as the numbers of :class:`Decoded`, or the index of the refusal.

    An announced size is a u32, in four octets.
    """
    instead = replacement(encode_errors, spoken)
    written = bytearray()
    for piece in pieces(operation, payload, spoken):
        octets = instead if piece.octets is None else piece.octets
        if octets is None:
            return Rejected(piece.place, 1, incomplete=False)
        written += octets
    return Decoded(tuple(len(written).to_bytes(4, "big") if operation == ANNOUNCE else written))


def answers(operation: str, payloads: Iterable[bytes], spoken: Dialect, encode_errors: str) -> Answers:
    """The answers of a correct encoder to many payloads, in the wire format."""
    statuses, numbers, lengths, output = bytearray(), list[int](), bytearray(), bytearray()
    for payload in payloads:
        outcome = encoded(operation, payload, spoken, encode_errors)
        if isinstance(outcome, Decoded):
            statuses += ACCEPTED
            numbers.append(len(outcome.scalars))
            lengths.append(0)
            output += bytes(outcome.scalars)
        else:
            statuses += REFUSED
            numbers.append(outcome.offset)
            lengths.append(outcome.length)
    return Answers.of(bytes(statuses), big_endian("I", numbers), bytes(lengths), bytes(len(numbers)), bytes(output))
