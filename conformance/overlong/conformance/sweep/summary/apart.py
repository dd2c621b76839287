"""The least strings of a set for each bucket that its divergences may fall into.

A set is one kind of divergence; a bucket is narrower if its place is a form of character, or the defect of the first
error. The form depends on the target's answer, so this module lists all strings that may be in such a bucket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.summary.facts import OF_WELL_FORMED
from overlong.conformance.sweep.summary.languages import containing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.examination.products import Product
    from overlong.conformance.sweep.summary.facts import Facts
    from overlong.conformance.sweep.summary.members import Members
    from overlong.reference import Dialect
    from overlong.reference.grammar import Alternative

MOST = 256
"""The most strings listed for a form of character; nearly always the first one suffices."""


def apart(facts: Facts, kind: int, members: Members, *, whole: bool) -> tuple[tuple[bytes, ...], ...]:
    """The first strings for each bucket that divergences of a set may fall into; empty if there is only one bucket.

    Args:
        facts: those of the plan.
        kind: that of the set; no failure.
        members: the set's strings.
        whole: True if the set is not yet split by defects.
    """
    if kind in OF_WELL_FORMED:
        languages = (facts.strings.of_language(containing(begins)) for begins in _forms(facts.plan.profile.dialect))
        sets = (facts.strings.both(members, with_form) for with_form in languages)
        return tuple(found for each in sets if (found := facts.strings.ascending(each, MOST)))
    if whole:
        return tuple((facts.strings.least(part.members)[0],) for part in facts.parts(kind))
    return ()


def _forms(spoken: Dialect) -> Iterator[list[Product]]:
    """The octets that tell each form of character from others: its first octet, or more if needed."""
    automaton = spoken.unfolded
    begins: dict[Alternative, list[Product]] = {}
    queue: list[tuple[int, Product]] = [(0, ())]
    for state, before in queue:
        for octets in automaton.classes:
            forms = {position.form for position in automaton.open[state] if octets.least in position.octets}
            word = (*before, frozenset(octets.octets))
            if len(forms) == 1:
                begins.setdefault(forms.pop(), []).append(word)
            elif forms and not automaton.accepting[to := automaton.table[state][octets.least]]:
                queue.append((to, word))
    yield from begins.values()
