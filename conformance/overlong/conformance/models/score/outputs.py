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
from typing import TYPE_CHECKING

from overlong.conformance.models.score.faults import Faults, by_transition
from overlong.conformance.models.score.transitions import state_names
from overlong.reference import MaximalSubpart, WellFormed, dialect, segment
from overlong.reference.automaton import OCTETS
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator

    from overlong.conformance.models.score.faults import Specimen


def scalar_faults() -> Faults:
    """Stuck bits of the scalar value."""
    shows = _bits_of_transitions()
    names = sorted(set[str]().union(*shows.values()), key=_by_numbers)
    return by_transition(names, shows, only_accepted=True)


def _by_numbers(name: str) -> tuple[int, ...]:
    """Sorts the names of bits: by length, then bit."""
    bit, length, stuck = (int(word) for word in name.split() if word.isdigit())
    return length, bit, stuck


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


def shape_faults() -> Faults:
    """Wrong reports of ill-formed octets."""

    def shown(specimen: Specimen, live: Collection[Hashable]) -> Iterator[str]:
        if specimen.accepted:
            return
        flaw = specimen.flaw
        assert flaw is not None, "an ill-formed string has a flaw"
        yield from (name for name, (_, shows) in SHAPES.items() if name in live and shows(specimen, flaw))

    return Faults(SHAPES, shown)


def step_faults() -> Faults:
    """Steps of the replacing decoder, 8 states times 256 octets and the end: 2,056."""
    automaton = dialect().automaton
    dead = automaton.dead

    def after(state: int, octet: int) -> int:
        """The next state: an octet that cannot continue a character may begin a new one, or is ill-formed."""
        to = automaton.table[state][octet]
        again = automaton.table[0][octet] if to == dead and state else to
        return 0 if again == dead else again

    following = [[after(state, octet) for octet in OCTETS] for state in range(len(automaton))]
    steps = [[*(f"{name} {octet:02X}" for octet in OCTETS), f"{name} end"] for name in state_names(automaton)]

    def shown(specimen: Specimen, _: object) -> Iterator[str]:
        state = 0
        for octet in specimen.octets:
            yield steps[state][octet]
            state = following[state][octet]
        yield steps[state][-1]

    return Faults((step for state, row in enumerate(steps) if state != dead for step in row), shown)
