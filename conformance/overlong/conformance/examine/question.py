"""A question to a decoder: octets, and the circumstances in which they are given to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One input."""

    octets: bytes
    chunks: tuple[int, ...] | None = None
    """The lengths of a stream's chunks; None for a whole input."""
    earlier: tuple[bytes, ...] | None = None
    """The chunks of another stream, which the same decoder has decoded before."""
    after: bytes | None = None
    """The input of the call right before; None if it does not matter."""
