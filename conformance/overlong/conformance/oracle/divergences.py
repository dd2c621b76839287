"""Divergences in columns: where a whole batch diverges, nothing is decoded and no object made for each of its vectors.

Of well-formed strings, two whose octets are of the same ranges of the grammar, place by place, and whose answers go
wrong in the same way, diverge alike: one is compared, and the others take its code and place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare, expected_of, first_difference
from overlong.conformance.oracle.finding import Bucket, Finding
from overlong.conformance.protocol.observation import Accepted, Refused, Unsupported
from overlong.conformance.protocol.wire import ACCEPTED, AGAIN, ANNOUNCE, ENCODE, ENCODING, GUARDED, STREAMING, VALIDATE
from overlong.conformance.vectors.vector import LONGEST_HEX, vector_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.protocol.wire import Greeting, Units
    from overlong.conformance.vectors.batch import Batch
    from overlong.reference import Dialect


@dataclass(frozen=True)
class Divergences:
    """What diverges in the answers to a batch of whole inputs, row by row; a finding is made only of what is shown."""

    batch: Batch
    operation: str
    places: Sequence[int]
    """In the batch."""
    buckets: Sequence[tuple[str, str]]
    observed: Sequence[Observation]

    def __len__(self) -> int:
        return len(self.places)

    def finding(self, index: int) -> Finding:
        """One of them as an object."""
        vector, (code, place) = self.batch[self.places[index]], self.buckets[index]
        return Finding(vector, self.operation, code, expected_of(vector, self.operation), self.observed[index], place)

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """How many there are of each bucket, in the order in which these come."""
        return Counter(self.buckets)

    @cached_property
    def octets(self) -> list[bytes]:
        """Of their vectors."""
        return self.batch.strings(self.places)

    def first(self, wanted: Callable[[tuple[str, str]], int]) -> Iterator[Finding]:
        """In order, as many findings of each bucket as are wanted."""
        left = {bucket: min(max(wanted(bucket), 0), count) for bucket, count in self.counts.items()}
        missing = sum(left.values())
        for index, bucket in enumerate(self.buckets):
            if not missing:
                return
            if left[bucket]:
                left[bucket] -= 1
                missing -= 1
                yield self.finding(index)

    def count_in(self, buckets: dict[tuple[str, str], Bucket]) -> None:
        """Count them in their buckets, and let the least of each be its example if it is less than that."""
        for bucket, count in self.counts.items():
            least = self.finding(self._least(bucket))
            kept = buckets.setdefault(bucket, Bucket(least))
            kept.add(least)
            kept.count += count - 1

    def _least(self, bucket: tuple[str, str]) -> int:
        """The index of the first that is shortlex-least among those of a bucket."""
        every = len(self.counts) == 1
        octets = self.octets
        rows = range(len(self)) if every else (row for row, each in enumerate(self.buckets) if each == bucket)
        alike = len(self._lengths) == 1
        return min(rows, key=octets.__getitem__ if alike else lambda row: (len(octets[row]), octets[row]))

    def digested(self) -> bytes:
        """What the digest of a run takes of each, in a row: ``D-… category/octets`` and the end of a line."""
        sha256, category = hashlib.sha256, self.batch.category
        digits = [octets.hex() for octets in self.octets]
        short = all(0 < length <= LONGEST_HEX for length in self._lengths)
        names = digits if short else [vector_id("", octets)[1:] for octets in self.octets]
        return "".join(
            [
                f"D-{sha256((octets + end).encode()).hexdigest()[:8]} {category}/{name}\n"
                for octets, end, name in zip(digits, self._ends(), names, strict=True)
            ]
        ).encode()

    def _ends(self) -> list[str]:
        """What follows the octets in the text that an id is a digest of; what comes again is spelt once."""
        spelt: dict[tuple[str, int], str] = {}
        ends: list[str] = []
        for (code, _), observed in zip(self.buckets, self.observed, strict=True):
            key = code, id(observed)
            if key not in spelt:
                spelt[key] = f"|None|{self.operation}|{code}|{observed}"
            ends.append(spelt[key])
        return ends

    @cached_property
    def _lengths(self) -> set[int]:
        return set(map(len, self.octets))


def divergences(answered: Answered, greeting: Greeting) -> Divergences | None:
    """The divergences in the answers to a batch that is well-formed throughout; None if they must be looked at singly.

    They must where not all is known of the batch in columns, in streams, and where the target failed.
    """
    batch, operation, answers = answered.batch, answered.operation, answered.answers
    rule = batch.profile.dialect.rule
    if answered.faults or answered.unstable is not None or not batch.is_closed:
        return None
    if operation in STREAMING + AGAIN + GUARDED or rule.joins_pairs or rule.drops_signature:
        return None
    units = greeting.units_of(operation)
    expected = batch.expected(operation, units)
    if answers.agrees(expected):
        return Divergences(batch, operation, (), (), ())
    if expected.statuses.count(ACCEPTED) < len(batch):
        return None
    observed = list(answers.observations(units, verdict_only=operation == VALIDATE))
    wanted, given = (each.outputs(units.size) for each in (expected, answers))
    places = [
        place
        for place, said in enumerate(observed)
        if not isinstance(said, Unsupported)
        and not (isinstance(said, Accepted) and (said.values is None or wanted[place] == given[place]))
    ]
    said = [observed[place] for place in places]
    right = [wanted[place] for place in places]
    ways = [_way(operation, units, *each) for each in zip(places, said, right, strict=True)]
    shapes = _shapes(batch, operation, places, right)
    keys = list(zip(shapes, ways, strict=True))
    buckets: dict[object, tuple[str, str]] = {}
    for key, place in dict(zip(keys, places, strict=True)).items():  # any of those that diverge alike
        finding = compare(batch[place], operation, observed[place])
        assert finding is not None, "the columns differ"
        buckets[key] = finding.bucket
    return Divergences(batch, operation, places, [buckets[key] for key in keys], said)


def _way(operation: str, units: Units, place: int, observed: Observation, right: bytes) -> object:
    """In which way an answer is wrong; ``right``: the output that it should have had."""
    if isinstance(observed, Refused):
        return observed.offset
    if not isinstance(observed, Accepted):
        return type(observed)
    if operation == ENCODE:  # what matters is what was written: each is compared
        return f"at {place}"
    return "" if operation == ANNOUNCE else f"from {first_difference(units.values(right), observed.values or ())}"


def _shapes(batch: Batch, operation: str, places: Sequence[int], right: Sequence[bytes]) -> Iterable[object]:
    """What the vectors at some places have in common: ranges of the grammar; of an encoder's, lengths in octets."""
    if operation in ENCODING:
        return right if operation == ANNOUNCE else map(len, right)
    classes = _classes(batch.profile.dialect)
    return (octets.translate(classes) for octets in batch.strings(places))


@lru_cache(maxsize=16)
def _classes(spoken: Dialect) -> bytes:
    """For each octet a number that it shares with those that the grammar never tells apart."""
    positions = {position for state in spoken.unfolded.open for position in state}
    sets = list({position.octets for position in positions})
    rows: dict[tuple[bool, ...], int] = {}
    return bytes(rows.setdefault(tuple(octet in each for each in sets), len(rows)) for octet in range(256))
