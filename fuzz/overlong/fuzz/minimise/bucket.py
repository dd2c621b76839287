"""Buckets: one for each cause, as far as the least input that shows it can tell."""

from __future__ import annotations

import hashlib
import json
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.oracle.stream_state import ended_how
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import AGAIN, DECODE, GUARDED, REPLACE, STREAMING, VALIDATE
from overlong.conformance.support.printable import printable
from overlong.fuzz.minimise.place import announced, class_of, place_of
from overlong.fuzz.minimise.stored import ANYWHERE

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.minimise.place import FaultPlace

UNSTABLE, PLACED, KEPT = Code.UNSTABLE, Code.PLACE_IN_MEMORY, Code.EARLIER_CALLS
"""Another answer each time; in another place; after other calls."""
TIMED_OUT = Code.TIMED_OUT
_LEAST_BLOCK = 8
"""Octets of the smallest block that a placement speaks of: a machine word."""
_CUT = "cut after"
_EXACT = 64
"""Offsets below this are told as they are, others by the power of two that they reach."""
_CLASSES = {
    **dict.fromkeys(VALIDATE + DECODE, "whole"),
    **dict.fromkeys(REPLACE, "replacing"),
    **dict.fromkeys(STREAMING, "stream"),
    **dict.fromkeys(AGAIN, "used-before"),
    **dict.fromkeys(GUARDED, "memory"),
}


class Key(NamedTuple):
    """What findings of one cause have in common."""

    target: str
    operations: str
    """``whole``, ``replacing``, ``stream``, ``used-before``, ``memory``: V and D are one, they mostly share code."""
    code: str
    form: str
    """The grammar's alternative at the divergence; empty where none fits."""
    octets_at: str
    """The class of the octet that decides; empty where the end of the input does."""
    placement: str
    """What the place has to do with it: :data:`ANYWHERE`, ``across a multiple of 64``."""

    @property
    def id(self) -> str:
        """``D-`` and eight digits of a hash."""
        return f"D-{hashlib.sha256(json.dumps(self).encode()).hexdigest()[:8]}"


def key_of(finding: Finding, target: str) -> Key:
    """The bucket of a finding, which should have been minimised.

    Of what depends on other calls, on memory, or on time, no input is the least: no more than that is in its key.
    """
    code, operations = finding.code, _CLASSES.get(finding.operation, place_of_fault(finding.operation))
    if code in (UNSTABLE, KEPT):  # two names for answers that change from call to call, by what notices it first
        return Key(target, "", UNSTABLE, "", "", "")
    if code == PLACED:
        return Key(target, "", PLACED, "", "", "")
    if code == TIMED_OUT:  # each try costs the time limit, so the input is seldom the least
        return Key(target, operations, code, "", "", "")
    place = place_of(finding)
    where, octets_at = placement(finding, place), place.octets_at
    if where.startswith(_CUT):  # what is lost there is known of the lead octet; what comes next is of no matter
        octets_at = class_of(finding.vector.octets[place.offset], finding.vector.profile.dialect)
    return Key(target, operations, code, printable(place.form), octets_at, where)


def placement(finding: Finding, place: FaultPlace) -> str:
    """What the place of the sequence has to do with the finding, in a few words.

    Of a minimised input all that is left is there for a reason: nothing around the sequence, no reason.
    """
    vector = finding.vector
    if finding.operation in AGAIN and vector.earlier is not None:
        return f"after a stream that {ended_how(vector.earlier, vector)}"
    if finding.operation in STREAMING and vector.chunks is not None and len(vector.chunks) > 1:
        return _cut(vector.octets, vector.chunks, place)
    octets = vector.octets
    start, end = place.offset, place.offset + place.length
    before, after = octets[:start], octets[end:]
    if not before and not after:
        return ANYWHERE
    inside = [block for at in range(start + 1, end) if (block := _block(at))]
    if inside:
        return f"across a multiple of {max(inside)}"
    if block := _block(start):
        return f"at a multiple of {block}"
    if (block := _block(end)) and not after:
        return f"ends at a multiple of {block}"
    if len(octets) < _LEAST_BLOCK and not (before + after).isascii():
        return "among other characters"
    if not after:
        return f"at offset {start}" if start < _EXACT else f"at offset {_power(start)} or more"
    if len(octets) >= _LEAST_BLOCK:
        return f"of {_power(len(octets))} octets or more"
    return "before other octets" if not before else "between other octets"


def _cut(octets: bytes, chunks: tuple[int, ...], place: FaultPlace) -> str:
    """Where a stream is cut: inside the sequence, or elsewhere."""
    inside = [at - place.offset for at in accumulate(chunks) if place.offset < at < place.offset + place.length]
    if inside:
        return f"{_CUT} {inside[0]} of {announced(octets[place.offset])} octets"
    return f"in {_power(len(chunks))} chunks or more"


def _block(at: int) -> int:
    """The largest power of two that divides an offset; 0 if that is no block."""
    block = at & -at
    return block if block >= _LEAST_BLOCK else 0


def _power(number: int) -> int:
    return 1 << number.bit_length() - 1
