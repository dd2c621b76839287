"""The reference encoder: the layout gives the octets, the grammar says whether they may stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.dialect import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference.dialect import Dialect


class NotEncodable(ValueError):
    """A number that the dialect has no octets for: a surrogate, or beyond the range.

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
    result = bytearray()
    for index, scalar in enumerate(scalars):
        octets = spoken.layout.encode(scalar)
        if octets is None or not spoken.automaton.accepts(octets):
            raise NotEncodable(scalar, index)
        result += octets
    return bytes(result)


def encode(text: str) -> bytes:
    """The UTF-8 octets of a text (RFC 3629 section 3).

    Raises:
        NotEncodable: the text holds a surrogate.
    """
    return encode_scalars(map(ord, text))
