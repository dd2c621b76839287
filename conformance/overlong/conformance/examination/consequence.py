"""A consequence is not a cause: the shorter input whose wrong answer explains a divergence.

A decoder that refuses a character refuses every string that has it, so of an ill-formed one it reports another place
than the first error. One that accepts an error may fail later in the same string. Neither reports badly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import SCALARS, STREAMING, VERDICT, Accepted, Code, Refused
from overlong.conformance.protocol.wire import REPLACING
from overlong.conformance.vectors.vector import Vector, cut
from overlong.reference import Decoded, Rejected, WellFormed

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding

_CONSEQUENCES = (Code.OFFSET, Code.REPLACEMENT_COUNT, Code.REPLACEMENT_TEXT)
"""The codes of whole inputs that may be consequences."""
_IN_STREAMS = (Code.CHUNKING, Code.EARLIER_STREAM, Code.STREAM_OFFSET, Code.EARLY)
_CAUSES = (VERDICT, SCALARS, STREAMING)
"""The claims that the cause of a wrong replacement refutes."""


def cause_of(finding: Finding, ask: Callable[[Vector], Finding | None]) -> Finding | None:
    """The finding that explains another one; None if that is its own cause.

    Args:
        finding: the other one.
        ask: what is wrong with the answer to a vector, by the same operation.
    """
    vector = _instead(finding)
    found = ask(vector) if vector is not None else None
    return found if found is not None and _explains(found) else None


def _instead(finding: Finding) -> Vector | None:
    """The vector to ask for the cause of a finding; None if the finding is its own cause.

    For a refusal before the first error, or a stream refused too early: the well-formed octets before the error. For a
    refusal after it: the octets before the reported place. For wrong replacement: the text without ill-formed octets.
    """
    vector, flaw = finding.vector, finding.vector.flaw
    if flaw is None:
        return None
    if finding.operation in REPLACING:
        if finding.code not in (*_CONSEQUENCES, *_IN_STREAMS):
            return None
        kept = bytearray(len(vector.octets))
        for each in vector.segments:
            if isinstance(each, WellFormed):
                kept[each.offset : each.offset + each.length] = b"\1" * each.length
        return _only(vector, bytes(kept))
    if finding.code in (Code.STREAM_OFFSET, Code.EARLY):
        return _only(vector, b"\1" * flaw.offset)
    if finding.code == Code.OFFSET and (end := _end_of_cause(finding)) is not None:
        return _only(vector, b"\1" * end)
    return None


def _end_of_cause(finding: Finding) -> int | None:
    """The octets to ask of an input that was refused at a wrong place."""
    expected, observed, vector = finding.expected, finding.observed, finding.vector
    assert isinstance(expected, Rejected)
    assert vector.flaw is not None
    if not isinstance(observed, Refused) or observed.offset is None:
        return None
    if observed.offset < expected.offset:
        return vector.flaw.offset
    in_octets = vector.profile.counts == "octets"
    return observed.offset if in_octets and observed.offset < len(vector.octets) else None


def _only(vector: Vector, kept: bytes) -> Vector | None:
    """A vector of those octets that have a 1, in its chunks; None if there are none."""
    octets = bytes(octet for octet, is_kept in zip(vector.octets, kept, strict=False) if is_kept)
    if not octets:
        return None
    chunks = vector.chunks
    if chunks is not None:
        chunks = tuple(map(sum, cut(kept.ljust(len(vector.octets), b"\0"), chunks)))
    category = "input" if chunks is None else vector.category
    return Vector(category, octets, chunks=chunks, profile=vector.profile, earlier=vector.earlier)


def _explains(found: Finding) -> bool:
    """True if the finding in what :func:`_instead` made explains the other one.

    Only a wrong verdict explains another place, and neither a crash does, nor an offset.
    """
    if found.operation in REPLACING:
        return found.claim in _CAUSES and isinstance(found.observed, Accepted | Refused)
    return isinstance(found.observed, Refused if isinstance(found.expected, Decoded) else Accepted)
