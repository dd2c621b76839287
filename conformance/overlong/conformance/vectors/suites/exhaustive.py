"""Suites by stride: every scalar value, alone and in context, and every string of up to four octets.

The byte-range sequences that the automaton accepts, in octet order, are the scalar values in order (see
:mod:`overlong.reference.order`). So a batch and its expected answers are laid out by stride, a column at a time,
without any decoding.
"""

from __future__ import annotations

from array import array
from functools import cache, partial
from itertools import chain, pairwise
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ACCEPTED, UNITS, VALIDATE, Answers, big_endian, read_numbers
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites.suite import BATCH, ByteRangeSequence, Suite, all_strings, batched
from overlong.conformance.vectors.vector import RFC3629
from overlong.reference import dialect, encode_scalars
from overlong.reference.order import (
    CODE_POINTS,
    LEAD_SURROGATES,
    SURROGATES,
    TRAIL_SURROGATES,
    scalar_of_rank,
    well_formed_products,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.protocol.wire import Units
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect


BETWEEN = (0xE9, 0x61)
"""The neighbours of each scalar value in the suite "scalars-between"."""

_BLOCK = 2 * BATCH  # vectors in a batch: they are laid out, not decoded, so a batch costs little beside its requests
RUN = 64
"""The number of scalar values in one string of the suite "runs"."""


def _blocks(profile: Profile, size: int = _BLOCK) -> Iterator[tuple[int, int, bytes, range]]:
    """Octets per character, number of characters, their octets, and their scalar values, which have no gap and all take
    the same number of units.
    """
    return _blocks_in_order(size) if profile.speaks == RFC3629.speaks else _blocks_of_rows(profile.dialect, size)


def _blocks_of_rows(spoken: Dialect, size: int) -> Iterator[tuple[int, int, bytes, range]]:
    """Such blocks for any dialect, number by number: the numbers of its layout that its grammar allows.

    Beyond 10FFFF they have only the first and the last numbers of each row: RFC 2279 has two thousand million.
    """
    borders = (0x80, LEAD_SURROGATES.start, TRAIL_SURROGATES.start, SURROGATES.stop, CODE_POINTS.stop)
    for row in spoken.layout.rows:
        edges = sorted({row.numbers.start, row.numbers.stop, *(each for each in borders if each in row.numbers)})
        for start, stop in pairwise(edges):
            for numbers in _ends(range(start, stop)):
                if spoken.automaton.accepts(row.octets(numbers[0])):
                    for first in range(numbers.start, numbers.stop, size):
                        some = range(first, min(first + size, numbers.stop))
                        yield len(row.templates), len(some), b"".join(map(row.octets, some)), some


def _ends(numbers: range) -> Iterator[range]:
    """All numbers of a row; or, beyond Unicode, the first and the last thousands."""
    if numbers.start < CODE_POINTS.stop or len(numbers) <= 2 * BATCH:
        yield numbers
    else:
        yield numbers[:BATCH]
        yield numbers[-BATCH:]


def _blocks_in_order(size: int) -> Iterator[tuple[int, int, bytes, range]]:
    rank = 0
    for ranges in well_formed_products(dialect().automaton):
        octets, width = ByteRangeSequence("scalar", ranges).octets, len(ranges)
        total = len(octets) // width
        done = 0
        while done < total:
            first = scalar_of_rank(rank)
            # no batch spans the surrogates, where rank and value diverge
            room = SURROGATES.start - first if first < SURROGATES.start else total
            count = min(size, total - done, room)
            yield width, count, octets[done * width : (done + count) * width], range(first, first + count)
            done += count
            rank += count


def _accepted(count: int, octets: bytes, scalars: Sequence[int], _: Batch, operation: str, units: Units) -> Answers:
    """The answers that accept ``count`` vectors, all with the same number of units: of ``octets`` or ``scalars``."""
    if operation == VALIDATE:
        return Answers.of(ACCEPTED * count, bytes(4 * count), bytes(count), bytes(count), b"")
    # if the units are UTF-8, the output equals the input
    output = octets if units.name == "utf-8" else units.write(scalars)
    each = len(output) // (units.size * count)
    return Answers.of(ACCEPTED * count, big_endian("I", [each]) * count, bytes(count), bytes(count), output)


def _batch(profile: Profile, category: str, count: int, octets: bytes, scalars: Sequence[int]) -> Batch:
    """Well-formed vectors of one length, whose scalar values are known (unless the dialect drops a signature)."""
    lengths = array("I", [len(octets) // count]) * count
    closed = None if profile.dialect.rule.drops_signature else partial(_accepted, count, octets, scalars)
    return Batch(category, lengths, octets, closed=closed)


def _singly(profile: Profile) -> Iterator[Batch]:
    for _, count, octets, scalars in _blocks(profile):
        yield _batch(profile, "scalar", count, octets, scalars)


def _between(profile: Profile) -> Iterator[Batch]:
    before, after = (encode_scalars([scalar]) for scalar in BETWEEN)
    for width, count, octets, scalars in _blocks(profile):
        size = len(before) + width + len(after)
        framed = bytearray((before + bytes(width) + after) * count)
        for place in range(width):
            framed[len(before) + place :: size] = octets[place::width]
        values = array("I", [BETWEEN[0], 0, BETWEEN[1]]) * count
        values[1::3] = read_numbers(UNITS["utf-32"].write(scalars))  # an array made of a range takes four times as long
        yield _batch(profile, "between", count, bytes(framed), values)


def _runs(profile: Profile) -> Iterator[Batch]:
    for width, count, octets, scalars in _blocks(profile, RUN * BATCH // 8):
        whole = count - count % RUN
        if whole:
            yield _batch(profile, "run", whole // RUN, octets[: whole * width], scalars[:whole])
        if whole < count:
            yield _batch(profile, "run", 1, octets[whole * width :], scalars[whole:])


def _sequences() -> Iterator[ByteRangeSequence]:
    for ranges in well_formed_products(dialect().automaton):
        yield from ByteRangeSequence("scalar", ranges).parts()


def _sequences_between() -> Iterator[ByteRangeSequence]:
    before, after = (tuple(range(octet, octet + 1) for octet in encode_scalars([neighbour])) for neighbour in BETWEEN)
    for ranges in well_formed_products(dialect().automaton):
        yield from ByteRangeSequence("between", (*before, *ranges, *after)).parts()


def _count(profile: Profile) -> int:
    if profile.speaks == RFC3629.speaks:
        return sum(prod(map(len, ranges)) for ranges in well_formed_products(dialect().automaton))
    return sum(count for _, count in _sizes(profile, _BLOCK))


def _count_of_runs(profile: Profile) -> int:
    return sum(-(-count // RUN) for _, count in _sizes(profile, RUN * BATCH // 8))


@cache
def _sizes(profile: Profile, size: int) -> tuple[tuple[int, int], ...]:
    return tuple((width, count) for width, count, _, _ in _blocks(profile, size))


SCALARS = Suite(
    "scalars",
    "every scalar value alone",
    _singly,
    count=_count,
    sequences=_sequences,
)
BETWEEN_OTHERS = Suite(
    "scalars-between",
    "every scalar value after a two-octet character and before ASCII",
    _between,
    count=_count,
    sequences=_sequences_between,
)
RUNS = Suite(
    "runs",
    f"every scalar value among {RUN} of its neighbours",
    _runs,
    count=_count_of_runs,
)

LONGEST = 4


def _sequences_of_all(longest: int) -> Iterator[ByteRangeSequence]:
    for length in range(1, longest + 1):
        yield from all_strings("exhaustive", length)


def _every_string(longest: int, _: Profile) -> Iterator[Batch]:
    for some in batched(chain.from_iterable(map(_strings_of, _sequences_of_all(longest))), BATCH):
        yield Batch.of_strings("exhaustive", some)


def _strings_of(sequence: ByteRangeSequence) -> Iterator[bytes]:
    octets, length = sequence.octets, len(sequence.ranges)
    return (octets[start : start + length] for start in range(0, len(octets), length))


@cache
def exhaustive(longest: int) -> Suite:
    """The suite of all strings of 1 to ``longest`` octets."""
    return Suite(
        f"exhaustive-{longest}",
        f"every string of 1 to {longest} octets" if longest > 1 else "every octet alone",
        partial(_every_string, longest),
        count=lambda _: sum(0x100**length for length in range(1, longest + 1)),
        sequences=partial(_sequences_of_all, longest),
    )
