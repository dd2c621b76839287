"""What a target is, what a sweep expects of it, and the possible results for a string, as one octet.

The sum of the answers to many strings is the same in whatever parts they are asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.protocol.observation import SCALARS, VERDICT, Code, Refused, Unsupported
from overlong.conformance.protocol.wire import DECODE, SEPARATE, VALIDATE
from overlong.conformance.support.printable import printable
from overlong.reference import Decoded
from overlong.reference.dialect import ScalarRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Fault as ObservedFault
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.protocol.wire import Answers
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton


class TargetError(Exception):
    """The target cannot be measured: it does not start, or its adapter is broken. The message gives the reason."""


class UnknownTarget(TargetError):
    """There is no target of that name; the message suggests others."""


class BudgetSpent(Exception):
    """The target was restarted too often; the measurements so far remain valid."""


@dataclass(frozen=True)
class Answered:
    """The answers of a target to (a part of) a batch.

    ``faults`` maps indices in the batch to faults; there the columns have a placeholder.
    ``again``: it failed on a batch with these vectors, which were asked again.
    ``unstable``: likewise, and these were the last of the batch: it failed on none of them singly.
    """

    batch: Batch
    operation: str
    answers: Answers
    faults: dict[int, ObservedFault] = field(default_factory=dict[int, "ObservedFault"])
    again: bool = False
    unstable: ObservedFault | None = None
    seconds: float = 0.0
    """The time that it took, if known."""

    def observed(self, greeting: Greeting) -> list[Observation]:
        """The answer to each vector, with the faults; where only verdicts are asked for, without output."""
        silent = self.operation in VALIDATE + SEPARATE
        said = self.answers.observations(greeting.units_of(self.operation), verdict_only=silent)
        return [self.faults.get(place, each) for place, each in enumerate(said)]


class Target(Protocol):
    """The interface of a target for the runner."""

    @property
    def id(self) -> str:
        """The name by which a user can ask it again."""
        ...

    @property
    def greeting(self) -> Greeting:
        """Its capabilities."""
        ...

    @property
    def restarts(self) -> int:
        """The number of its restarts."""
        ...

    @property
    def notes(self) -> list[str]:
        """Further observations about it."""
        ...

    def open(self) -> None:
        """Start it and check that its adapter works.

        Raises:
            TargetError: it does not start or work.
        """
        ...

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        """Its answers to each batch and operation, in order; a batch may come back in parts.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """
        ...

    def close(self) -> None:
        """End it. Never raises."""
        ...


NUL = 0


@dataclass(frozen=True)
class ExpectedAnswers:
    """The right answers of a target to any string.

    A string is refused if the automaton dies, or ends in a state that does not accept. The offset is that after the
    last accepting state, where the maximal subpart begins (Unicode D93b); its length is the octets read while alive.
    """

    automaton: Automaton
    """The automaton of the strings that the target should accept, given its declared traits."""
    operation: str
    """``V`` or ``D``."""
    units: str
    """The encoding of its output, ``utf-8``, ``utf-16`` or ``utf-32``; empty if its output is not judged."""
    offsets: bool
    """True if its offsets count octets, so that offset, length and incompleteness are judged."""
    strips_signature: bool
    """True if the target declares that it strips EF BB BF. Then neither the output of a string that begins so is
    judged, nor its error offset, because the target does not declare whether stripped octets count."""
    has_nul_trait: bool = False
    """True if the target declares that it treats strings with octet 00 specially: their error offset is not judged."""


def expectation(profile: Profile, greeting: Greeting, operation: str = "") -> ExpectedAnswers:
    """The expectation for a target with this greeting.

    Args:
        profile: the profile to judge by.
        greeting: the target's greeting.
        operation: ``V`` or ``D``; empty for the more informative one that the target has.

    Raises:
        TargetError: a sweep cannot ask it; the message gives the reason.
    """
    chosen = operation or next((each for each in DECODE + VALIDATE if each in greeting.operations), "")
    name = printable(greeting.name)
    if not chosen or chosen not in greeting.operations:
        raise TargetError(
            f"{name}: a sweep tests {chosen or 'D or V'}, and it offers {printable(greeting.operations)}; "
            "'overlong certify' tests what it offers"
        )
    if greeting.traits.get("wrapper") == "xml":
        raise TargetError(
            f"{name}: its octets travel in XML, which has no place for many of them, so a sweep cannot test it; "
            "'overlong certify' sets such strings aside"
        )
    spoken, nul = profile.dialect, greeting.traits.get("nul", "")
    plain = spoken.rule == ScalarRule() and not any(row.less for row in spoken.layout.rows)
    judged = chosen == DECODE and plain and nul != "ends the string"
    return ExpectedAnswers(
        _with_nul(spoken.automaton, nul),
        chosen,
        greeting.units.name if judged else "",
        profile.as_said(greeting).counts == "octets",
        greeting.traits.get("bom") == "strips",
        has_nul_trait=bool(nul),
    )


def _with_nul(automaton: Automaton, trait: str) -> Automaton:
    """The automaton of a decoder that refuses octet 00, or ends the string at it."""
    dead = automaton.dead
    if not trait or dead is None:
        return automaton
    if trait == "refused":
        table = tuple((dead, *row[1:]) for row in automaton.table)
        return replace(automaton, table=table)
    ended = len(automaton)  # no octet after it changes the answer
    table = tuple(
        (ended if accepts else dead, *row[1:])
        for row, accepts in zip(automaton.table, automaton.accepting, strict=True)
    )
    return replace(
        automaton,
        table=(*table, (ended,) * len(automaton.table[0])),
        accepting=(*automaton.accepting, True),
        open=(*automaton.open, frozenset()),
    )


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


_OF_CODES: dict[str, int] = {
    Code.INTERNAL_ERROR: BROKEN,
    Code.CRASHED: CRASHED,
    Code.TIMED_OUT: TIMED_OUT,
    Code.MISBEHAVED: MISBEHAVED,
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
