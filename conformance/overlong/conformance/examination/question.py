"""A question to a decoder: octets, and the circumstances in which they are given to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from overlong.conformance.vectors.vector import Vector


class Asked(Protocol):
    """What a condition reads of a question."""

    @property
    def octets(self) -> bytes:
        """The input."""
        ...

    @property
    def earlier(self) -> tuple[bytes, ...]:
        """What the same decoder was given before: the chunks of another stream, or the inputs of earlier calls."""
        ...

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The lengths of a stream's chunks; None for a whole input."""
        ...

    @property
    def address(self) -> int | None:
        """The address of the first octet, modulo 64; None if it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """One input."""

    octets: bytes
    earlier: tuple[bytes, ...] = ()
    chunks: tuple[int, ...] | None = None
    address: int | None = None


def question_of(vector: Vector) -> Question:
    """The question that a vector asks."""
    return Question(vector.octets, vector.earlier or (), vector.chunks)
