"""The answers of a correct encoder: the octets of code points or of UTF-16 code units, or their number.

The ``octets`` of an encoder's vector hold the encoder's input: code points as u32 or code units as u16,
big-endian. The reference encoder gives the octets that must come back (RFC 3629 section 3).
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from overlong.conformance.protocol.wire import ACCEPTED, ANNOUNCE, ENCODE, ENCODE_UTF16, REFUSED, Answers, big_endian
from overlong.reference import Decoded, NotEncodable, Rejected, encode_scalars
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import LEAD_SURROGATES, from_utf16

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference import Dialect, Outcome

SCALARS, UTF16 = "encoding", "utf-16"
"""The categories of vectors that hold code points, and code units."""

CATEGORY_OF = {ENCODE: SCALARS, ANNOUNCE: SCALARS, ENCODE_UTF16: UTF16}
"""The category of the vectors for an operation."""

WIDTHS = {SCALARS: 4, UTF16: 2}
"""The number of octets of a vector that hold one number."""

QUESTION_MARK = b"?"
_LAST_UNIT = 0xFFFF


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
    for index, number in numbered(operation, payload):
        yield Piece(index, number, octets_of(number, spoken))


def numbered(operation: str, payload: bytes) -> Iterable[tuple[int, int]]:
    """The numbers, UTF-16 pairs joined, each with its place."""
    found = given(operation, payload)
    return from_utf16(found) if operation == ENCODE_UTF16 and _may_pair(found) else enumerate(found)


def _numbers(operation: str, payload: bytes) -> Sequence[int]:
    """The same without their places, which takes less time."""
    found = given(operation, payload)
    if operation == ENCODE_UTF16 and _may_pair(found):
        return [number for _, number in from_utf16(found)]
    return found


def _may_pair(units: Iterable[int]) -> bool:
    return any(unit in LEAD_SURROGATES for unit in set(units))


@lru_cache(maxsize=1 << 10)  # wrong answers to long text are looked at piece by piece
def octets_of(number: int, spoken: Dialect) -> bytes | None:
    """The octets of a number; None if the dialect has none for it."""
    try:
        return encode_scalars([number], spoken)
    except NotEncodable:
        return None


@lru_cache(maxsize=1 << 10)
def halves(supplementary: int) -> tuple[int, int]:
    """The lead and the trail surrogate of a supplementary character in UTF-16."""
    lead, trail = given(ENCODE_UTF16, chr(supplementary).encode("utf-16-be"))
    return lead, trail


def in_units(points: Sequence[int]) -> bytes:
    """Code points as UTF-16 code units."""
    return big_endian("H", [unit for each in points for unit in (halves(each) if each > _LAST_UNIT else (each,))])


def replacement(encode_errors: str, spoken: Dialect) -> bytes | None:
    """The octets that an encoder writes for a number that is no scalar value; None if it refuses."""
    if encode_errors == "replacement":
        return encode_scalars([REPLACEMENT_CHARACTER], spoken)
    return QUESTION_MARK if encode_errors == "question mark" else None


def encoded(operation: str, payload: bytes, spoken: Dialect, encode_errors: str = "fatal") -> Outcome:
    """The answer of a correct encoder: octets as the numbers of :class:`Decoded`, or the index of the refusal.

    An announced size is a u32, in four octets.
    """
    answer = _answer(operation, payload, spoken, encode_errors)
    return Rejected(answer, 1, incomplete=False) if isinstance(answer, int) else Decoded(tuple(answer))


def _answer(operation: str, payload: bytes, spoken: Dialect, encode_errors: str) -> bytes | int:
    """The octets, or the index of the refusal. Each number of a text is encoded once: long text has few."""
    numbers, instead = _numbers(operation, payload), replacement(encode_errors, spoken)
    octets = {number: octets_of(number, spoken) or instead for number in set(numbers)}
    if None in octets.values():
        refused = {number for number, known in octets.items() if known is None}
        return next(place for place, number in numbered(operation, payload) if number in refused)
    whole = b"".join(map(cast("dict[int, bytes]", octets).__getitem__, numbers))
    return len(whole).to_bytes(4, "big") if operation == ANNOUNCE else whole


def answers(operation: str, payloads: Iterable[bytes], spoken: Dialect, encode_errors: str) -> Answers:
    """The answers of a correct encoder to many payloads, in the wire format."""
    statuses, numbers, lengths, output = bytearray(), list[int](), bytearray(), bytearray()
    for payload in payloads:
        answer = _answer(operation, payload, spoken, encode_errors)
        if isinstance(answer, int):
            statuses += REFUSED
            numbers.append(answer)
            lengths.append(1)
        else:
            statuses += ACCEPTED
            numbers.append(len(answer))
            lengths.append(0)
            output += answer
    return Answers.of(bytes(statuses), big_endian("I", numbers), bytes(lengths), bytes(len(numbers)), bytes(output))
