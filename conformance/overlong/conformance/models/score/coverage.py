"""A list's coverage of the grammar: its alternatives, and both ends of each octet range from both sides."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from overlong.conformance.models.score.faults import by_transition
from overlong.reference import dialect
from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.models.score.faults import Faults
    from overlong.reference.grammar import Position


def untouched_alternatives() -> Faults:
    """The alternatives of the grammar that spell a character, until a string has a whole character of them."""
    automaton = dialect().unfolded
    shows: dict[tuple[int, int], set[str]] = defaultdict(set)
    for state, opened in enumerate(automaton.open):
        for position in opened:
            for octet in range(position.octets.low, position.octets.high + 1):
                if automaton.accepting[automaton.table[state][octet]]:
                    shows[state, octet].add(str(position.form))
    return by_transition((str(position.form) for position in _positions()), shows)


def untouched_boundaries() -> Faults:
    """The octets at the edge of a range, or just outside it, until a string has one where the grammar may read that."""
    positions = _positions()
    edges = {position: dict(_edges(position, positions)) for position in positions}
    shows: dict[tuple[int, int], set[str]] = defaultdict(set)
    for state, opened in enumerate(dialect().unfolded.open):
        for position in opened:
            for octet, name in edges[position].items():
                shows[state, octet].add(name)
    return by_transition((name for each in edges.values() for name in each.values()), shows)


def _positions() -> list[Position]:
    found = {position for opened in dialect().unfolded.open for position in opened}
    return sorted(found, key=lambda position: position.index)


def _edges(position: Position, positions: list[Position]) -> Iterator[tuple[int, str]]:
    """Each octet at an edge, and its name: ``9F just outside A0-BF in UTF8-3: ... (octet 2)``."""
    low, high = position.octets.low, position.octets.high
    place = 1 + sum(other.form == position.form and other.index < position.index for other in positions)
    for octet in dict.fromkeys((low - 1, low, high, high + 1)):
        if octet in OCTETS:
            where = "at the edge of" if octet in position.octets else "just outside"
            yield octet, f"{octet:02X} {where} {position.octets} in {position.form.text} (octet {place})"
