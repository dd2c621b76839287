"""The expectation of a sweep for a target: an automaton, and the format of its output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import DECODE, VALIDATE
from overlong.conformance.support.printable import printable
from overlong.reference.dialect import ScalarRule

if TYPE_CHECKING:
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

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
