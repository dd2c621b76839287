"""The protocol of mutation operators, which hold faults of one kind, and the strings that may show them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from overlong.reference import MaximalSubpart, Segment, WellFormed, dialect, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Fault = int | str
"""The name of a mutant's fault, within its operator."""


class MutationOperator(Protocol):
    """Mutants of one kind. A mutant lives until a string kills it, that is, until its answer to one is wrong."""

    @property
    def total(self) -> int:
        """The number of mutants at the start."""
        ...

    @property
    def live(self) -> int:
        """The number of mutants that no string has killed yet."""
        ...

    def shown(self, specimen: Specimen) -> Collection[Fault]:
        """The live mutants that a string kills; they stay live."""
        ...

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove mutants from the live ones."""
        ...


class Specimen:
    """A string; ``states[place]`` is the state of the minimal automaton before the octet at ``place``."""

    def __init__(self, octets: bytes) -> None:
        self.octets = octets
        automaton = dialect().automaton
        table, dead, state = automaton.table, automaton.dead, 0
        states: list[int] = [0]
        for octet in octets:
            state = table[state][octet]
            states.append(state)
            if dead is not None and state == dead:  # it stays dead to the end
                states += [dead] * (len(octets) + 1 - len(states))
                break
        self.states = states
        self.accepted = automaton.accepting[state]

    @cached_property
    def unfolded(self) -> list[tuple[int, int]]:
        """The transitions of the unfolded automaton that the string takes, the last one perhaps into the dead state."""
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
        """The output of a strict decoder; None if it refuses."""
        if not self.accepted:
            return None
        return tuple(found.scalar for found in self.segments if isinstance(found, WellFormed))
