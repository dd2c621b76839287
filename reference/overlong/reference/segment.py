"""One step of decoding: the segment found at an offset, and its length in octets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overlong.reference.defect import Defect


class WellFormed(NamedTuple):
    """A well-formed sequence and its scalar value (Unicode D85).

    ``silent``: it is a signature that the dialect drops.
    """

    offset: int
    length: int
    scalar: int
    silent: bool = False

    @property
    def scalars(self) -> tuple[int, ...]:
        """The scalar values that it puts out."""
        return () if self.silent else (self.scalar,)


class MaximalSubpart(NamedTuple):
    """Ill-formed octets that form one unit: the longest start of a character, or one octet.

    Unicode's "maximal subpart of an ill-formed subsequence" (chapter 3, D93b; also the WHATWG Encoding
    Standard's unit of replacement). ``incomplete``: the input ended before the character did.
    """

    offset: int
    length: int
    incomplete: bool
    defect: Defect


class Swallowed(NamedTuple):
    """Octets that an error mode discards with the maximal subpart before them, even if they are well-formed."""

    offset: int
    length: int


Segment = WellFormed | MaximalSubpart
Taken = Segment | Swallowed
"""The input of an error mode: see :func:`overlong.reference.decoder.taken`."""
