"""What a Python function may return to a question about octets. It runs in the adapter, on the standard library alone.

A number, a bool, or a prefix of the octets, whose length is the number; a character, or its scalar value, and its width
as a tuple; of a converter how much it took, and its output, as a tuple; None, -1 or an exception to refuse. Octets that
are no prefix are no answer, so they count as a refusal: of ill-formed text, a function may return what is well-formed
in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODES = {"from-utf16": "F", "from-utf32": "E", "size-from-utf16": "Z", "size-from-utf32": "Z"}
"""The operation of an encoder that a function can answer, too, by its question."""
_LARGEST = 0xFFFFFFFF
_LONGEST = 6  # octets for a number, of an encoder that knows no end of them


def given(question: str, octets: bytes) -> str | bytes:
    """A text as the function gets it: ``str`` for an encoder, octets of Latin-1 for one of Latin-1, else itself."""
    _, _, form = question.partition("from-")
    if not form:
        return octets
    text = octets.decode()
    return text.encode("latin-1") if form == "latin1" else text


def numbers_in(operation: str, payload: bytes) -> str | None:
    """What an encoder is to encode, lone surrogates included; None if it holds numbers that no text has."""
    try:
        return payload.decode("utf-16-be" if operation == "F" else "utf-32-be", "surrogatepass")
    except UnicodeDecodeError:
        return None


def room_for(count: int) -> int:
    """The octets in which everything has room that an encoder may write for so many numbers or code units."""
    return _LONGEST * (count + 1)


def encoded(result: Any, operation: str, count: int) -> bytes | int | str | None:
    """What a function wrote that had room for all ``count`` numbers or code units.

    The octets, or the announced size in four; if it stopped before the end, the index of what it refused; None for a
    refusal without an index; a sentence if it cannot be read.
    """
    if result is None or result == -1:
        return None
    if operation == "Z":
        number = _number_of(result, b"")
        return number.to_bytes(4, "big") if isinstance(number, int) else number
    parts = cast("tuple[Any, ...]", result)
    if type(parts) is not tuple or len(parts) != 2 or not isinstance(parts[0], int):
        return f"returned {type(result).__name__}; an encoder returns how much it took and its octets, or None"
    taken, output = parts
    kind = cast("type[object]", type(output))
    if kind is list:
        numbers = cast("Sequence[Any]", output)
        output = bytes(numbers) if all(each in range(256) for each in numbers) else None
    if not isinstance(output, bytes | bytearray):
        return f"returned an int and {kind.__name__}; an encoder returns how much it took and its octets"
    return taken if 0 <= taken < count else bytes(output)


def numbers_of(result: Any, octets: bytes, question: str = "") -> bytes | str | None:
    """The numbers of a result in the wire format; None for a refusal; a sentence if it cannot be read."""
    if result is None or result == -1:
        return None
    if question.startswith(("to-", "from-")):
        return _converted(result, "utf-16-be" if question.endswith("utf16") else "utf-32-be")
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


def _converted(result: Any, codec: str) -> bytes | str | None:
    """What a converter took, and its output: octets, text, or a list of units."""
    parts = cast("tuple[Any, ...]", result)
    if type(parts) is not tuple or len(parts) != 2:
        return f"returned {type(result).__name__}; a converter returns how much it took and its output, or None"
    taken, output = parts
    if taken == -1:
        return None
    if isinstance(output, str):
        encoded, size = output.encode(codec, "surrogatepass"), int(codec[4:6]) // 8
        output = [int.from_bytes(encoded[place : place + size], "big") for place in range(0, len(encoded), size)]
    if not isinstance(taken, int) or not isinstance(output, bytes | bytearray | list):
        return f"returned {type(taken).__name__} and {type(output).__name__}; write an int, and bytes, a str or a list"
    return b"".join((int(number) & _LARGEST).to_bytes(4, "big") for number in (taken, *cast("Sequence[int]", output)))
