"""Output faults: decoders with the right verdict and a wrong answer.

*Scalars*: for each length of sequence, each bit of the scalar value stuck at 0 or at 1. A stuck bit shows if a
well-formed string has a character of that length with the other value of the bit. The layout gives the bits that an
octet carries.

*Shapes*: error offset, error length, the report of missing input, and the output for ill-formed octets, each wrong in
a way known from real decoders.

*Steps*: the replacing decoder as a machine with a state for each unfinished character. A step is an octet, or the end
of the input, in one state. A decoder that is wrong in one step is caught if and only if a string takes the step.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.models.score.transitions import state_names
from overlong.reference import MaximalSubpart, WellFormed, dialect, segment
from overlong.reference.automaton import OCTETS
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from overlong.conformance.models.score.mutation import Fault, Specimen


class _Named:
    """A mutation operator whose live mutants are a set of names."""

    def __init__(self, faults: Iterable[str]) -> None:
        self._order = tuple(dict.fromkeys(faults))
        self._live = set(self._order)
        self.total = len(self._live)

    @property
    def live(self) -> int:
        return len(self._live)

    @property
    def missed(self) -> tuple[str, ...]:
        """The faults that no string has shown yet."""
        return tuple(name for name in self._order if name in self._live)

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove faults from the live ones."""
        self._live.difference_update(str(fault) for fault in faults)


class ScalarFaults(_Named):
    """Stuck bits of the scalar value. Implements ``MutationOperator``."""

    def __init__(self) -> None:
        self._shows = _bits_of_transitions()
        super().__init__(sorted(set[str]().union(*self._shows.values()), key=_by_numbers))

    def shown(self, specimen: Specimen) -> set[str]:
        """The live faults that a string shows."""
        if not self._shows or not specimen.accepted:
            return set()
        return set[str]().union(*(self._shows[each] for each in self._shows.keys() & set(specimen.unfolded)))

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove faults from the live ones."""
        super().kill(faults)
        self._shows = {each: left for each, shows in self._shows.items() if (left := shows & self._live)}


def _by_numbers(name: str) -> tuple[int, ...]:
    """Sorts the names of bits: by length, then bit."""
    bit, length, stuck = (int(word) for word in name.split() if word.isdigit())
    return length, bit, stuck


@cache
def _bits_of_transitions() -> dict[tuple[int, int], set[str]]:
    """For each transition of the unfolded automaton inside a character, the stuck bits that it shows."""
    spoken = dialect()
    automaton, dead = spoken.unfolded, spoken.unfolded.dead
    shows: dict[tuple[int, int], set[str]] = defaultdict(set)

    def follow(state: int, depth: int) -> int:
        """Note the bits shown in ``state``, ``depth`` octets into a character; return the number of missing octets."""
        missing = 0
        by_target: dict[int, list[int]] = defaultdict(list)
        for octet, to in enumerate(automaton.table[state]):
            if to != dead:
                by_target[to].append(octet)
        for to, octets in by_target.items():
            missing = 1 if automaton.accepting[to] else 1 + follow(to, depth + 1)
            templates = spoken.layout.rows[depth + missing - 1].templates
            low = sum(template.free for template in templates[depth + 1 :])
            for octet in octets:
                value = templates[depth].bits(octet)
                for bit in range(templates[depth].free):
                    stuck = 1 - (value >> bit & 1)
                    shows[state, octet].add(f"bit {low + bit} of {len(templates)} octets stuck at {stuck}")
        return missing

    for state, accepts in enumerate(automaton.accepting):
        if accepts:  # a character begins here
            follow(state, 0)
    return shows


def noticed_at(specimen: Specimen, flaw: MaximalSubpart) -> int:
    """The place of the octet that shows a flaw; the end of the input if only that shows it."""
    automaton, end = dialect().automaton, flaw.offset + flaw.length
    return flaw.offset if automaton.run(specimen.octets[flaw.offset : end]) == automaton.dead else end


def announced(octets: bytes, offset: int) -> int:
    """The number of octets that the lead octet at ``offset`` announces, within the input; 1 if it announces none."""
    row = dialect().layout.announced(octets[offset])
    return 1 if row is None else min(len(row.templates), len(octets) - offset)


def _tails_announced(octets: bytes, found: MaximalSubpart) -> int:
    """The number of octets of the sequence that the lead octet announces, up to the last tail octet."""
    layout, end = dialect().layout, found.offset + 1
    last = found.offset + announced(octets, found.offset)
    while end < last and layout.is_tail(octets[end]):
        end += 1
    return end - found.offset


def _with_offender(octets: bytes, found: MaximalSubpart) -> int:
    """The number of octets up to and including the one that cannot continue the character."""
    return min(found.length + 1, len(octets) - found.offset) if announced(octets, found.offset) > 1 else 1


def _consuming(length: Callable[[bytes, MaximalSubpart], int]) -> Callable[[Specimen, MaximalSubpart], bool]:
    """A test whether the output changes if one U+FFFD replaces ``length`` octets."""

    def shows(specimen: Specimen, _: MaximalSubpart) -> bool:
        octets, offset = specimen.octets, 0
        scalars = list[int]()
        while offset < len(octets):
            found = segment(octets, offset)
            if isinstance(found, WellFormed):
                scalars.append(found.scalar)
                offset += found.length
            else:
                scalars.append(REPLACEMENT_CHARACTER)
                offset += length(octets, found)
        right = [each.scalar if isinstance(each, WellFormed) else REPLACEMENT_CHARACTER for each in specimen.segments]
        return scalars != right

    return shows


def _adjacent(specimen: Specimen, _: MaximalSubpart) -> bool:
    before: object = None
    for found in specimen.segments:
        if isinstance(found, MaximalSubpart) and isinstance(before, MaximalSubpart):
            return True
        before = found
    return False


SHAPES: dict[str, tuple[str, Callable[[Specimen, MaximalSubpart], bool]]] = {
    "offset-plus-one": ("the offset is one too large", lambda _, __: True),
    "offset-zero": ("the offset is always 0", lambda _, flaw: flaw.offset > 0),
    "offset-of-offender": (
        "the offset is that of the octet that cannot continue the character, not of the subpart",
        lambda specimen, flaw: noticed_at(specimen, flaw) != flaw.offset,
    ),
    "offset-in-scalars": (
        "the offset counts scalar values, not octets",
        lambda specimen, flaw: specimen.segments.index(flaw) != flaw.offset,
    ),
    "length-one": ("the length is always 1", lambda _, flaw: flaw.length > 1),
    "length-with-offender": (
        "the length includes the octet that cannot continue the character",
        lambda specimen, flaw: flaw.offset < noticed_at(specimen, flaw) < len(specimen.octets),
    ),
    "length-announced": (
        "the length is what the lead octet announces",
        lambda specimen, flaw: announced(specimen.octets, flaw.offset) != flaw.length,
    ),
    "always-incomplete": ("more input might always help", lambda _, flaw: not flaw.incomplete),
    "never-incomplete": ("more input never helps", lambda _, flaw: flaw.incomplete),
    "replaced-per-octet": (
        "one U+FFFD for each octet",
        lambda specimen, _: any(found.length > 1 for found in specimen.segments if isinstance(found, MaximalSubpart)),
    ),
    "replaced-per-run": ("one U+FFFD for a run of ill-formed octets", _adjacent),
    "replaced-per-announced": ("one U+FFFD for the whole sequence that was announced", _consuming(_tails_announced)),
    "offender-swallowed": ("the octet that cannot continue the character is replaced, too", _consuming(_with_offender)),
    "nothing-replaced": ("ill-formed octets vanish", lambda _, __: True),
}
"""For each name a sentence, and a test whether a string with that first flaw shows the fault."""


class ShapeFaults(_Named):
    """Wrong reports of ill-formed octets. Implements ``MutationOperator``."""

    def __init__(self) -> None:
        super().__init__(SHAPES)

    def shown(self, specimen: Specimen) -> list[str]:
        """The live faults that a string shows."""
        if not self._live or specimen.accepted:
            return []
        flaw = specimen.flaw
        assert flaw is not None, "an ill-formed string has a flaw"
        return [name for name in self._live if SHAPES[name][1](specimen, flaw)]


class StepFaults:
    """Steps of the replacing decoder, 8 states times 256 octets and the end: 2,056.

    A fault is the number of the step. Implements ``MutationOperator``.
    """

    END = len(OCTETS)

    def __init__(self) -> None:
        automaton = dialect().automaton
        dead = automaton.dead

        def after(state: int, octet: int) -> int:
            """The next state: an octet that cannot continue a character may begin a new one, or is ill-formed."""
            to = automaton.table[state][octet]
            again = automaton.table[0][octet] if to == dead and state else to
            return 0 if again == dead else again

        states = [state for state in range(len(automaton)) if state != dead]
        self._next = [[after(state, octet) for octet in OCTETS] for state in range(len(automaton))]
        self._live = {self.number(state, octet) for state in states for octet in (*OCTETS, self.END)}
        self.total = len(self._live)

    @classmethod
    def number(cls, state: int, octet: int) -> int:
        """The fault of a step; the octet :attr:`END` is the end of the input."""
        return state * (cls.END + 1) + octet

    @property
    def live(self) -> int:
        return len(self._live)

    @property
    def missed(self) -> tuple[str, ...]:
        """The steps that no string takes, by state and octet."""
        names = state_names(dialect().automaton)
        steps = (divmod(fault, self.END + 1) for fault in sorted(self._live))
        return tuple(f"{names[state]} {'end' if octet == self.END else f'{octet:02X}'}" for state, octet in steps)

    def shown(self, specimen: Specimen) -> set[int]:
        """The live faults that a string shows."""
        if not self._live:
            return set()
        taken, state, following, width = list[int](), 0, self._next, self.END + 1
        for octet in specimen.octets:
            taken.append(state * width + octet)
            state = following[state][octet]
        taken.append(state * width + self.END)
        return self._live.intersection(taken)

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove faults from the live ones."""
        self._live.difference_update(fault for fault in faults if isinstance(fault, int))
