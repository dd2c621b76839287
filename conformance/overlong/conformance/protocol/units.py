"""The units of a target's output, and numbers on the wire."""

from __future__ import annotations

import struct
import sys
from array import array
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
            return tuple(_big_endian("I", units))
        if self.size == 2:
            return tuple(map(ord, units.decode(self.codec, "surrogatepass")))
        return _octets_as_values(units)

    def values_of(self, outputs: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The numbers in each of many outputs."""
        if self.size != 4:
            return list(map(self.values, outputs))
        lengths = set(map(len, outputs))
        if len(lengths) == 1 and (length := max(lengths)):
            return list(struct.iter_unpack(f">{length // 4}I", b"".join(outputs)))
        numbers = {length: struct.Struct(f">{length // 4}I").unpack for length in lengths}
        return [numbers[len(output)](output) for output in outputs]

    def write(self, scalars: Sequence[int]) -> bytes:
        """Scalar values in these units, as a correct target writes them."""
        if self is OCTETS:
            return bytes(scalars)
        if self.size == 4:
            return _in_a_row(scalars) if isinstance(scalars, range) else big_endian("I", scalars)
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


def _big_endian(code: str, octets: bytes) -> array[int]:
    numbers = array(code, octets)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def read_numbers(octets: bytes) -> array[int]:
    """The u32 of a column."""
    return _big_endian("I", octets)


def cut_evenly(octets: bytes | bytearray, length: int) -> list[bytes]:
    """``octets`` in pieces of one length, which is not 0.

    Raises:
        struct.error: the last piece would be shorter.
    """
    count = len(octets) // length
    if count > _MANY_PIECES:
        return list(chain.from_iterable(struct.iter_unpack(f"{length}s", octets)))
    return list(_cutter(length, count)(octets))


_MANY_PIECES = 1 << 14


@lru_cache(maxsize=64)
def _cutter(length: int, count: int) -> Callable[[bytes | bytearray], tuple[bytes, ...]]:
    """A function that cuts ``count`` pieces of ``length``. Batches mostly have one size, so a cache saves 3/4."""
    return struct.Struct(f"{length}s" * count).unpack


def big_endian(code: str, numbers: Sequence[int]) -> bytes:
    """Numbers in the wire format; ``code`` is a type code of :mod:`array`."""
    result = array(code, numbers)
    if sys.byteorder == "little":
        result.byteswap()
    return result.tobytes()


_ALIKE = [bytes([octet]) * 256 for octet in range(256)]


def _in_a_row(numbers: range) -> bytes:
    """Consecutive numbers, big-endian, built octet by octet without making each number."""
    first, after = numbers.start >> 8, (numbers.stop + 0xFF) >> 8
    skipped, count = numbers.start & 0xFF, len(numbers)
    result = bytearray(4 * count)
    for place, shift in ((0, 16), (1, 8), (2, 0)):
        upper = b"".join([_ALIKE[row >> shift & 0xFF] for row in range(first, after)])
        result[place::4] = upper[skipped : skipped + count]
    result[3::4] = (bytes(range(256)) * (after - first))[skipped : skipped + count]
    return bytes(result)


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
