"""A list's coverage of the grammar: its alternatives, and both ends of each octet range from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.reference import dialect
from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from overlong.conformance.models.score.mutation import Specimen
    from overlong.reference.grammar import Alternative, Position

LOW, HIGH, BELOW, ABOVE = "first", "last", "below", "above"


@dataclass(frozen=True)
class Boundary:
    """An octet at the edge of a range, or just outside it, at a place where the grammar may read that range."""

    position: Position
    kind: str
    octet: int

    def __str__(self) -> str:
        outside = "just outside " if self.kind in (BELOW, ABOVE) else "at the edge of "
        return f"{self.octet:02X} {outside}{self.position.octets} in {self.position.form.text} (octet {self.place})"

    @property
    def place(self) -> int:
        """The place of the octet in the character, from 1."""
        return 1 + sum(other.form == self.position.form and other.index < self.position.index for other in _positions())


def _positions() -> list[Position]:
    found = {position for opened in dialect().unfolded.open for position in opened}
    return sorted(found, key=lambda position: position.index)


def _boundaries() -> list[Boundary]:
    result: list[Boundary] = []
    for position in _positions():
        low, high = position.octets.low, position.octets.high
        for kind, octet in ((BELOW, low - 1), (LOW, low), (HIGH, high), (ABOVE, high + 1)):
            if octet in OCTETS and not (kind == HIGH and high == low):
                result.append(Boundary(position, kind, octet))
    return result


class Coverage:
    """Collects the transitions of the unfolded automaton that strings take, up to the first flaw of each."""

    def __init__(self) -> None:
        self._taken = set[tuple[int, int]]()
        self._boundaries = _boundaries()

    def add(self, specimen: Specimen) -> None:
        """Note the transitions of a string."""
        self._taken.update(specimen.unfolded)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Every alternative of the grammar that spells a character."""
        return tuple(dict.fromkeys(position.form for position in _positions()))

    @property
    def untouched_alternatives(self) -> tuple[Alternative, ...]:
        """Alternatives without a whole character in any string."""
        automaton = dialect().unfolded
        whole = {
            position.form
            for state, octet in self._taken
            if automaton.accepting[automaton.table[state][octet]]
            for position in automaton.open[state]
            if octet in position.octets
        }
        return tuple(form for form in self.alternatives if form not in whole)

    @property
    def boundaries(self) -> int:
        """The number of boundaries."""
        return len(self._boundaries)

    @property
    def untouched_boundaries(self) -> tuple[Boundary, ...]:
        """The boundaries that no string touches, in the order of the grammar."""
        opened = dialect().unfolded.open
        touched = {(position, octet) for state, octet in self._taken for position in opened[state]}
        return tuple(each for each in self._boundaries if (each.position, each.octet) not in touched)
