"""Divergences in columns: if a whole batch diverges, its vectors are neither decoded nor made into objects singly.

Two well-formed strings diverge alike if their octets are in the same ranges of the grammar, place by place, and their
answers are wrong in the same way. So one of them is compared, and the others take its code and place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress, repeat
from operator import ne
from typing import TYPE_CHECKING, overload

from overlong.conformance.oracle.compare import compare, expected_of, first_difference
from overlong.conformance.oracle.faults import in_halves
from overlong.conformance.oracle.finding import Bucket, Finding, answer_as_text
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    AGAIN,
    ANNOUNCE,
    ENCODE,
    ENCODING,
    FAILED,
    IN_MEMORY,
    OCTETS,
    REFUSED,
    SEPARATE,
    STREAMING,
    VALIDATE,
    big_endian,
    cut_evenly,
    most_units,
    read_numbers,
)
from overlong.conformance.vectors.expected import SCALARS, WIDTHS, given, replacement
from overlong.conformance.vectors.vector import LONGEST_HEX, vector_id
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.protocol.wire import Answers, Units
    from overlong.conformance.vectors.batch import Batch
    from overlong.reference import Dialect


@dataclass(frozen=True)
class Divergences:
    """The divergent rows among answers to a batch of whole inputs. Only shown rows become findings."""

    batch: Batch
    operation: str
    places: Sequence[int]
    """The rows' indices in the batch."""
    octets: Sequence[bytes]
    """The octets of their vectors."""
    keys: Sequence[Hashable]
    """A key for each row; rows with equal keys diverge alike."""
    bucket_of: Mapping[Hashable, tuple[str, str]]
    """The bucket of each key."""
    observed: Sequence[Observation]

    def __len__(self) -> int:
        return len(self.places)

    def finding(self, index: int) -> Finding:
        """One row as a finding."""
        vector, (code, place) = self.batch[self.places[index]], self.bucket_of[self.keys[index]]
        return Finding(vector, self.operation, code, expected_of(vector, self.operation), self.observed[index], place)

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """The number of rows in each bucket, in the order of the buckets' first rows."""
        counts = Counter[tuple[str, str]]()
        for key, count in Counter(self.keys).items():
            counts[self.bucket_of[key]] += count
        return counts

    def first(self, wanted: Callable[[tuple[str, str]], int]) -> Iterator[Finding]:
        """The first findings of each bucket, in order, up to the requested number."""
        left = {bucket: min(max(wanted(bucket), 0), count) for bucket, count in self.counts.items()}
        missing = sum(left.values())
        for index, bucket in enumerate(map(self.bucket_of.__getitem__, self.keys)):
            if not missing:
                return
            if left[bucket]:
                left[bucket] -= 1
                missing -= 1
                yield self.finding(index)

    def count_in(self, buckets: dict[tuple[str, str], Bucket]) -> None:
        """Count all rows in their buckets; a bucket's least row becomes its example if it is less than that."""
        for bucket, count in self.counts.items():
            least = self.finding(self._least(bucket))
            kept = buckets.setdefault(bucket, Bucket(least))
            kept.add(least)
            kept.count += count - 1

    def _least(self, bucket: tuple[str, str]) -> int:
        """The index of the first shortlex-least row of a bucket."""
        octets: Sequence[bytes] = self.octets
        if len(self.counts) > 1:
            among = {key for key, each in self.bucket_of.items() if each == bucket}
            octets = list(compress(octets, map(among.__contains__, self.keys)))
        least = min(octets) if len(self._lengths) == 1 else min(octets, key=shortlex)
        return next(
            index
            for index, (each, key) in enumerate(zip(self.octets, self.keys, strict=True))
            if each == least and self.bucket_of[key] == bucket
        )

    def digested(self) -> bytes:
        """The concatenated lines of all rows in the digest of a run: see :attr:`Finding.line`."""
        head, ends = f"{self.batch.category}/".encode(), self._ends()
        lengths = self._lengths
        if len(lengths) == 1 and 0 < (length := max(lengths)) <= LONGEST_HEX:
            names = cut_evenly(b"".join(self.octets).hex().encode(), 2 * length)
        else:
            names = [vector_id("", octets)[1:].encode() for octets in self.octets]
        if isinstance(ends, bytes):
            return head + (ends + head).join(names) + ends if names else b""
        return b"".join(chain.from_iterable(zip(repeat(head), names, ends, strict=False)))

    def _ends(self) -> bytes | Sequence[bytes]:
        """The ends of the rows' lines after the vectors' names; a single one if it is the same for all."""
        codes = {key: f" {self.operation} {code} " for key, (code, _) in self.bucket_of.items()}
        only = next(iter(codes.values())) if len(set(codes.values())) == 1 else None
        if isinstance(self.observed, _Outputs):
            spelt, between = self.observed.spelt(), b"accepted "
            if only is not None:
                between = only.encode() + between
                return [b"%b%b\n" % (between, each) for each in spelt]
            coded = {key: code.encode() + between for key, code in codes.items()}
            return [
                b"%b%b\n" % (code, each) for code, each in zip(map(coded.__getitem__, self.keys), spelt, strict=True)
            ]
        if not self.observed:
            return b""
        alike = self.observed.count(self.observed[0]) == len(self)
        apart = self.observed[:1] if alike else {id(each): each for each in self.observed}.values()
        said = {id(each): answer_as_text(each, self.operation) + "\n" for each in apart}
        if len(said) == 1:
            text = next(iter(said.values()))
            ends = {key: f"{code}{text}".encode() for key, code in codes.items()}
            return next(iter(ends.values())) if only is not None else list(map(ends.__getitem__, self.keys))
        lines = {(code, each): f"{code}{text}".encode() for code in set(codes.values()) for each, text in said.items()}
        pairs = zip(map(codes.__getitem__, self.keys), map(id, self.observed), strict=True)
        return list(map(lines.__getitem__, pairs))

    @cached_property
    def _lengths(self) -> set[int]:
        return set(map(len, self.octets))


_NUMBER = 4
"""The octets of a unit that is a whole number."""


class _Outputs(Sequence[Accepted]):
    """Outputs in the wire format; each becomes an observation on access."""

    def __init__(self, written: Sequence[bytes], units: Units) -> None:
        self.written = written
        self.units = units

    def __len__(self) -> int:
        return len(self.written)

    def spelt(self) -> list[bytes]:
        """Each output as :func:`answer_as_text` writes it."""
        written = self.written
        if self.units.size != _NUMBER and self.units is not OCTETS:
            written = [big_endian("I", self.units.values(each)) for each in written]
        if len(sizes := set(map(len, written))) == 1 and (size := max(sizes)):
            return cut_evenly(b"".join(written).hex().encode(), 2 * size)
        return [each.hex().encode() for each in written]

    def part_from(self, right: Sequence[bytes]) -> list[int]:
        """The index of each output's first number that differs from the right output."""
        if self.units.size == _NUMBER:
            return [
                0 if begins_wrongly else first_difference(one, other) // _NUMBER
                for begins_wrongly, one, other in zip(self._begin_wrongly(right), right, self.written, strict=True)
            ]
        return list(map(first_difference, map(self.units.values, right), map(self.units.values, self.written)))

    def _begin_wrongly(self, right: Sequence[bytes]) -> Iterable[int]:
        """For each output, nonzero if its first number differs from the right one; 0: it does not, or there is none.

        Outputs of one size are compared all at once, place by place, as large numbers.
        """
        sizes = [set(map(len, each)) for each in (right, self.written)]
        if any(len(each) > 1 or 0 in each for each in sizes):
            return [one[:_NUMBER] != other[:_NUMBER] for one, other in zip(right, self.written, strict=True)]
        differ = 0
        joined = [(b"".join(each), max(size)) for each, size in zip((right, self.written), sizes, strict=True)]
        for place in range(_NUMBER):
            one, other = (int.from_bytes(octets[place::size], "big") for octets, size in joined)
            differ |= one ^ other
        return differ.to_bytes(len(self), "big")

    @overload
    def __getitem__(self, index: int) -> Accepted: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Accepted]: ...
    def __getitem__(self, index: int | slice) -> Accepted | Sequence[Accepted]:
        if isinstance(index, slice):
            return _Outputs(self.written[index], self.units)
        return Accepted(self.units.values(self.written[index]))


def divergences(answered: Answered, greeting: Greeting) -> Divergences | None:
    """The divergences in the answers to an entirely well-formed batch; None if they must be examined singly.

    That is so if the batch is not fully known in columns, for streams, and if the target failed.
    """
    batch, operation, answers = answered.batch, answered.operation, answered.answers
    rule = batch.profile.dialect.rule
    if answered.faults or answered.again or not batch.is_closed:
        return None
    if operation in STREAMING + AGAIN + IN_MEMORY + SEPARATE or rule.joins_pairs or rule.drops_signature:
        return None
    units = greeting.units_of(operation)
    expected = batch.expected(operation, units)
    if answers.agrees(expected):
        return Divergences(batch, operation, (), (), (), {}, ())
    statuses = answers.statuses
    outputs: Sequence[bytes] = ()  # set if they matter, like the right ones
    right: Sequence[bytes] = ()
    if operation == VALIDATE or (ACCEPTED not in statuses and operation not in ENCODING):
        wrong: Sequence[int] = statuses.translate(_WRONG)
    else:
        outputs, right = answers.outputs(units.size), expected.outputs(units.size)
        refused, accepted = statuses.translate(_WRONG), statuses.translate(_WITH_OUTPUT)
        wrong = [
            no or (yes and differs) for no, yes, differs in zip(refused, accepted, map(ne, right, outputs), strict=True)
        ]
    if not any(wrong):
        return Divergences(batch, operation, (), (), (), {}, ())
    places = range(len(batch)) if all(wrong) else list(compress(range(len(batch)), wrong))
    right = list(compress(right, wrong)) if right else right
    octets = batch.strings(places)
    observed = _observed(answers, outputs, units, wrong, len(places), verdict_only=operation == VALIDATE)
    keys = _keys(batch, operation, places, octets, right, observed, units)
    bucket_of: dict[Hashable, tuple[str, str]] = {}
    for key, index in dict(zip(keys, range(len(places)), strict=True)).items():  # any of the rows that diverge alike
        finding = compare(batch[places[index]], operation, observed[index])
        assert finding is not None, "the columns differ"
        bucket_of[key] = finding.bucket
    return Divergences(batch, operation, places, octets, keys, bucket_of, observed)


_WRONG = bytes(octet in REFUSED + FAILED for octet in range(256))
_WITH_OUTPUT = bytes(octet == ACCEPTED[0] for octet in range(256))


def _observed(
    answers: Answers, outputs: Sequence[bytes], units: Units, wrong: Sequence[int], count: int, *, verdict_only: bool
) -> Sequence[Observation]:
    """The wrong answers: one object for all if they are alike; objects made on access if all are outputs."""
    if (one := answers.alike()) is not None:
        return list(one.observations(units, verdict_only=verdict_only)) * count
    chosen = list(compress(answers.statuses, wrong))
    asked = min(answers.asked, default=0)
    if chosen == [ACCEPTED[0]] * count and max(read_numbers(answers.numbers)) <= most_units(asked):
        return _Outputs(list(compress(outputs, wrong)), units)
    return list(answers.observations(units, verdict_only=verdict_only, chosen=wrong))


def _keys(
    batch: Batch,
    operation: str,
    places: Sequence[int],
    octets: Sequence[bytes],
    right: Sequence[bytes],
    observed: Sequence[Observation],
    units: Units,
) -> Sequence[Hashable]:
    """The keys: the shape of each vector, and the way in which its answer is wrong."""
    shapes = _shapes(batch, operation, octets, right)
    alike = isinstance(observed, list) and observed.count(observed[0]) == len(observed)
    if alike and (isinstance(observed[0], Refused) or (operation not in ENCODING and observed[0] == Accepted(()))):
        return shapes  # all wrong in the same way
    if operation not in ENCODING and isinstance(observed, _Outputs):
        parted = observed.part_from(right)
        return shapes if parted.count(parted[0]) == len(parted) else list(zip(shapes, parted, strict=True))
    if operation == ENCODE and isinstance(observed, _Outputs) and set(batch.lengths) == {WIDTHS[SCALARS]}:
        return list(zip(shapes, _ways_to_write(batch, octets, right, observed.written), strict=True))
    expected = list(map(units.values, right)) if right and operation not in ENCODING else [()] * len(places)
    return list(zip(shapes, map(_way, repeat(operation), places, observed, expected), strict=True))


def _ways_to_write(
    batch: Batch, octets: Sequence[bytes], right: Sequence[bytes], written: Sequence[bytes]
) -> Iterator[object]:
    """The way in which each single number was written wrongly: for one with octets of its own, in halves or not."""
    spoken = batch.profile.dialect
    instead = replacement(batch.profile.encodes, spoken)
    for place, (payload, wanted, found) in enumerate(zip(octets, right, written, strict=True)):
        (number,) = given(ENCODE, payload)
        yield f"at {place}" if wanted == instead else in_halves(number, found, spoken)


def _way(operation: str, place: int, observed: Observation, right: tuple[int, ...]) -> object:
    """The way in which an answer is wrong; ``right``: the right output."""
    if isinstance(observed, Refused):
        return observed.offset
    if not isinstance(observed, Accepted):
        return type(observed)
    if operation == ENCODE:  # the octets written matter: each is compared
        return f"at {place}"
    return "" if operation == ANNOUNCE else ("from", first_difference(right, observed.values or ()))


def _shapes(batch: Batch, operation: str, octets: Sequence[bytes], right: Sequence[bytes]) -> Sequence[Hashable]:
    """The shapes of vectors: ranges of the grammar; for an encoder, lengths in octets."""
    if operation in ENCODING:
        return right if operation == ANNOUNCE else list(map(len, right))
    length, ranges = len(octets[0]), b"".join(octets).translate(_classes(batch.profile.dialect))
    first = ranges[:length]  # a closed batch has vectors of one length
    return [first] * len(octets) if first * len(octets) == ranges else cut_evenly(ranges, length)


@lru_cache(maxsize=16)
def _classes(spoken: Dialect) -> bytes:
    """For each octet a number, equal for octets that the grammar never distinguishes."""
    positions = {position for state in spoken.unfolded.open for position in state}
    sets = list({position.octets for position in positions})
    rows: dict[tuple[bool, ...], int] = {}
    return bytes(rows.setdefault(tuple(octet in each for each in sets), len(rows)) for octet in range(256))
