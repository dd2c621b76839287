"""A suite: a name, its claim, and its vectors as batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TypeVar

from overlong.conformance.protocol.wire import ASK, ASKING, DECODE, REPLACE, STREAMING, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.conformance.vectors.vector import Vector
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized

    from overlong.conformance.vectors.byte_ranges import ByteRangeSequence
    from overlong.reference.automaton import Automaton
    from overlong.reference.questions import Question

T = TypeVar("T")

BATCH = 8192
"""The number of vectors in a batch: enough to make a batch's own cost negligible, few enough to keep memory flat."""
_AT_ONCE = 1 << 19

_KEPT: dict[Hashable, tuple[Batch, ...]] = {}


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
    replaces_by_mode: bool = False
    """The vectors depend on the error mode, not only on the dialect."""
    count: Callable[[Profile], int] | None = None
    """Counts the vectors, if that takes less time than to make them."""

    def batches(self) -> Iterator[Batch]:
        """The vectors in batches that have their suite and their profile."""
        made = _KEPT.get(self._kept_as) or self.make(self.profile)
        return (batch.within(self.name, self.profile) for batch in made)

    def keep(self) -> Iterator[Batch]:
        """The same batches; they are kept, with all cached results, for later targets."""
        _KEPT[self._kept_as] = tuple(self.batches())
        return self.batches()

    @property
    def _kept_as(self) -> Hashable:
        """The key of everything that the vectors depend on."""
        functions = self.profile.functions if self.asks in ASKING else ""
        return self.make, self.profile.speaks, self.profile.replaces if self.replaces_by_mode else "", functions

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
