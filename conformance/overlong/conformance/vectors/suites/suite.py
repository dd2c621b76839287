"""A suite: a name, its claim, and its vectors as batches; and the suites of vectors that are listed one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from itertools import groupby, islice, product
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

from overlong.conformance.protocol.wire import AGAIN, ASK, DECODE, GUARDED, REPLACE, STREAMING, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.families.family import CHARACTERS, filled
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.reference import WellFormed, dialect
from overlong.reference.automaton import OCTETS
from overlong.reference.layout import load_layout
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Sized

    from overlong.reference import Segment
    from overlong.reference.automaton import Automaton
    from overlong.reference.questions import Question


T = TypeVar("T")

BATCH = 8192
"""The number of vectors in a batch: enough to make a batch's own cost negligible, few enough to keep memory flat."""
_AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Suite:
    """Vectors that together support one claim.

    For a profile, ``make`` yields the batches.
    """

    name: str
    sentence: str
    """The claim; ``{states}`` and ``{speaks}`` stand for the profile's number of states and dialect."""
    make: Callable[[Profile], Iterable[Batch]]
    asks: str = VALIDATE + DECODE + REPLACE
    """The operations for its vectors."""
    profile: Profile = RFC3629
    machine: Callable[[Profile], Sized] = lambda profile: profile.dialect.automaton
    """Gives the machine whose states the claim counts."""
    proves: str = ""
    """The claim that the suite alone proves for a decoder of bounded size; empty if the suite only samples."""
    listed: Callable[[], Iterable[Vector]] | None = None
    """Gives the vectors with their cases and references, if batches do not carry these."""
    sequences: Callable[[], Iterable[ByteRangeSequence]] | None = None
    """Gives the vectors as byte-range sequences, if they form such: their files are written by stride."""
    count: Callable[[Profile], int] | None = None
    """Counts the vectors, if that takes less time than to make them."""

    def batches(self) -> Iterator[Batch]:
        """The vectors in batches that have their suite and their profile."""
        return (batch.within(self.name, self.profile) for batch in self.make(self.profile))

    @property
    def shows(self) -> str:
        """The claim, as a sentence."""
        speaks = "RFC 3629" if self.profile.speaks == RFC3629.speaks else self.profile.speaks
        return self.sentence.format(states=len(self.machine(self.profile)), speaks=speaks)

    @property
    def streaming(self) -> bool:
        """True if its vectors have chunks."""
        return self.asks == STREAMING

    def vectors(self) -> Iterator[Vector]:
        """The vectors one by one, with cases and references if they are known."""
        return (vector for batch in self.batches() for vector in batch) if self.listed is None else iter(self.listed())

    @cached_property
    def size(self) -> int:
        return self.count(self.profile) if self.count else sum(map(len, self.batches()))


def of_vectors(
    name: str,
    sentence: str,
    vectors: Callable[[Automaton], Sequence[Vector]],
    asks: str,
    batches: Callable[[Iterable[Vector]], Iterable[Batch]] | None = None,
    **more: Any,
) -> Suite:
    """The suite of some vectors; a later target gets the same batches, with their cached results.

    Args:
        name: of the suite.
        sentence: its claim.
        vectors: gives them for a dialect's automaton.
        asks: the operations.
        batches: how they are put together; :func:`in_batches` by default.
        more: further fields of the suite.
    """

    @cache
    def made(automaton: Automaton) -> tuple[Batch, ...]:
        return tuple((batches or in_batches)(vectors(automaton)))

    return Suite(name, sentence, lambda profile: made(profile.dialect.automaton), asks=asks, **more)


def of_questions(
    name: str,
    sentence: str,
    asked: Callable[[Question], Iterable[Sequence[bytes]]],
    asks: str = ASK,
    remembered: int | None = None,
) -> Suite:
    """The suite of the questions that a target answers; of a dialect other than RFC 3629 it has none.

    Args:
        name: of the suite.
        sentence: its claim.
        asked: gives the payloads of a question, batch by batch.
        asks: the operation.
        remembered: the number of questions whose batches are kept for later targets; None: all.
    """

    @lru_cache(maxsize=remembered)
    def batches_of(question: str) -> tuple[Batch, ...]:
        return tuple(Batch.of_strings(question, payloads) for payloads in asked(QUESTIONS[question]))

    def batches(profile: Profile) -> Iterator[Batch]:
        if profile.speaks == RFC3629.speaks:
            for question in profile.functions.split() or QUESTIONS:
                yield from batches_of(question)

    return Suite(name, sentence, batches, asks=asks)


@lru_cache(maxsize=6)
def whole_inputs(category: str, strings: tuple[bytes, ...]) -> tuple[Batch, ...]:
    """Whole inputs as batches; a later call returns the same batches, with their cached results.

    This is for some ten thousand short strings, for which it keeps megabytes.
    """
    return tuple(Batch.of_strings(category, some) for some in batched(strings, BATCH))


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """So many items at a time; the last ones may be fewer (``itertools.batched`` of Python 3.12)."""
    left = iter(items)
    while some := tuple(islice(left, size)):
        yield some


def in_batches(vectors: Iterable[Vector], size: int = BATCH) -> Iterator[Batch]:
    """Vectors as batches; a new batch begins if the category changes or a batch is full."""
    for _, group in groupby(vectors, key=lambda vector: vector.category):
        yield from map(Batch.of, batched(group, size))


def in_requests(vectors: Iterable[Vector]) -> Iterator[Batch]:
    """Vectors of one category as batches of half a mebioctet, which is little even for slow targets."""
    group, left = list[Vector](), 0
    for vector in vectors:
        size = len(vector.octets) + len(vector.chunks or ()) + sum(map(len, vector.earlier or ()))
        if group and size > left:
            yield Batch.of(group)
            group = []
        left = (left if group else _AT_ONCE) - size
        group.append(vector)
    yield Batch.of(group)


# Byte-range sequences: many strings on which the automaton passes through the same states.
#
# All strings of a byte-range sequence have their segments and their faults at the same places; they differ only in the
# octets within each range. So one string stands for all, and the columns of all strings are laid out by stride.

PART = 1 << 16
"""The number of strings of a byte-range sequence that are laid out at once, so that memory stays flat."""


@dataclass(frozen=True)
class ByteRangeSequence:
    """The strings with one octet from each range, in octet order: the last octet changes fastest."""

    category: str
    ranges: tuple[range, ...]

    def __len__(self) -> int:
        return prod(map(len, self.ranges))

    @cached_property
    def example(self) -> Vector:
        """The first of its strings."""
        return Vector(self.category, bytes(octets[0] for octets in self.ranges))

    @property
    def octets(self) -> bytes:
        """All strings in a row, in order."""
        result = bytearray(len(self) * len(self.ranges))
        for place, octets in enumerate(self.ranges):
            result[place :: len(self.ranges)] = self.column(place, place + 1, [bytes([octet]) for octet in octets])[0]
        return bytes(result)

    def column(self, start: int, end: int, texts: list[bytes]) -> list[bytes]:
        """Columns, for all strings, of a value that depends only on the octets from ``start`` to before ``end``.

        Args:
            start: the first place that the value depends on.
            end: the place after the last one.
            texts: the value for each choice of octets at these places, in order; all of one length.

        Returns:
            for each octet of the texts, its column, which has an octet for each string.
        """
        before, after = prod(map(len, self.ranges[:start])), prod(map(len, self.ranges[end:]))
        return [b"".join(bytes([octet]) * after for octet in column) * before for column in zip(*texts, strict=True)]

    def scalars(self, found: Segment) -> list[int]:
        """The scalar values at a segment of the example, for each choice of its octets, in order."""
        assert isinstance(found, WellFormed)
        return _numbers(self.ranges[found.offset : found.offset + found.length])

    def parts(self, most: int = PART) -> Iterator[ByteRangeSequence]:
        """The same strings in the same order, in sequences of at most ``most`` strings, if the ranges allow it."""
        place = next((place for place, octets in enumerate(self.ranges) if len(octets) > 1), None)
        if len(self) <= most or place is None:
            yield self
            return
        for octet in self.ranges[place]:
            fixed = ByteRangeSequence(
                self.category, (*self.ranges[:place], range(octet, octet + 1), *self.ranges[place + 1 :])
            )
            yield from fixed.parts(most)

    def vectors(self) -> Iterator[Vector]:
        """The strings one by one."""
        return (Vector(self.category, bytes(choice)) for choice in product(*self.ranges))


@lru_cache(maxsize=256)
def _numbers(ranges: tuple[range, ...]) -> list[int]:
    number = dialect().layout.number
    return [number(bytes(choice)) for choice in product(*ranges)]


@cache
def kinds_of_octets() -> tuple[range, ...]:
    """Runs of octets that the automaton and the defects treat alike, in order."""
    table, widest = dialect().automaton.table, load_layout("rfc2279")

    def kind(octet: int) -> object:
        row = widest.announced(octet)
        return tuple(states[octet] for states in table), row and len(row.templates)

    runs = [list(run) for _, run in groupby(OCTETS, key=kind)]
    return tuple(range(run[0], run[-1] + 1) for run in runs)


def all_strings(category: str, length: int) -> Iterator[ByteRangeSequence]:
    """Every string of ``length`` octets, in byte-range sequences."""
    for ranges in product(kinds_of_octets(), repeat=length):
        yield from ByteRangeSequence(category, ranges).parts()


# Listed vectors: the core, written for people to read, and the vectors of a user's files.
#
# Each vector of the core has one fault (or one lawful edge), and a sentence that names it. Vectors about a cut between
# chunks form a suite of their own, for targets that read streams. The user's vectors go to all operations that fit the
# kind of input.


@cache
def core_vectors() -> tuple[Vector, ...]:
    """The families' vectors without chunks."""
    return tuple(vector for vector in all_vectors() if vector.chunks is None)


@cache
def stream_vectors() -> tuple[Vector, ...]:
    """The families' vectors in chunks."""
    return tuple(vector for vector in all_vectors() if vector.chunks is not None)


CORE = of_vectors(
    "core",
    "each known kind of fault, one at a time, named",
    lambda _: core_vectors(),
    VALIDATE + DECODE + REPLACE,
    listed=core_vectors,
)
STREAMS = of_vectors(
    "streams",
    "each known kind of fault at the edge of a chunk, named",
    lambda _: stream_vectors(),
    STREAMING,
    listed=stream_vectors,
)


GIVEN = "given"
"""The first of their names; on the command line it stands for all of them."""
_GIVEN_IN_MEMORY = 16
"""The number of vectors per request of the operation in memory: each takes long."""


def given_suites(vectors: Sequence[Vector]) -> tuple[Suite, ...]:
    """The suites of these vectors, one for each kind of vector."""
    whole = [vector for vector in vectors if vector.chunks is None and vector.earlier is None]
    streams = [vector for vector in vectors if vector.chunks is not None and vector.earlier is None]
    again = [vector for vector in vectors if vector.earlier is not None]
    suites = (
        (GIVEN, "none of the vectors given is answered wrongly", VALIDATE + DECODE + REPLACE, whole),
        (f"{GIVEN}-in-chunks", "nor is one that comes in chunks", STREAMING, streams),
        (f"{GIVEN}-used-before", "nor is one that follows another stream", AGAIN, again),
        (f"{GIVEN}-in-memory", "the function stays within its memory with each", GUARDED, whole),
    )
    return tuple(_given(*suite) for suite in suites if suite[-1])


def _given(name: str, shows: str, asks: str, vectors: Sequence[Vector]) -> Suite:
    batches = partial(in_batches, size=_GIVEN_IN_MEMORY if asks == GUARDED else BATCH)
    return of_vectors(name, shows, lambda _: vectors, asks, batches, listed=lambda: vectors)


# Inputs that may make a function leave its memory, or overlook an error at some addresses: every length around vectors'
# widths, with each kind of end; and each kind of error at every place in the first blocks. The operation G asks each of
# them at every address modulo 64.

LONGEST = 130
"""The longest input, in octets: two vectors of 64 and two more."""
_A_REQUEST_IN_MEMORY = 256
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
    partial(in_batches, size=_A_REQUEST_IN_MEMORY),
)
