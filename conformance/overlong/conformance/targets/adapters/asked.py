"""What a Python function may return to a question about octets. It runs in the adapter, on the standard library alone.

A number, a bool, or a prefix of the octets, whose length is the number; a character, or its scalar value, and its width
as a tuple; None, -1 or an exception to refuse. Other octets than a prefix are no answer, so they count as a refusal: of
ill-formed text, a function may return what is well-formed in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST = 0xFFFFFFFF


def numbers_of(result: Any, octets: bytes) -> bytes | str | None:
    """The numbers of a result in the wire format; None for a refusal; a sentence if it cannot be read."""
    if result is None or result == -1:
        return None
    parts = cast("Sequence[Any]", result) if type(result) is tuple else (result,)
    if len(parts) == 2 and isinstance(parts[0], str) and len(parts[0]) == 1:
        parts = ord(parts[0]), parts[1]
    numbers = list[int]()
    for part in parts:
        number = _number_of(part, octets)
        if not isinstance(number, int):
            return number
        numbers.append(number)
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def _number_of(part: Any, octets: bytes) -> int | str | None:
    if isinstance(part, int):
        return min(int(part), _LARGEST) if part >= 0 else int(part) & _LARGEST  # as C would read it: far out of range
    if isinstance(part, bytes | bytearray):
        return len(part) if octets.startswith(part) else None
    return f"returned {type(part).__name__}; it returns a number, a bool, a prefix, a character with its width, or None"
