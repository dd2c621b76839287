# pyright: basic
"""The right answers to the strings of a grid, as columns of the wire format.

A string's leading pieces leave a *situation*: the automaton's state and the octets of a begun character. The
situation determines the verdict on the tail. There are few situations, so few tails are ever read; the rest is
addition: octets before to offsets, units before to outputs.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from overlong.conformance.oracle.columnar import LARGEST_LENGTH, SAYS_ALL, ColumnarOracle, Expected, Verdicts
from overlong.conformance.protocol.wire import REFUSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from overlong.conformance.oracle.columnar import ColumnReader
    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.columns import ColumnPart, Columns
    from overlong.conformance.vectors.profile import Profile

KEPT = 48 << 20
"""The octets of cached situations, and as much again for their derived tables."""
_FEW = 4
"""The most units that are written before each output one by one."""
_READS = 16
"""The number of cached readings of a stretch of tails: about the number of an automaton's states."""
Key = TypeVar("Key")
Value = TypeVar("Value", "Verdicts", "_Situation")


@dataclass(frozen=True)
class _Tails:
    """A stretch of tails, read after leading pieces of one kind, whatever the begun character."""

    verdicts: Verdicts
    """The verdicts; for an accepted tail, the number of units is 0."""
    chosen: list[bytes]
    """The accepted tails."""
    ends: NDArray[np.int64]
    """The start of each accepted tail in their concatenation, and the end."""
    variants: list[tuple[NDArray[np.int64], Verdicts]] = field(default_factory=list[Any])
    """The verdicts with each tail's output units: few variants, because most characters have equally many units."""

    def variant_of(self, counts: NDArray[np.int64]) -> int:
        """The number of the variant with these units for the accepted tails."""
        for number, (known, _) in enumerate(self.variants):
            if np.array_equal(known, counts):
                return number
        numbers = self.verdicts.numbers.copy()
        numbers[self.verdicts.accepted] = counts
        self.variants.append((counts, replace(self.verdicts, numbers=numbers)))
        return len(self.variants) - 1

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """The number of accepted tails before each tail, and among all."""
        return np.concatenate(([0], np.cumsum(self.verdicts.accepted, dtype=np.int64)))


@dataclass(frozen=True)
class _Situation:
    """The result for a stretch of tails after leading pieces of one kind; offsets count from the last character."""

    tails: _Tails
    variant: int
    """The variant of the verdicts that is right; -1 if output is not judged."""
    units: bytes = b""
    bounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    """The start of each accepted tail's output, in octets, and the end."""
    unit: int = 1
    """The octets of a unit."""

    @property
    def verdicts(self) -> Verdicts:
        return self.tails.verdicts if self.variant < 0 else self.tails.variants[self.variant][1]

    def output(self, before: bytes, start: int, end: int) -> bytes:
        """The output for the tails from ``start`` up to before ``end``, each after the units ``before``."""
        first, last = int(self.tails.before[start]), int(self.tails.before[end])
        count = len(before) // self.unit
        if not count:
            return self.units[int(self.bounds[first]) : int(self.bounds[last])]
        if count <= _FEW and last - first == len(self.bounds) - 1:
            room, places = self._rooms[count]
            for place, unit in enumerate(np.frombuffer(before, f"u{self.unit}")):
                room[places + place] = unit
            return room.tobytes()
        return before + before.join(self._outputs[first:last]) if last > first else b""

    @cached_property
    def _outputs(self) -> list[bytes]:
        return [self.units[start:end] for start, end in pairwise(self.bounds.tolist())]

    @cached_property
    def _rooms(self) -> _Rooms:
        return _Rooms(self)

    @property
    def size(self) -> int:
        """About the octets that it occupies."""
        return 2 * len(self.units) + 56 * len(self.bounds)


class _Rooms(dict[int, "tuple[NDArray[Any], NDArray[np.int64]]"]):
    """For a number of units: all output, with room for so many units before each tail's, and the room's offsets."""

    def __init__(self, situation: _Situation) -> None:
        super().__init__()
        self._situation = situation

    def __missing__(self, count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        situation = self._situation
        starts = situation.bounds[:-1] // situation.unit
        places = starts + count * np.arange(len(starts))
        output = np.frombuffer(situation.units, f"u{situation.unit}")
        room = np.empty(len(output) + count * len(starts), output.dtype)
        taken = np.ones(len(room), np.bool_)
        for further in range(count):
            taken[places + further] = False
        room[taken] = output
        self[count] = room, places
        return room, places


class _Kept(Generic[Key, Value]):
    """The last result."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Value] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Value | None:
        if (found := self._known.get(key)) is not None:
            self._known.move_to_end(key)
        return found

    def put(self, key: Key, value: Value) -> Value:
        self._known[key] = value
        self._size += value.size
        while self._size > KEPT and len(self._known) > 1:
            self._size -= self._known.popitem(last=False)[1].size
        return value


@dataclass(frozen=True)
class _Begun:
    """The situation after leading pieces."""

    state: int
    place: int
    """The octets of the complete characters."""
    pending: bytes
    """The octets of the begun character."""
    units: bytes
    """The output of the complete characters."""
    flaw: int
    """The length of the error that ended it; 0: there is none."""


class ColumnOracle:
    """The expected answers to the strings of one grid."""

    def __init__(
        self, columns: Columns, expectation: ExpectedAnswers, profile: Profile, reader: ColumnReader | None = None
    ) -> None:
        self._columns = columns
        self._right = ColumnarOracle(expectation, profile.dialect.layout, reader=reader)
        self._reader, self._units, self._size = self._right.reader, self._right.units, self._right.unit_size
        self.habits = SAYS_ALL
        self._begun: tuple[int, _Begun] | None = None
        self._situations: _Kept[tuple[int, int, bytes], _Situation] = _Kept()
        self._verdicts: _Kept[tuple[int, ...], Verdicts] = _Kept()
        self._refused: _Kept[tuple[int, ...], Verdicts] = _Kept()
        self._reads: OrderedDict[tuple[int, int, int], _Tails] = OrderedDict()

    def expected(self, first: int, count: int) -> Expected:
        """The answers to the ``count`` strings from ``first`` on."""
        parts = [self._part(part) for part in self._columns.parts(first, count)]
        if not parts:
            return Expected(_refused(0, _Begun(0, 0, b"", b"", 0)))
        verdicts = Verdicts.concatenated([verdicts for verdicts, _ in parts])
        return Expected(verdicts, b"".join(units for _, units in parts), self.habits)

    def _part(self, part: ColumnPart) -> tuple[Verdicts, bytes]:
        begun = self._after(part.block)
        count = part.end - part.start
        if begun.flaw:
            refused = count, begun.flaw, begun.place
            return self._refused.get(refused) or self._refused.put(refused, _refused(count, begun)), b""
        offset = self._columns.stretches[part.stretch]
        start, end = part.start - offset, part.end - offset
        situation = self._situation(part.stretch, begun)
        key = part.stretch, begun.state, len(begun.pending), situation.variant, begun.place, len(begun.units)
        whole = self._verdicts.get(key) or self._verdicts.put(key, self._moved(situation.verdicts, begun))
        units = situation.output(begun.units, start, end) if self._units else b""
        return whole.part(start, end), units

    def _moved(self, verdicts: Verdicts, begun: _Begun) -> Verdicts:
        """The same answers, moved behind leading pieces."""
        units = len(begun.units) // self._size
        if not begun.place and not units:
            return verdicts
        further = np.where(verdicts.accepted, np.uint32(units), np.uint32(begun.place))
        return replace(verdicts, numbers=verdicts.numbers + further)

    def _key(self, begun: _Begun) -> bytes:
        """The relevant part of a begun character's octets: only their count if output is not judged."""
        return begun.pending if self._units else bytes(len(begun.pending))

    def _after(self, block: int) -> _Begun:
        """The situation after a block's leading pieces."""
        if self._begun is not None and self._begun[0] == block:
            return self._begun[1]
        lead = self._columns.leading(block)[1]
        last, live, state = self._reader.read_one(lead)
        units = self._written(lead[:last])[0] if self._units and last else b""
        dead = state == self._reader.automaton.dead
        begun = _Begun(state, last, b"" if dead else lead[last:], units, max(live - last, 1) if dead else 0)
        self._begun = block, begun
        return begun

    def _situation(self, stretch: int, begun: _Begun) -> _Situation:
        key = stretch, begun.state, self._key(begun)
        return self._situations.get(key) or self._situations.put(key, self._read(stretch, begun))

    def _read(self, stretch: int, begun: _Begun) -> _Situation:
        tails, pending = self._tails(stretch, begun), begun.pending
        if not self._units:
            return _Situation(tails, -1)
        units, written = self._written(pending + pending.join(tails.chosen) if tails.chosen else b"")
        bounds = written[tails.ends + len(pending) * np.arange(len(tails.ends))]
        return _Situation(tails, tails.variant_of(np.diff(bounds)), units, bounds * self._size, self._size)

    def _tails(self, stretch: int, begun: _Begun) -> _Tails:
        """The verdicts on a stretch of tails, whatever the value of the begun character."""
        key = stretch, begun.state, len(begun.pending)
        if (known := self._reads.get(key)) is not None:
            return known
        start, end = self._columns.stretches[stretch : stretch + 2]
        tails, lengths = self._columns.tails[start:end], self._columns.tail_lengths[start:end]
        verdicts = self._right.verdicts(b"".join(tails), lengths, begun.state, len(begun.pending))
        chosen = list(compress(tails, verdicts.accepted.tobytes())) if self._units else []
        ends = np.concatenate(([0], np.cumsum(lengths[verdicts.accepted], dtype=np.int64)))
        if len(self._reads) == _READS:
            self._reads.popitem(last=False)
        self._reads[key] = found = _Tails(verdicts, chosen, ends)
        return found

    def _written(self, octets: bytes) -> tuple[bytes, NDArray[np.int64]]:
        """The output of well-formed octets, and the number of units before each place."""
        flat = np.frombuffer(octets, np.uint8) if octets else np.empty(0, np.uint8)
        return self._right.output(flat)


def _refused(count: int, begun: _Begun) -> Verdicts:
    """The verdicts on strings whose leading pieces are already ill-formed."""
    return Verdicts(
        np.full(count, REFUSED[0], np.uint8),
        np.full(count, begun.place, np.uint32),
        np.full(count, min(begun.flaw, LARGEST_LENGTH), np.uint8),
        np.zeros(count, np.uint8),
    )
