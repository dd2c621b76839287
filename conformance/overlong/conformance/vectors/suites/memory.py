"""Inputs that may make a function leave its memory, or overlook an error at some addresses.

Every length around vectors' widths, with each kind of end; and each kind of error at every place in the first blocks.
The operation ``G`` asks each of them at every address modulo 64.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.vectors.builders import CHARACTERS, filled
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.suites.suite import in_batches, of_vectors
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 130
"""The longest input, in octets: two vectors of 64 and two more."""
_AT_ONCE = 256
"""Small batches: the adapter runs each vector many times, and must answer a request in time."""

_ENDS = (
    (b"", "a whole character"),
    (b"\xc3", "C3, which lacks one octet"),
    (b"\xf0\x9f\x98", "F0 9F 98, which lacks one octet"),
    (b"\xff", "FF"),
    (b"\xe2\x82", "E2 82, which lacks one octet"),
    (b"\xe2", "E2, which lacks two octets"),
    (b"\xf0", "F0, which lacks three octets"),
    (b"\x80", "a tail octet"),
    (b"\xf4\x90\x80\x80", "F4 90 80 80, beyond 10FFFF"),
)

_ERRORS = (
    *(each for each in _ENDS if each[0]),
    (b"\xc0\x80", "C0 80, NUL in two octets"),
    (b"\xe0\x80\x80", "E0 80 80, NUL in three octets"),
    (b"\xed\xa0\x80", "ED A0 80, a surrogate"),
    (b"\xf0\x80\x80\x80", "F0 80 80 80, NUL in four octets"),
)
_FURTHEST = 70
"""The last offset of an error within an input: beyond it, any function of blocks of 64 octets begins a second one."""


def _lengths() -> Iterator[Vector]:
    for filler in CHARACTERS:
        for end, what in _ENDS if filler == CHARACTERS[0] else _ENDS[:4]:
            for length in range(len(end), LONGEST + 1):
                octets = filled(length - len(end), filler) + end
                yield Vector("memory", octets, f"{length} octets that end with {what}")


def _errors() -> Iterator[Vector]:
    for error, what in _ERRORS:
        for offset in range(_FURTHEST + 1):
            octets = (b"a" * offset + error).ljust(LONGEST, b"a")
            yield Vector("memory", octets, f"{what}, at offset {offset} of {LONGEST}")


@cache
def memory_vectors() -> tuple[Vector, ...]:
    """The core without its long inputs, then all lengths, and all places of errors; each input once."""
    first: dict[bytes, Vector] = {}
    core = (vector for vector in core_vectors() if len(vector.octets) <= LONGEST)
    for vector in (*core, *_lengths(), *_errors()):
        first.setdefault(vector.octets, vector)
    return tuple(first.values())


MEMORY = of_vectors(
    "memory",
    "the function stays within its memory, at every address",
    lambda _: memory_vectors(),
    GUARDED,
    partial(in_batches, size=_AT_ONCE),
)
