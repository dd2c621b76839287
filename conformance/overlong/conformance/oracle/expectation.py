"""What a sweep expects of a target: an automaton, and how its output is to be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import DECODE, VALIDATE
from overlong.conformance.support.printable import printable
from overlong.reference.dialect import ScalarRule

if TYPE_CHECKING:
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

NUL = 0


@dataclass(frozen=True)
class ExpectedAnswers:
    """What a right target answers to any string.

    A string is refused where the automaton dies or ends in a state that does not accept; the offset is that behind
    the last accepting state, where the maximal subpart begins (Unicode D93b), its length the octets that were live.
    """

    automaton: Automaton
    """The automaton of what the target should accept, with the traits that it declares."""
    operation: str
    """``V`` or ``D``."""
    units: str
    """What its output is written in, ``utf-8``, ``utf-16`` or ``utf-32``; empty if its output is not judged."""
    offsets: bool
    """Whether its offsets count octets, so that offset, length and incompleteness are judged."""
    strips_signature: bool
    """The output of a string that begins with EF BB BF is not judged: it declares that it strips that; nor is where
    such a string is refused, for whether what is stripped counts is not declared."""
    has_nul_trait: bool = False
    """Where a string with octet 00 is refused is not judged: it declares that it treats such strings apart."""


def expectation(profile: Profile, greeting: Greeting, operation: str = "") -> ExpectedAnswers:
    """The expectation for a target with this greeting.

    Args:
        profile: what it is measured by.
        greeting: what it says.
        operation: ``V`` or ``D``; empty for the one of them that says more.

    Raises:
        TargetError: there is nothing that a sweep could ask it; the message says why.
    """
    chosen = operation or next((each for each in DECODE + VALIDATE if each in greeting.operations), "")
    name = printable(greeting.name)
    if not chosen or chosen not in greeting.operations:
        raise TargetError(
            f"{name}: a sweep asks {chosen or 'D or V'}, and it offers {printable(greeting.operations)}; "
            "'overlong certify' asks what it offers"
        )
    if greeting.traits.get("wrapper") == "xml":
        raise TargetError(
            f"{name}: its octets travel in XML, which has no place for many of them, so a sweep cannot ask it; "
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
    """The automaton of a decoder that refuses octet 00, or for which it ends the string."""
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
