"""The possible results for a string, as one octet; and the sum of the answers to many strings, in any parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import SCALARS, VERDICT, Code
from overlong.conformance.protocol.observation import Accepted, Failed, Refused, Unsupported
from overlong.conformance.protocol.wire import NOT_SAID
from overlong.reference import Decoded

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation

AGREES, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OUTPUT, OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE = range(7)
BROKEN, CRASHED, TIMED_OUT, MISBEHAVED, OTHERWISE = range(7, 12)
NOT_SUPPORTED, LEFT_OUT = 254, 255
KINDS = {
    REFUSED_WELL_FORMED: "well-formed, and refused",
    ACCEPTED_ILL_FORMED: "ill-formed, and accepted",
    OTHER_OUTPUT: "decoded to something else",
    OTHER_OFFSET: "refused at another offset",
    OTHER_LENGTH: "refused with another length",
    OTHER_INCOMPLETE: "refused, and wrong about whether it is incomplete",
    BROKEN: "answered against its own convention",
    CRASHED: "crashed",
    TIMED_OUT: "did not answer in time",
    MISBEHAVED: "answered against the protocol",
    OTHERWISE: "answered otherwise by itself, or in another order",
    NOT_SUPPORTED: "answered 'unsupported'",
    LEFT_OUT: "not tested, after too many faults",
}
"""The possible results for a string, except agreement: codes of one octet."""
NO_DIVERGENCE = frozenset({AGREES, NOT_SUPPORTED, LEFT_OUT})
DEMANDED = {REFUSED_WELL_FORMED: VERDICT, ACCEPTED_ILL_FORMED: VERDICT, OTHER_OUTPUT: SCALARS}
"""The claims that RFC 3629 demands, by the results that refute them."""


FAULTS = 16
"""The most faults of each kind that a shard reports."""


@dataclass(frozen=True)
class Fault:
    """A string on which the target crashed or broke its convention."""

    index: int
    """The string's number in its grid."""
    kind: int
    text: str
    """In ASCII, safe to show: the signal, or the broken convention."""


ODD = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits: multiples of it spread evenly (Knuth, The Art of Computer Programming, 6.4)."""


def answer_code(status: str, number: int) -> int:
    """An answer as a number: accepted (``A``, units), refused (``R``, offset or NOT_SAID), or neither (``X``).

    The checksum of a shard is the sum of ``(code + 1) * (index * ODD | 1)`` over its strings, modulo 2**64, where
    ``index`` is the string's number in its grid. The sum does not depend on parts or engines.
    """
    return (number << 2 | "ARX".index(status)) if status != "X" else 2


_OF_FAULTS: dict[str, int] = {
    Code.INTERNAL_ERROR: BROKEN,
    Code.CRASHED: CRASHED,
    Code.TIMED_OUT: TIMED_OUT,
    Code.MISBEHAVED: MISBEHAVED,
}
OF_FAULTS = frozenset(_OF_FAULTS.values())
"""The kinds that a :class:`Fault` reports."""
_OF_CODES = _OF_FAULTS | {
    Code.OFFSET: OTHER_OFFSET,
    Code.STREAM_OFFSET: OTHER_OFFSET,
    Code.LENGTH: OTHER_LENGTH,
    Code.INCOMPLETE: OTHER_INCOMPLETE,
}


def kind_of(observed: Observation, finding: Finding | None) -> int:
    """The result for a singly compared string; ``finding``: the fault in its answer."""
    if isinstance(observed, Unsupported):
        return NOT_SUPPORTED
    if finding is None:
        return AGREES
    if finding.code in _OF_CODES:
        return _OF_CODES[finding.code]
    if isinstance(observed, Refused):
        return REFUSED_WELL_FORMED
    return OTHER_OUTPUT if isinstance(finding.expected, Decoded) else ACCEPTED_ILL_FORMED


def code_of(observed: Observation) -> int:
    """The term of an answer in the checksum, without the factor for its index: 0 for no answer."""
    match observed:
        case Accepted(values):
            return answer_code("A", len(values or ())) + 1
        case Refused(offset):
            return answer_code("R", NOT_SAID if offset is None else offset) + 1
        case Failed():
            return answer_code("X", 0) + 1
        case _:
            return 0
