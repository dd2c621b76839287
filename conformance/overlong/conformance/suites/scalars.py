"""Every scalar value, alone and among its neighbours. Built and judged in columns.

The products of octet ranges that the automaton accepts, taken in octet order, are the scalar values in
order (see :mod:`overlong.reference.order`), so a batch and its right answers are laid out by stride, a
column at a time, and nothing is decoded to know them.
"""

from __future__ import annotations

import struct
from array import array
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.batch import Batch
from overlong.conformance.protocol import ACCEPTED, VALIDATE, Answers
from overlong.conformance.suites.suite import BATCH, Suite
from overlong.reference import dialect
from overlong.reference.order import SURROGATES, scalar_of_rank, scalar_values, well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.protocol import Units

RUN = 64
"""Scalar values in one string of the suite "in context"."""


def product_octets(ranges: tuple[range, ...]) -> bytes:
    """All sequences of a product, in octet order, one after the other: the last octet moves fastest."""
    count, width = prod(map(len, ranges)), len(ranges)
    result = bytearray(count * width)
    repeat = count
    for place, octets in enumerate(ranges):
        repeat //= len(octets)
        once = b"".join(bytes([octet]) * repeat for octet in octets)
        result[place::width] = once * (count // len(once))
    return bytes(result)


def _blocks() -> Iterator[tuple[int, int, bytes, range]]:
    """Octets per character, characters, their octets, and their scalar values: runs without a gap."""
    rank = 0
    for ranges in well_formed_products(dialect().automaton):
        octets, width = product_octets(ranges), len(ranges)
        total = len(octets) // width
        done = 0
        while done < total:
            first = scalar_of_rank(rank)
            # a batch does not run across the surrogates, where order and value part
            room = SURROGATES.start - first if first < SURROGATES.start else total
            count = min(BATCH, total - done, room)
            yield width, count, octets[done * width : (done + count) * width], range(first, first + count)
            done += count
            rank += count


def _answers(scalars: range, per_string: int, batch: Batch, operation: str, units: Units) -> Answers:
    """What a right target answers: accepted, and these scalar values, ``per_string`` to a string."""
    count = len(batch)
    if operation == VALIDATE:
        return Answers(ACCEPTED * count, bytes(4 * count), bytes(count), bytes(count), b"", b"")
    # text in its one encoding comes out as it went in
    output = batch.octets if units.name == "utf-8" else units.write(scalars)
    # one length of sequence has one number of units, so all strings but the last have one length of output
    each = len(output) // (units.size * len(scalars))
    last = len(scalars) - (count - 1) * per_string
    numbers = struct.pack(">I", each * per_string) * (count - 1) + struct.pack(">I", each * last)
    return Answers(ACCEPTED * count, numbers, bytes(count), bytes(count), output, b"")


def _singly() -> Iterator[Batch]:
    for width, count, octets, scalars in _blocks():
        yield Batch("scalar", array("I", [width]) * count, octets, closed=partial(_answers, scalars, 1))


def _in_context() -> Iterator[Batch]:
    for width, count, octets, scalars in _blocks():
        lengths = [min(RUN, count - start) * width for start in range(0, count, RUN)]
        yield Batch("scalars", array("I", lengths), octets, closed=partial(_answers, scalars, RUN))


def _count_runs() -> int:
    return sum(-(-count // RUN) for _, count, _, _ in _blocks())


SCALARS = Suite(
    "scalars",
    "every scalar value alone",
    _singly,
    lambda: sum(1 for _ in scalar_values()),
)
SCALARS_IN_CONTEXT = Suite(
    "scalars in context",
    f"every scalar value among {RUN} of its neighbours",
    _in_context,
    _count_runs,
)
