"""A suite: a name, what it shows, and its vectors as batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAMING, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized

    from overlong.conformance.vectors.byte_ranges import ByteRangeSequence
    from overlong.conformance.vectors.vector import Vector

BATCH = 8192
"""Vectors in a batch: enough that a batch's own cost vanishes, few enough to keep memory flat."""

_KEPT: dict[Hashable, tuple[Batch, ...]] = {}


@dataclass(frozen=True)
class Suite:
    """Vectors that show one thing together.

    ``make`` yields the batches anew each time, and ``count`` counts the vectors, for a profile.
    """

    name: str
    sentence: str
    """What it shows; ``{states}`` and ``{speaks}`` stand for those of the profile."""
    make: Callable[[Profile], Iterable[Batch]]
    count: Callable[[Profile], int]
    asks: str = VALIDATE + DECODE + REPLACE
    """The operations that its vectors are for."""
    profile: Profile = RFC3629
    machine: Callable[[Profile], Sized] = lambda profile: profile.dialect.automaton
    """What has the states."""
    proves: str = ""
    """The claim that it proves by itself, of a decoder of bounded size; empty if it only samples."""
    listed: Callable[[], Iterable[Vector]] | None = None
    """The vectors with their cases and references, where batches do not carry these."""
    sequences: Callable[[], Iterable[ByteRangeSequence]] | None = None
    """The vectors as byte-range sequences, where they are that: files of them are written by stride."""
    replaces_by_mode: bool = False
    """Other vectors are made for another error mode, not only for another dialect."""

    def batches(self) -> Iterator[Batch]:
        """The vectors, in batches that know their suite and their profile."""
        made = _KEPT.get(self._kept_as) or self.make(self.profile)
        return (batch.within(self.name, self.profile) for batch in made)

    def keep(self) -> Iterator[Batch]:
        """The same; they stay, with all that is worked out of them, for the targets that are asked later."""
        _KEPT[self._kept_as] = tuple(self.batches())
        return self.batches()

    @property
    def _kept_as(self) -> Hashable:
        """What the vectors depend on."""
        return self.make, self.profile.speaks, self.profile.replaces if self.replaces_by_mode else ""

    @property
    def shows(self) -> str:
        """What it shows, in a sentence."""
        speaks = "RFC 3629" if self.profile.speaks == RFC3629.speaks else self.profile.speaks
        return self.sentence.format(states=len(self.machine(self.profile)), speaks=speaks)

    @property
    def streaming(self) -> bool:
        """Its vectors are chunked."""
        return self.asks == STREAMING

    def vectors(self) -> Iterator[Vector]:
        """The vectors one by one, with all that is known of them."""
        return (vector for batch in self.batches() for vector in batch) if self.listed is None else iter(self.listed())

    @cached_property
    def size(self) -> int:
        return self.count(self.profile)


@lru_cache(maxsize=6)
def whole_inputs(category: str, strings: tuple[bytes, ...]) -> tuple[Batch, ...]:
    """Whole inputs as batches: the same ones if asked again, with all that was worked out of them.

    For some ten thousand short strings, of which megabytes are kept.
    """
    return tuple(Batch.of_strings(category, strings[start : start + BATCH]) for start in range(0, len(strings), BATCH))


def in_batches(vectors: Iterable[Vector]) -> Iterator[Batch]:
    """Vectors as batches, cut where the category changes or a batch is full."""
    for _, group in groupby(vectors, key=lambda vector: vector.category):
        members: Sequence[Vector] = list(group)
        for start in range(0, len(members), BATCH):
            yield Batch.of(members[start : start + BATCH])
