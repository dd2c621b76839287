"""Buckets: one for each cause, as far as the least input can tell."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.oracle.finding import id_of
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
"""Codes of answers that change each time, in another place, or after other calls."""
TIMED_OUT = Code.TIMED_OUT
_LEAST_BLOCK = 8
"""The smallest block of a placement, in octets: a machine word."""
_CUT = "cut after"
_EXACT = 64
"""Offsets below this are exact; larger ones are given by the power of two that they reach."""
_CLASSES = {
    **dict.fromkeys(VALIDATE + DECODE, "whole"),
    **dict.fromkeys(REPLACE, "replacing"),
    **dict.fromkeys(STREAMING, "stream"),
    **dict.fromkeys(AGAIN, "used-before"),
    **dict.fromkeys(GUARDED, "memory"),
}


class Key(NamedTuple):
    """The common properties of findings of one cause."""

    target: str
    operations: str
    """``whole``, ``replacing``, ``stream``, ``used-before``, ``memory``: V and D count as one, since they mostly share
    code.
    """
    code: str
    form: str
    """The grammar's alternative at the divergence; empty if none fits."""
    octets_at: str
    """The class of the octet that decides; empty if the end of the input decides."""
    placement: str
    """The role of the place: :data:`ANYWHERE`, ``across a multiple of 64``."""

    @property
    def id(self) -> str:
        """``D-`` and eight digits of a hash."""
        return id_of(json.dumps(self))


def key_of(finding: Finding, target: str) -> Key:
    """The bucket of a minimised finding.

    If the answer depends on other calls, on memory, or on time, no input is the least: the key has only that.
    """
    code, operations = finding.code, _CLASSES.get(finding.operation, place_of_fault(finding.operation))
    if code in (UNSTABLE, KEPT):  # two names for answers that change from call to call, depending on the first evidence
        return Key(target, "", UNSTABLE, "", "", "")
    if code == PLACED:
        return Key(target, "", PLACED, "", "", "")
    if code == TIMED_OUT:  # each try costs the time limit, so the minimiser seldom reaches the least input
        return Key(target, operations, code, "", "", "")
    place = place_of(finding)
    where, octets_at = placement(finding, place), place.octets_at
    if where.startswith(_CUT):  # the lead octet tells the loss; later octets do not matter
        octets_at = class_of(finding.vector.octets[place.offset], finding.vector.profile.dialect)
    return Key(target, operations, code, printable(place.form), octets_at, where)


def placement(finding: Finding, place: FaultPlace) -> str:
    """The role of the sequence's place in the finding, in a few words.

    In a minimised input everything left has a reason: if nothing is around the sequence, the place does not matter.
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
    """The place of a stream's cuts: inside the sequence, or elsewhere."""
    inside = [at - place.offset for at in accumulate(chunks) if place.offset < at < place.offset + place.length]
    if inside:
        return f"{_CUT} {inside[0]} of {announced(octets[place.offset])} octets"
    return f"in {_power(len(chunks))} chunks or more"


def _block(at: int) -> int:
    """The largest power of two that divides an offset; 0 if it is smaller than a block."""
    block = at & -at
    return block if block >= _LEAST_BLOCK else 0


def _power(number: int) -> int:
    return 1 << number.bit_length() - 1
