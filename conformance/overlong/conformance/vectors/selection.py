"""Selects vectors by suites, families, flags and ids; or one vector by its id, its case's name, or its octets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ASKING, ENCODING
from overlong.conformance.support.printable import did_you_mean, nearest
from overlong.conformance.vectors.encoding import WIDTHS
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.registry import withdrawn
from overlong.conformance.vectors.suites import GENERATED, SUITES, suite_named
from overlong.conformance.vectors.vector import LONGEST_HEX, IdError, Vector
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from overlong.conformance.vectors.byte_ranges import ByteRangeSequence
    from overlong.conformance.vectors.suites.suite import Suite

BLOCK = 1024
"""The number of vectors in memory at once, if they come in lists."""


class SelectionError(ValueError):
    """An impossible selection, or one that matches nothing; the message lists the choices."""


@dataclass(frozen=True)
class Selection:
    """Vectors of ``suites`` that fit each of the other criteria; an empty criterion fits all."""

    suites: tuple[str, ...] = ("core", "streams")
    families: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Globs, over ids and names of cases."""

    @property
    def words(self) -> str:
        """The selection in words: ``core``, ``core, flag OV201``."""
        parts = [", ".join(self.suites)]
        parts += [f"{kind} {value}" for kind, values in self._criteria for value in values]
        return ", ".join(parts)

    @property
    def _criteria(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ("family", self.families), ("flag", self.flags), ("id", self.ids)

    @property
    def whole(self) -> bool:
        """True if no criterion narrows the suites."""
        return not any(values for _, values in self._criteria)

    def fits(self, vector: Vector) -> bool:
        """True if the vector meets all criteria other than the suite."""
        return (
            (not self.families or not self._categories(vector).isdisjoint(self.families))
            and (not self.flags or not set(self.flags).isdisjoint(vector.flags))
            and (
                not self.ids or any(fnmatchcase(name, glob) for glob in self.ids for name in (vector.id, *vector.cases))
            )
        )

    @staticmethod
    def _categories(vector: Vector) -> set[str]:
        return {vector.category, *(case.partition("/")[0] for case in vector.cases)}

    def vectors(self) -> Iterator[Vector]:
        """The selected vectors, in the order of the suites; never all in memory.

        Raises:
            SelectionError: there is no such suite.
        """
        for block in self.blocks():
            yield from block if isinstance(block, list) else block.vectors()

    def count(self) -> int:
        """The number of selected vectors."""
        if self.whole:
            return sum(find_suite(name).size for name in self.suites)
        return sum(map(len, self.blocks()))

    def blocks(self) -> Iterator[ByteRangeSequence | list[Vector]]:
        """The selected vectors: as byte-range sequences if a whole suite consists of them, otherwise in lists.

        Raises:
            SelectionError: there is no such suite.
        """
        for name in self.suites:
            suite = find_suite(name)
            if suite.sequences is not None and self.whole:
                yield from suite.sequences()
                continue
            chosen = suite.vectors() if self.whole else filter(self.fits, suite.vectors())
            while block := list(islice(chosen, BLOCK)):
                yield block


def find_suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        SelectionError: there is no such suite; the message lists all suites.
    """
    try:
        return suite_named(name)
    except KeyError:
        raise SelectionError(f"no suite {name!r}; {did_you_mean(name, (*SUITES, *GENERATED))}") from None


def find_vectors(name: str) -> tuple[Vector, ...]:
    """The vectors of an id or of a case; an id that spells octets works even if no suite has them.

    Raises:
        IdError: there is no such vector.
    """
    named = tuple(vector for vector in all_vectors() if name in (vector.id, *vector.cases))
    if named:
        return named
    if name in withdrawn():
        gone = withdrawn()[name]
        raise IdError(f"{name} was withdrawn in version {gone['version']}: {gone['reason']}")
    category, digest, _ = name.partition("/sha256-")
    if digest:
        if name in (known := _named_by_digest(category)):
            return (known[name],)
        raise IdError(f"no suite has a vector {name!r}; digests are in the ids of long inputs only")
    try:
        return (Vector.from_id(name),)
    except IdError as error:
        cases = {case for vector in all_vectors() for case in vector.cases}
        near = nearest(name, cases)
        if not near:
            raise
        raise IdError(f"{error}; the nearest case is {near[0]}") from None


@lru_cache(maxsize=8)
def _named_by_digest(category: str) -> Mapping[str, Vector]:
    """The vectors of a category whose ids have a digest, from all suites; for each id the first vector."""
    found: dict[str, Vector] = {}
    for suite in SUITES.values():
        asks = set(suite.asks)
        if (category in WIDTHS) != bool(asks & set(ENCODING)) or (category in QUESTIONS) != bool(asks & set(ASKING)):
            continue  # to make some suites takes seconds
        one = replace(suite.profile, functions=category) if category in QUESTIONS else suite.profile
        for batch in replace(suite, profile=one).batches():
            if batch.category == category and max(batch.lengths) > LONGEST_HEX:
                for place, length in enumerate(batch.lengths):
                    if length > LONGEST_HEX:
                        vector = batch[place]
                        found.setdefault(vector.id, vector)
    return found
