"""One step of decoding: what was found at an offset, and how many octets it took."""

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
        """What it puts out."""
        return () if self.silent else (self.scalar,)


class MaximalSubpart(NamedTuple):
    """Octets that are ill-formed together: the longest that could have begun a character, or one octet.

    Unicode's "maximal subpart of an ill-formed subsequence" (chapter 3, D93b; also the WHATWG Encoding
    Standard's unit of replacement). ``incomplete``: the input ended before the character did.
    """

    offset: int
    length: int
    incomplete: bool
    defect: Defect


class Swallowed(NamedTuple):
    """Octets that an error mode takes with a maximal subpart before them, whatever they would have been."""

    offset: int
    length: int


Segment = WellFormed | MaximalSubpart
Taken = Segment | Swallowed
"""What an error mode has before it: see :func:`overlong.reference.decoder.taken`."""
