"""What a mutation operator is: faults of one kind that strings may show; and the strings that are to show them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from overlong.reference import MaximalSubpart, Segment, WellFormed, dialect, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Fault = int | str
"""Names a mutant, the fault that it has, within its operator."""


class MutationOperator(Protocol):
    """Mutants of one kind. A mutant lives until a string kills it: until some right answer differs from its own."""

    @property
    def total(self) -> int:
        """Mutants at the start."""
        ...

    @property
    def live(self) -> int:
        """Mutants that no string has killed yet."""
        ...

    def shown(self, specimen: Specimen) -> Collection[Fault]:
        """The live mutants that a string kills. Nothing is changed."""
        ...

    def kill(self, faults: Iterable[Fault]) -> None:
        """These live no longer."""
        ...


class Specimen:
    """``states[place]`` is the state of the minimal automaton before the octet at ``place``."""

    def __init__(self, octets: bytes) -> None:
        self.octets = octets
        automaton = dialect().automaton
        table, dead, state = automaton.table, automaton.dead, 0
        states: list[int] = [0]
        for octet in octets:
            state = table[state][octet]
            states.append(state)
            if dead is not None and state == dead:  # for good
                states += [dead] * (len(octets) + 1 - len(states))
                break
        self.states = states
        self.accepted = automaton.accepting[state]

    @cached_property
    def unfolded(self) -> list[tuple[int, int]]:
        """The transitions of the unfolded automaton that the string takes, the last one perhaps into death."""
        automaton = dialect().unfolded
        table, dead, state = automaton.table, automaton.dead, 0
        taken: list[tuple[int, int]] = []
        for octet in self.octets:
            taken.append((state, octet))
            state = table[state][octet]
            if state == dead:
                break
        return taken

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(segments(self.octets))

    @cached_property
    def flaw(self) -> MaximalSubpart | None:
        """The first ill-formed segment."""
        return next((found for found in self.segments if isinstance(found, MaximalSubpart)), None)

    @cached_property
    def scalars(self) -> tuple[int, ...] | None:
        """What a strict decoder puts out; None if it refuses."""
        if not self.accepted:
            return None
        return tuple(found.scalar for found in self.segments if isinstance(found, WellFormed))
