"""Finds the state that a stream decoder lost, as far as octets show it: the places where a chunk cuts a character."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.vectors.certainty import certainty

if TYPE_CHECKING:
    from overlong.conformance.vectors.vector import Vector


def lost_states(vector: Vector, wrong: range | None = None) -> tuple[str, ...]:
    """The possibly lost states, in words; the likeliest first: that of the first cut character at its last cut.

    Args:
        vector: a vector with chunks.
        wrong: the segments at which the output can be wrong first; if some of them are cut, no other state can be
            lost.
    """
    held = certainty(vector.octets, "utf-32", vector.profile).held
    cut: dict[int, list[int]] = {}  # for each cut character, its octets read at each cut
    for boundary in accumulate(vector.pieces[:-1]):
        if held(boundary) < boundary:
            cut.setdefault(held(boundary), []).append(boundary - held(boundary))
    if wrong is not None and vector.taken:
        starts = [vector.taken[place].offset for place in wrong]
        inside = {start: read for start, read in cut.items() if start in starts}
        cut = inside or {start: read for start, read in cut.items() if start < starts[-1]}
    return tuple(dict.fromkeys(_words(vector, start, count) for start, read in cut.items() for count in reversed(read)))


def _words(vector: Vector, start: int, read: int) -> str:
    row = vector.profile.dialect.layout.announced(vector.octets[start])
    assert row is not None, "only a lead octet begins what may become a character"
    return f"state lost after {read} of {len(row.templates)} octets, at the end of a chunk"


def ended_how(earlier: tuple[bytes, ...], vector: Vector) -> str:
    """The end of an earlier stream of ``vector``, in words."""
    octets = b"".join(earlier)
    stream = type(vector)("", octets, profile=vector.profile)
    if not octets:
        return "was empty"
    if stream.flaw is None:
        return "ended well"
    return "ended early" if stream.flaw.incomplete else "is ill-formed"
