"""Inputs that may make a function leave its memory: every length around vectors' widths, with each kind of end."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.suites.suite import Suite, in_batches
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.batch import Batch

LONGEST = 130
"""The longest input, in octets: two vectors of 64 and two more."""
_AT_ONCE = 256

_FILLERS = (b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80")
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


def _lengths() -> Iterator[Vector]:
    for filler in _FILLERS:
        for end, what in _ENDS if filler == _FILLERS[0] else _ENDS[:4]:
            for length in range(len(end), LONGEST + 1):
                whole, rest = divmod(length - len(end), len(filler))
                octets = b"a" * rest + filler * whole + end
                yield Vector("memory", octets, f"{length} octets that end with {what}")


@cache
def memory_vectors() -> tuple[Vector, ...]:
    """The core without its long inputs, then all lengths; each input once."""
    first: dict[bytes, Vector] = {}
    core = (vector for vector in core_vectors() if len(vector.octets) <= LONGEST)
    for vector in (*core, *_lengths()):
        first.setdefault(vector.octets, vector)
    return tuple(first.values())


def _batches() -> Iterator[Batch]:
    """Small batches: the adapter runs each vector many times, and must answer a request in time."""
    for batch in in_batches(memory_vectors()):
        for start in range(0, len(batch), _AT_ONCE):
            yield batch.part(start, min(start + _AT_ONCE, len(batch)))


MEMORY = Suite(
    "memory",
    "the function stays within its memory, at every address",
    lambda _: _batches(),
    lambda _: len(memory_vectors()),
    asks=GUARDED,
)
