"""Find the place of a finding in its input: the character or the flaw where target and reference differ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.vectors.vector import form_at, known_at
from overlong.reference import Decoded
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Dialect

REFUSED, OTHERWISE = Code.REFUSED, Code.SCALARS
"""Codes of well-formed text that is refused, and that becomes other characters."""


class FaultPlace(NamedTuple):
    """The part of an input where it diverges."""

    offset: int
    length: int
    """The octets of the sequence there: as many as its lead octet announces, if the input has them."""
    form: str
    """The grammar's alternative; empty if none fits."""
    octets_at: str
    """The class of the octet that decides; empty if the end of the input decides."""
    certain: bool
    """True if the sequence is certain; otherwise it is the likeliest."""


def place_of(finding: Finding) -> FaultPlace:
    """The place of a finding.

    In ill-formed input it is the first flaw, and the octet that makes it certain. In well-formed input it is the lead
    octet of the character that was put out or refused wrongly, if that is known; otherwise of the first character that
    is not ASCII, or not U+0000.
    """
    vector = finding.vector
    octets, spoken = vector.octets, vector.profile.dialect
    if not octets:
        return FaultPlace(0, 0, "", "", certain=True)
    if (flaw := vector.flaw) is not None:
        known = known_at(octets, flaw, spoken)
        octets_at = "" if known is None else class_of(octets[known - 1], spoken)
        form = form_at(octets, flaw.offset, spoken)
        return FaultPlace(flaw.offset, _extent(octets, flaw.offset), str(form or ""), octets_at, certain=True)
    number, certain = _character(finding)
    found = vector.segments[number]
    form = form_at(octets, found.offset, spoken)
    return FaultPlace(found.offset, found.length, str(form or ""), class_of(octets[found.offset], spoken), certain)


def _character(finding: Finding) -> tuple[int, bool]:
    """The number of the segment of a finding in well-formed text, and True if it is certain."""
    vector, expected, observed = finding.vector, finding.expected, finding.observed
    segments = vector.segments
    in_octets = vector.profile.counts == "octets" and vector.chunks is None
    if finding.code == REFUSED and in_octets and isinstance(observed, Refused) and observed.offset is not None:
        for number, found in enumerate(segments):
            if found.offset <= observed.offset < found.offset + found.length:
                return number, True
    if finding.code == OTHERWISE and isinstance(expected, Decoded) and isinstance(observed, Accepted):
        said, out = observed.values or (), 0
        for number, scalars in enumerate(vector.outputs):
            end = out + len(scalars)
            if said[out:end] != scalars:
                return number, True
            out = end
        return len(segments) - 1, True
    longer = [number for number, found in enumerate(segments) if found.length > 1]
    if longer:
        return longer[0], len(longer) == 1
    other = next((number for number, found in enumerate(segments) if vector.octets[found.offset]), len(segments) - 1)
    return other, True


def _extent(octets: bytes, offset: int) -> int:
    """The length of the sequence that starts there, if all further octets are its own."""
    row = announced(octets[offset])
    return min(row, len(octets) - offset)


@cache
def announced(lead: int) -> int:
    """The number of octets that a lead octet announces in the widest layout; 1 for any other octet."""
    row = load_layout("rfc2279").announced(lead)
    return 1 if row is None else len(row.templates)


def class_of(octet: int, spoken: Dialect) -> str:
    """The octets in the class of this one: ``E1-EC EE-EF``."""
    return _classes(spoken)[octet]


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
