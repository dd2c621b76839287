# pyright: basic
"""What engines work on: targets and inputs by number; and what they report of a unit: divergences, each with what one
look at the octets tells, and the features of the reference that inputs reach.

Where an input diverges is what divergences of one cause often share. Of an ill-formed input these are the classes of
octets at its first flaw: where the character begins, and where it breaks off; of a well-formed one what its characters
begin with, if those are of few kinds.

A feature is a transition of the reference's automaton, with its approximate place in the input: a number of a state,
then a class of octets (or the end of the input), then a position. Octets are read as by a replacing decoder: if an
octet cannot continue a character, it is read again from the start state; so octets after an error reach features, too.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlong.conformance.oracle.columnar import ColumnReader
from overlong.conformance.protocol.wire import OTHER_INPUT
from overlong.conformance.support.printable import as_text
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.vector import RFC3629, Profile
from overlong.reference.automaton import OCTETS
from overlong.reference.core import core, why_not
from overlong.reference.dialect import Dialect, dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Vector


def named(target: str | tuple[str, ...]) -> str:
    """A target as findings name it, and a user asks for it again."""
    return as_text(target if isinstance(target, str) else f"-- {shlex.join(target)}")


def octave(block: int) -> int:
    """The number of times that the campaign's length, in blocks, had doubled before this block."""
    return (block + 1).bit_length()


class Fingerprint(NamedTuple):
    """The fingerprint of a divergence before minimisation; divergences of one cause often share it.

    A fingerprint is cheap, but does not name a cause; a bucket does (see ``campaign/examiner.py``).
    """

    target: str
    operation: str
    kind: str
    """A code of a kind (``OV101``), or of a sweep (``refused``)."""
    where: str
    """The place, as far as known without a question: a state of the automaton and a class of octets."""


@dataclass(frozen=True)
class Divergence:
    """One input, one target, and the fault of its answer."""

    target: str
    """The target, as the campaign names it."""
    finding: Finding
    fingerprint: Fingerprint
    index: int
    """The number of the input in the campaign, or of its unit if it has none."""
    peer: str = ""
    """The other target of a difference that RFC 3629 allows, which is no fault; else empty."""


@dataclass(frozen=True)
class CampaignJob:
    """The work of an engine. It can be pickled, and a worker elsewhere makes an engine from it."""

    targets: tuple[str | tuple[str, ...], ...]
    """Names, as on the command line; or commands that speak the protocol."""
    seed: int = 0
    engine: str = "grammar"
    profile: Profile = RFC3629
    limits: Limits = field(default_factory=Limits)
    seeds: tuple[bytes, ...] = ()
    """Inputs of a corpus from which parts are taken, in order; they and the seed fix every input."""
    corpus: str = ""
    """The folder of the corpus, for an engine that reads and writes one itself; empty if there is none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The targets, as findings name them."""
        return tuple(map(named, self.targets))


def fingerprint_of(finding: Finding, target: str) -> Fingerprint:
    """The fingerprint of a finding that is not examined: its code, and the octets at its place."""
    place = finding.place if finding.operation in OTHER_INPUT else place_of(finding.vector)
    return Fingerprint(target, finding.operation, finding.code, place)


@dataclass
class UnitResult:
    """The result of a unit, which grows while an engine runs it."""

    unit: range
    """The numbers of the inputs."""
    octets: int = 0
    """Octets of the inputs."""
    firsts: dict[tuple[int, Fingerprint], Divergence] = field(default_factory=dict[tuple[int, Fingerprint], Divergence])
    """The first divergence of each fingerprint in each octave."""
    counts: Counter[Fingerprint] = field(default_factory=Counter[Fingerprint])
    """The number of divergent inputs for each fingerprint."""
    reached: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """Features of the reference that the inputs reached, each with the first of the
    shortest inputs that do, a candidate for the corpus."""
    coverage: int = 0
    """The number of edges reached in the code of an instrumented target."""
    seconds: float = 0.0
    """How long the engine has run; see ``campaign/pool.py``."""
    notes: list[str] = field(default_factory=list[str])
    """Notes for the user, each safe to show."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Executions by target and operation."""
    covering: list[bytes] = field(default_factory=list[bytes])
    """Inputs that reach new code of a target. They belong in the corpus, whatever they reach in the reference."""
    starting: float = 0.0
    """The part of :attr:`seconds` before the first question, which does not grow with the unit."""

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """Those to examine, in any order."""
        return tuple(self.firsts.values())

    @property
    def executions(self) -> int:
        """Answers that were asked for: inputs times targets, and each operation counts."""
        return self.asked.total()

    def add(self, finding: Finding, target: str, index: int, block: int = 0, *, times: int = 1) -> None:
        """Add a finding.

        Args:
            finding: of an input of the unit.
            target: its name in the campaign.
            index: the number of the input, or of the unit.
            block: the number of the block.
            times: the number of inputs that show it.
        """
        fingerprint = fingerprint_of(finding, target)
        self.counts[fingerprint] += times
        self.keep(Divergence(target, finding, fingerprint, index), block)

    def is_new(self, fingerprint: Fingerprint, block: int) -> bool:
        """True if there is no divergence of a fingerprint yet since the campaign last doubled its length."""
        return (octave(block), fingerprint) not in self.firsts

    def keep(self, divergence: Divergence, block: int) -> None:
        """Keep a divergence, which counts elsewhere, if it is new."""
        self.firsts.setdefault((octave(block), divergence.fingerprint), divergence)

    def note(self, *notes: str) -> None:
        """Add notes that are not there yet."""
        self.notes += [note for note in notes if note not in self.notes]

    def reach(self, lengths: Sequence[int], octets: bytes, spoken: Dialect) -> None:
        """Add the features that inputs reach, and keep the first of the shortest inputs for each."""
        ends = list(accumulate(lengths))
        for feature, place in first_to_reach(lengths, octets, spoken).items():
            found = octets[ends[place] - lengths[place] : ends[place]]
            self.reached[feature] = min(self.reached.get(feature, found), found, key=len)


PLACES = (
    "at the start",
    "in the first 16 octets",
    "in the first 64 octets",
    "after the first 64 octets",
    "at an edge of 16 octets",
    "at an edge of 16 octets, after the first 63",
)
_BLOCK, _BLOCKS = 16, 4
"""The octets of a block, and the number of blocks that count as near."""
ENOUGH = 1 << 12
"""The least octets for which asking the core pays."""
_NONE = 1 << 62
"""No input has as many octets."""


def position_of(offset: int) -> int:
    """The place number of an offset."""
    if offset == 0:
        return 0
    is_far = offset >= _BLOCK * _BLOCKS
    if (offset + 1) % _BLOCK <= 1:
        return 5 if is_far else 4
    return 3 if is_far else 2 if offset >= _BLOCK else 1


def features_of(octets: bytes, spoken: Dialect | None = None) -> frozenset[int]:
    """The features that octets reach, in a dialect or RFC 3629's."""
    spoken = spoken or dialect()
    if len(octets) >= ENOUGH and not why_not():
        return frozenset(first_to_reach([len(octets)], octets, spoken))
    return frozenset(_reader(spoken).reached(octets))


def edges(features: Iterable[int], spoken: Dialect | None = None) -> tuple[int, int]:
    """The number of transitions among the features, and the number of all: states times classes."""
    automaton = (spoken or dialect()).automaton
    reached, classes = {feature // len(PLACES) for feature in features}, len(automaton.classes)
    alive = sum(state != automaton.dead for state in range(len(automaton)))
    return sum(edge % (classes + 1) != classes for edge in reached), alive * classes


def first_to_reach(lengths: Sequence[int], octets: bytes, spoken: Dialect | None = None) -> dict[int, int]:
    """The features that inputs reach, and for each the first of the shortest inputs that reach it.

    Args:
        lengths: the octets of each input, as in ``Generated.columns``.
        octets: all octets, in a row.
        spoken: their dialect; RFC 3629's if there is none.

    Returns:
        the input's place among them, by ascending feature.
    """
    spoken = spoken or dialect()
    if len(octets) >= ENOUGH and not why_not():
        return _reader(spoken).first_by_core(lengths, octets)
    reader, shortest = _reader(spoken), dict[int, tuple[int, int]]()
    at = 0
    for index, length in enumerate(lengths):
        for feature in reader.reached(octets[at : at + length]):
            shortest[feature] = min(shortest.get(feature, (length, index)), (length, index))
        at += length
    return {feature: shortest[feature][1] for feature in sorted(shortest)}


_FLAW = 1 << 31
"""Marks the key of an ill-formed input, before the octets of its flaw and two classes."""
_FEW = 2
"""The most kinds of characters that are told apart."""


class InputReader:
    """Reads octets by a dialect's automaton: for features, and for keys of divergent inputs, which it puts in words."""

    def __init__(self, spoken: Dialect) -> None:
        automaton = spoken.automaton
        self._reader = ColumnReader(automaton)
        self._words = dict[int, str]()
        self._names = [*(",".join(map(str, each.ranges)) for each in automaton.classes), "the end"]
        classes = np.zeros(256, np.uint32)
        for number, each in enumerate(automaton.classes):
            classes[list(each.octets)] = number
        first = np.array(automaton.table[0])
        begins = ~np.array(automaton.accepting)[first] & (first != automaton.dead)
        self._leads = np.where(begins, 1 << classes, 0).astype(np.uint32)
        self._classes, self._width = classes, len(automaton.classes) + 1  # the end is one, too
        # for each state and octet (state << 8 | octet) the feature at place 0, and the next state, below 0 if state 0
        # reads the octet again
        number_of = classes.tolist()
        self._starts = [
            (state * self._width + number_of[octet]) * len(PLACES)
            for state in range(len(automaton))
            for octet in OCTETS
        ]
        self._nexts = [
            to if to != automaton.dead else -1 if state else 0
            for state, row in enumerate(automaton.table)
            for to in row
        ]

    def reached(self, octets: bytes) -> Iterator[int]:
        """The features that octets reach."""
        starts, nexts, state = self._starts, self._nexts, 0
        for offset, octet in enumerate(octets):
            place = position_of(offset)
            yield starts[state << 8 | octet] + place
            state = nexts[state << 8 | octet]
            if state < 0:
                yield starts[octet] + place
                state = nexts[octet]
        yield (state * self._width + self._width - 1) * len(PLACES) + position_of(len(octets))

    def first_by_core(self, lengths: Sequence[int], octets: bytes) -> dict[int, int]:
        """:func:`first_to_reach`, by the core in C."""
        starts, nexts = np.array(self._starts, np.int64), np.array(self._nexts, np.int64)
        columns = np.array(lengths, np.int64), np.frombuffer(octets, np.uint8)
        shortest = np.full(len(starts) // 256 * self._width * len(PLACES), _NONE, np.int64)
        found = np.full_like(shortest, -1)
        places = np.array([position_of(offset) for offset in range(_BLOCK * (_BLOCKS + 1))], np.int64)  # and so on
        addresses = (each.ctypes.data for each in (starts, nexts, places))
        of = np.array((*addresses, self._width, len(PLACES), shortest.ctypes.data, found.ctypes.data), np.int64)
        core()("reach_features", of.ctypes.data, len(lengths), *(each.ctypes.data for each in columns))
        return {int(feature): int(found[feature]) for feature in np.flatnonzero(found >= 0)}

    def keys(self, lengths: Sequence[int], octets: bytes) -> NDArray[np.uint32]:
        """A key for each of some inputs, given the length of each, and all octets in a row."""
        sizes, flat = np.array(lengths, np.uint32), np.frombuffer(octets + b"\0", np.uint8)
        ends = np.cumsum(sizes, dtype=np.int64)
        starts = ends - sizes
        read = self._reader.read(octets, sizes)
        kinds = np.where(sizes, np.bitwise_or.reduceat(self._leads[flat], starts), 0) if len(sizes) else sizes
        rest = kinds
        for _ in range(_FEW):
            rest = rest & (rest - 1)
        kinds = np.where(rest, _FLAW - 1, kinds)
        end = np.uint32(len(self._names) - 1)
        begins, breaks = (
            np.where(at < ends, self._classes[flat[np.minimum(at, len(flat) - 1)]], end)
            for at in (starts + read.last, starts + read.live)
        )
        return np.where(read.accepted, kinds, _FLAW | (read.live - read.last) << 16 | begins << 8 | breaks)

    def words(self, key: int) -> str:
        """What a key means."""
        if key not in self._words:
            self._words[key] = self._put(key)
        return self._words[key]

    def _put(self, key: int) -> str:
        if key & _FLAW:
            begins, breaks = (self._names[key >> shift & 0xFF] for shift in (8, 0))
            read = key >> 16 & 0xFF
            return " ".join([begins, *["tail"] * (read - 1), breaks]) if read else breaks
        leads = [name for number, name in enumerate(self._names) if key >> number & 1]
        return "many kinds of characters" if key == _FLAW - 1 else " or ".join(leads) or "ASCII"


@cache
def _reader(spoken: Dialect) -> InputReader:
    return InputReader(spoken)


def place_of(vector: Vector) -> str:
    """The place of one input, in words."""
    places = _reader(vector.profile.dialect)
    (key,) = places.keys([len(vector.octets)], vector.octets).tolist()
    return places.words(key)
