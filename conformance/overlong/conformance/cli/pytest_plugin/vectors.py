"""Vectors for a project's own tests, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, overload

from overlong.conformance.support.printable import did_you_mean
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.reference import Decoded

if TYPE_CHECKING:
    from overlong.conformance.vectors.vector import Vector


@dataclass(frozen=True)
class Sample:
    """Octets for a decoder, and the answers of a correct decoder."""

    id: str
    """Such as ``overlong/c0af``; ``overlong replay`` takes it."""
    category: str
    octets: bytes
    comment: str
    """The purpose of the vector; may be empty."""
    accepted: bool
    """True if the octets are well-formed."""
    scalars: tuple[int, ...] | None
    """The scalar values; None if they are ill-formed."""
    offset: int | None
    """The offset of the first ill-formed octets; None if there are none."""
    replacement: str
    """The output of a decoder that replaces each maximal subpart by U+FFFD."""

    @property
    def text(self) -> str | None:
        """The scalar values as a string; None if the octets are ill-formed."""
        return self.replacement if self.accepted else None

    @classmethod
    def of(cls, vector: Vector) -> Sample:
        strict = vector.strict
        if isinstance(strict, Decoded):
            accepted, scalars, offset = True, strict.scalars, None
        else:
            accepted, scalars, offset = False, None, strict.offset
        replacement = "".join(map(chr, vector.replaced.scalars))
        return cls(vector.id, vector.category, vector.octets, vector.comment, accepted, scalars, offset, replacement)


class Vectors(Sequence[Sample]):
    """Samples in order, to iterate over or to select from."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = tuple(samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Vectors: ...
    def __getitem__(self, index: int | slice) -> Sample | Vectors:
        return Vectors(self._samples[index]) if isinstance(index, slice) else self._samples[index]

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories, in order."""
        return tuple(dict.fromkeys(each.category for each in self._samples))

    def category(self, *names: str) -> Vectors:
        """The samples of some categories.

        Raises:
            KeyError: no category has this name; the message lists the categories.
        """
        if wrong := self.unknown_among(names):
            raise KeyError(wrong)
        return Vectors([each for each in self._samples if each.category in names])

    def unknown_among(self, names: Sequence[object]) -> str:
        """The error in the names of some categories; empty if all exist."""
        for name in names:
            if name not in self.categories:
                return f"no category {name!r} of vectors; {did_you_mean(str(name), self.categories)}"
        return ""

    @property
    def well_formed(self) -> Vectors:
        """The samples that a correct decoder accepts."""
        return Vectors([each for each in self._samples if each.accepted])

    @property
    def ill_formed(self) -> Vectors:
        """The samples that a correct decoder refuses."""
        return Vectors([each for each in self._samples if not each.accepted])


@cache
def _all() -> Vectors:
    return Vectors([Sample.of(vector) for vector in core_vectors()])


def unknown(categories: Sequence[object]) -> str:
    """The error in the names of some categories; empty if all exist."""
    return _all().unknown_among(categories)


def wanted(categories: Sequence[str]) -> Vectors:
    """The samples of these categories, or all if none is named.

    Raises:
        KeyError: no category has this name; the message lists the categories.
    """
    return _all().category(*categories) if categories else _all()
