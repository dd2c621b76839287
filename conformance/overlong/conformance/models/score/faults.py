"""A string of a list, and faults: each is caught if the decoder that has it answers some string wrongly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import cached_property

from overlong.conformance.vectors.vector import cut
from overlong.reference import MaximalSubpart, Segment, WellFormed, dialect, segments


class Specimen:
    """A string; ``states[place]`` is the state of the minimal automaton before the octet at ``place``."""

    def __init__(self, octets: bytes, chunks: Iterable[int] = ()) -> None:
        """``chunks``: the lengths in which a stream brings it."""
        self.octets, self._chunks = octets, tuple(chunks)
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

    @property
    def pieces(self) -> list[bytes]:
        """The chunks of the stream, at least one."""
        return cut(self.octets, self._chunks) or [b""]

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


Shows = Callable[[Specimen, Collection[Hashable]], Iterable[Hashable]]
"""The faults that a string shows; it may leave out those that are not among the live ones, the second argument."""


class Faults:
    """Faults of one kind. Each lives until a string shows it."""

    def __init__(self, names: Iterable[Hashable], shows: Shows) -> None:
        """``names``: all faults, in the order of reports."""
        self.live = dict.fromkeys(names)
        self.total = len(self.live)
        self._shows = shows

    @property
    def missed(self) -> tuple[str, ...]:
        """The names of the faults that no string has shown yet."""
        return tuple(map(str, self.live))

    def shown(self, specimen: Specimen) -> set[Hashable]:
        """The live faults that a string shows; they stay live."""
        return self.live.keys() & self._shows(specimen, self.live.keys()) if self.live else set()

    def take(self, specimen: Specimen) -> None:
        """Remove those that a string shows."""
        for fault in self.shown(specimen):
            del self.live[fault]


def by_transition(
    names: Iterable[str], shows: Mapping[tuple[int, int], Iterable[str]], *, only_accepted: bool = False
) -> Faults:
    """Faults that a string shows by a transition of the unfolded automaton.

    Args:
        names: all of them.
        shows: those that each transition shows.
        only_accepted: only well-formed strings show them.
    """

    def shown(specimen: Specimen, _: object) -> set[str]:
        if only_accepted and not specimen.accepted:
            return set()
        return set[str]().union(*(shows.get(each, ()) for each in set(specimen.unfolded)))

    return Faults(names, shown)
