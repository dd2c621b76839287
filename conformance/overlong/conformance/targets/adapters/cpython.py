"""CPython's own decoders, for the Python adapter. Loops are inline, because their speed is measured."""

from __future__ import annotations

import struct
import sys
from encodings import utf_8
from functools import partial
from itertools import repeat
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters.serving import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    Results = Sequence[Any]


def _one_by_one(many: Sequence[bytes], errors: str) -> Results:
    results: list[Any] = []
    for octets in many:
        try:
            results.append(octets.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            # Keeping ten thousand errors with their tracebacks is slow. ``args`` would be wrong: after a handler
            # continued, CPython raises its first error again, and ``args`` still hold the first place.
            results.append((error.encoding, error.object, error.start, error.end, error.reason))
    return results


def _encode(many: Sequence[bytes], errors: str) -> Results:
    """Encode code points in UTF-32. ``chr`` makes them text, so that only the codec under test sees them."""
    unpackers = {size: struct.Struct(f">{size // 4}I").unpack for size in set(map(len, many))}
    results: list[Any] = []
    for payload in many:
        numbers = unpackers[len(payload)](payload)
        try:
            results.append("".join(map(chr, numbers)).encode("utf-8", errors))
        except (UnicodeEncodeError, ValueError, OverflowError):  # the latter two from chr
            results.append(_refusal_to_encode(numbers, errors))
    return results


def _refusal_to_encode(numbers: Sequence[int], errors: str) -> Any:
    """The first number refused: by ``chr``, or earlier by the codec."""
    beyond = next((place for place, number in enumerate(numbers) if number > sys.maxunicode), len(numbers))
    try:
        "".join(map(chr, numbers[:beyond])).encode("utf-8", errors)
    except UnicodeEncodeError as error:
        return Refusal(error.start, incomplete=False)
    return Refusal(beyond, incomplete=False)


def _encode_utf16(many: Sequence[bytes], errors: str) -> Results:
    """Encode code units in UTF-16; the index of a refusal counts units, though the exception counts characters."""
    results: list[Any] = []
    for payload in many:
        text = payload.decode("utf-16-be", "surrogatepass")
        try:
            results.append(text.encode("utf-8", errors))
        except UnicodeEncodeError as error:
            units = len(text[: error.start].encode("utf-16-be", "surrogatepass")) // 2
            results.append(Refusal(units, incomplete=False))
    return results


def _encoders(errors: str) -> dict[str, Any]:
    return {"E": partial(_encode, errors=errors), "F": partial(_encode_utf16, errors=errors)}


def _strict(many: Sequence[bytes]) -> Results:
    try:
        return list(map(bytes.decode, many))
    except UnicodeDecodeError:
        pass
    results: list[Any] = []
    for octets in many:
        try:
            results.append(octets.decode())
        except UnicodeDecodeError as error:
            results.append(error.args)
    return results


def _replace(many: Sequence[bytes]) -> Results:
    return list(map(bytes.decode, many, repeat("utf-8"), repeat("replace")))


_passing, _escaping = partial(_one_by_one, errors="surrogatepass"), partial(_one_by_one, errors="surrogateescape")

Strict = SimpleNamespace(operations={"D": _strict, "L": _replace, **_encoders("strict")})
"""``bytes.decode`` with ``errors="strict"`` and ``errors="replace"``."""
Surrogatepass = SimpleNamespace(operations={"D": _passing, **_encoders("surrogatepass")})
"""``errors="surrogatepass"``: CESU-8's habits in a UTF-8 decoder."""
Surrogateescape = SimpleNamespace(
    operations={
        "D": _escaping,
        "L": _escaping,  # it refuses nothing, so it also counts as replacing
        **_encoders("surrogateescape"),
    },
    traits={"error_mode": "utf-8b"},
)
"""``errors="surrogateescape"`` (PEP 383): every octet is kept, as a lone surrogate."""


class Incremental(utf_8.IncrementalDecoder):
    """The codec's own class. It joins the octets it kept to the next chunk, and counts from there."""

    traits = {"stream_offsets": "kept"}  # noqa: RUF012
