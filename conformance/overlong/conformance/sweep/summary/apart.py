"""The least strings of a set for each of the names that its divergences may have.

A set is one kind of divergence; a bucket is narrower where its place is a form of character, or the defect of the first
error. Which form that is depends on what the target answers, so the strings that may be in such a bucket are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.summary.facts import OF_WELL_FORMED
from overlong.conformance.sweep.summary.languages import containing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.sweep.summary.facts import Facts
    from overlong.conformance.sweep.summary.languages import Product
    from overlong.conformance.sweep.summary.members import Members
    from overlong.reference import Dialect
    from overlong.reference.grammar import Alternative

MOST = 256
"""Strings that are listed for a form of character; nearly always the first is the one."""


def apart(facts: Facts, kind: int, members: Members, *, whole: bool) -> tuple[tuple[bytes, ...], ...]:
    """The first strings for each name that divergences of a set may have; empty if all of them have one.

    Args:
        facts: of the plan.
        kind: of the set; no failure.
        members: its strings.
        whole: they have not been parted by their defects.
    """
    if kind in OF_WELL_FORMED:
        languages = (facts.strings.of_language(containing(begins)) for begins in _forms(facts.plan.profile.dialect))
        sets = (facts.strings.both(members, with_form) for with_form in languages)
        return tuple(found for each in sets if (found := facts.strings.ascending(each, MOST)))
    if whole:
        return tuple((facts.strings.least(part.members)[0],) for part in facts.parts(kind))
    return ()


def _forms(spoken: Dialect) -> Iterator[list[Product]]:
    """For each form of character what tells it from others: its first octet, or as many as that takes."""
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
