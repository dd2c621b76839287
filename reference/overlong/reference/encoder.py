"""The reference encoder: the layout gives the octets, and the grammar decides whether they are well-formed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.dialect import dialect
from overlong.reference.error_mode import ESCAPES
from overlong.reference.order import from_utf16

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.reference.dialect import Dialect


class NotEncodable(ValueError):
    """A number that the dialect cannot encode: a surrogate, or a number beyond the range.

    Attributes:
        number: the number refused.
        index: its place in the input.
    """

    def __init__(self, number: int, index: int) -> None:
        super().__init__(number, index)
        self.number = number
        self.index = index

    def __str__(self) -> str:
        return f"{self.number:X} at index {self.index} is not a Unicode scalar value: it cannot be encoded"


def encode_scalars(scalars: Iterable[int], spoken: Dialect | None = None) -> bytes:
    """The octets of scalar values, in the dialect's one form of each.

    Raises:
        NotEncodable: one of them is no scalar value of the dialect.
    """
    spoken = spoken or dialect()
    automaton, state = spoken.automaton, 0
    result = bytearray()
    for index, scalar in enumerate(scalars):
        octets = spoken.layout.encode(scalar)
        if octets is None or not automaton.accepting[state := automaton.run(octets, state)]:
            raise NotEncodable(scalar, index)  # alone, or after the ones before: in wtf-8, half of a pair
        result += octets
    return bytes(result)


def encode_utf16(units: Sequence[int], spoken: Dialect | None = None) -> bytes:
    """The octets of UTF-16 code units; a pair is one character (RFC 3629 section 3).

    Raises:
        NotEncodable: a surrogate stands alone, and the dialect has no octets for it; ``index`` counts code units.
    """
    result = bytearray()
    for place, scalar in from_utf16(units):
        try:
            result += encode_scalars([scalar], spoken)
        except NotEncodable as error:
            raise NotEncodable(error.number, place) from None
    return bytes(result)


def encode_escaped(scalars: Iterable[int]) -> bytes:
    """The octets whose decoding in the error mode ``utf-8b`` gives ``scalars``: its inverse, for every input (PEP 383).

    Raises:
        NotEncodable: that mode never puts out one of the values.
    """
    result = bytearray()
    for index, scalar in enumerate(scalars):
        if scalar - ESCAPES in range(0x80, 0x100):
            result.append(scalar - ESCAPES)
        else:
            try:
                result += encode_scalars([scalar])
            except NotEncodable:
                raise NotEncodable(scalar, index) from None
    return bytes(result)


def encode(text: str) -> bytes:
    """The UTF-8 octets of a text (RFC 3629 section 3).

    Raises:
        NotEncodable: the text holds a surrogate.
    """
    return encode_scalars(map(ord, text))
