"""Find the place of a finding in its input: the character or the flaw where target and reference differ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.vectors.vector import form_at, known_at
from overlong.reference import Decoded

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Dialect


def place_of(finding: Finding) -> str:
    """The place of a finding: the alternative of the grammar, and the class of the octet that decides.

    In ill-formed input it is the first flaw, and the octet that makes it certain. In well-formed input it is the lead
    octet of the character that was put out or refused wrongly, if that is known; otherwise of the first character that
    is not ASCII, or not U+0000.
    """
    vector = finding.vector
    octets, spoken, offset = vector.octets, vector.profile.dialect, 0
    at: int | None = None
    if (flaw := vector.flaw) is not None:
        known, offset = known_at(octets, flaw, spoken), flaw.offset
        at = None if known is None else known - 1
    elif octets:
        at = offset = vector.segments[_character(finding)].offset
    where = "the end of the input" if at is None else f"an octet of {_classes(spoken)[octets[at]]}"
    form = form_at(octets, offset, spoken)
    return where if form is None else f"{form} at {where}"


def _character(finding: Finding) -> int:
    """The number of the likeliest segment of a finding in well-formed text."""
    vector, expected, observed = finding.vector, finding.expected, finding.observed
    segments = vector.segments
    in_octets = vector.profile.counts == "octets" and vector.chunks is None
    if finding.code == Code.REFUSED and in_octets and isinstance(observed, Refused) and observed.offset is not None:
        for number, found in enumerate(segments):
            if found.offset <= observed.offset < found.offset + found.length:
                return number
    if finding.code == Code.SCALARS and isinstance(expected, Decoded) and isinstance(observed, Accepted):
        said, out = observed.values or (), 0
        for number, scalars in enumerate(vector.outputs):
            end = out + len(scalars)
            if said[out:end] != scalars:
                return number
            out = end
        return len(segments) - 1
    longer = next((number for number, found in enumerate(segments) if found.length > 1), None)
    other = next((number for number, found in enumerate(segments) if vector.octets[found.offset]), len(segments) - 1)
    return other if longer is None else longer


@cache
def _classes(spoken: Dialect) -> dict[int, str]:
    return {octet: str(each) for each in spoken.automaton.classes for octet in each.octets}


def spliced(vector: Vector, start: int, end: int, octets: bytes) -> Vector:
    """The vector with other octets from ``start`` to before ``end``; its chunks keep their ends."""
    whole = vector.octets[:start] + octets + vector.octets[end:]
    if vector.chunks is None:
        return replace(vector, octets=whole)
    shift, read, last, chunks = len(octets) - (end - start), 0, 0, list[int]()
    for length in vector.chunks:
        read += length
        moved = read if read <= start else read + shift if read >= end else start + min(read - start, len(octets))
        chunks.append(moved - last)
        last = moved
    if last < len(whole):  # appended to the last chunk
        chunks[-1:] = [sum(chunks[-1:]) + len(whole) - last]
    return replace(vector, octets=whole, chunks=tuple(chunks))
