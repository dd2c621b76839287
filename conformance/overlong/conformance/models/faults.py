"""Faults of decoders, and the strings that show them: each is caught if its decoder answers some string wrongly.

Theory of operation of single-transition faults: all automata that differ from the minimal one in one entry of its
table. A mutant redirects one transition (state q, octet b) to a wrong state t, or flips one accepting state. It behaves
like the correct automaton until a string first takes (q, b), at some place; from there on it is in t. So only strings
that take (q, b) can show the mutant, and only the rest of a string matters:

- If b does not come again, the mutant goes on from t as the correct automaton would. The automaton of reversed strings
  computes, from the end of the string backwards, the set of states that the rest leads to acceptance, for all places
  at once. One look at the set answers for all eight targets.
- If b comes again, the mutant may be redirected again. So it must be followed, but not octet by octet: while it is
  dead, or in the state of the correct automaton, nothing new can happen before the next b.

A refused string shows only mutants that accept it. If from some place on no state leads the string to acceptance, such
a mutant must take its transition after that place: octets that do not occur there need no look.

Output faults are those of decoders with the right verdict and a wrong answer:

*Scalars*: for each length of sequence, each bit of the scalar value stuck at 0 or at 1. A stuck bit shows if a
well-formed string has a character of that length with the other value of the bit. The layout gives the bits that an
octet carries.

*Shapes*: error offset, error length, the report of missing input, and the output for ill-formed octets, each wrong in
a way known from real decoders.

*Steps*: the replacing decoder as a machine with a state for each unfinished character. A step is an octet, or the end
of the input, in one state. A decoder that is wrong in one step is caught if and only if a string takes the step.

Faults of real decoders are in ``historical.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from overlong.conformance.vectors.vector import cut
from overlong.reference import MaximalSubpart, Segment, WellFormed, dialect, segment, segments
from overlong.reference.automaton import OCTETS, access_words
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference.automaton import Automaton
    from overlong.reference.grammar import Position


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

    def __init__(
        self, names: Iterable[Hashable], shows: Shows, in_words: Callable[[Iterable[Any]], Iterable[str]] | None = None
    ) -> None:
        """``names``: all faults, in the order of reports. ``in_words``: names those that are left."""
        self.live = dict.fromkeys(names)
        self.total = len(self.live)
        self._shows, self._in_words = shows, in_words

    @property
    def caught(self) -> int:
        """The number of the faults that some string has shown."""
        return self.total - len(self.live)

    @property
    def percent(self) -> float:
        """The percentage of caught faults, rounded down, so that 100 means all."""
        return percent(self.caught, self.total)

    @property
    def missed(self) -> tuple[str, ...]:
        """The names of the faults that no string has shown yet."""
        return tuple(map(str, self.live) if self._in_words is None else self._in_words(self.live))

    def shown(self, specimen: Specimen) -> set[Hashable]:
        """The live faults that a string shows; they stay live."""
        return self.live.keys() & self._shows(specimen, self.live.keys()) if self.live else set()

    def take(self, specimen: Specimen) -> None:
        """Remove those that a string shows."""
        for fault in self.shown(specimen):
            del self.live[fault]


def percent(caught: int, total: int) -> float:
    """A percentage, rounded down, so that 100 means all."""
    return 1000 * caught // total / 10


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


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """The names of states by the octets that lead there: ``start``, ``[E0]``, ``dead``."""
    return tuple(
        "dead" if state == automaton.dead else f"[{word.hex(' ').upper()}]" if word else "start"
        for state, word in enumerate(access_words(automaton))
    )


def transition_faults(automaton: Automaton) -> Faults:
    """18,441 mutants for RFC 3629: 9 states times 256 octets times 8 wrong targets, and 9 flipped states.

    A fault is a state, an octet and the wrong target; or a state alone, if that is flipped.
    """
    states = range(len(automaton))
    redirected = (
        (state, octet, to)
        for state, row in enumerate(automaton.table)
        for octet, right in enumerate(row)
        for to in states
        if to != right
    )

    @cache  # the automaton of reversed strings: few sets occur
    def before(members: int, octet: int) -> int:
        """The states from which an octet leads to one of ``members``, as bits."""
        return sum(1 << state for state in states if members >> automaton.table[state][octet] & 1)

    def leading(octets: bytes) -> list[int]:
        """From the end backwards, the set of states from which the rest is accepted, as bits. The list stops before the
        first empty set, since all sets of earlier places are empty, too.
        """
        result = [sum(1 << state for state in states if automaton.accepting[state])]
        for octet in reversed(octets):
            members = before(result[-1], octet)
            if not members:
                break
            result.append(members)
        return result

    def shown(specimen: Specimen, live: Collection[Hashable]) -> Iterator[tuple[int, ...]]:
        octets, accepted = specimen.octets, specimen.accepted
        yield (specimen.states[-1],)
        sets: list[int] | None = None
        start, telling = 0, b""
        looked = set[tuple[int, int]]()
        for place, octet in enumerate(octets):
            state = specimen.states[place]
            if (state, octet) in looked:
                continue
            looked.add((state, octet))
            targets = [to for to in states if (state, octet, to) in live]
            if not targets:
                continue
            if sets is None:  # computed late, because most strings of a long list show nothing new
                sets = leading(octets)
                start = len(octets) + 1 - len(sets)
                telling = octets if accepted or not start else octets[start - 1 :]
            if octet not in telling:
                continue
            if octets.find(octet, place + 1) < 0:
                leads = sets[len(octets) - place - 1] if place + 1 >= start else 0
                verdicts = [bool(leads >> to & 1) for to in targets]
            else:
                verdicts = [_accepts(automaton, specimen, place, to) for to in targets]
            yield from ((state, octet, to) for to, said in zip(targets, verdicts, strict=True) if said != accepted)

    def in_words(live: Iterable[tuple[int, ...]]) -> Iterator[str]:
        """``[E0] A0 to start dead``: each transition with live faults, and each state in which no string ends."""
        names = state_names(automaton)
        for (state, *octet), mutants in groupby(live, key=lambda fault: fault[:2]):
            if octet:
                yield f"{names[state]} {octet[0]:02X} to {' '.join(names[to] for *_, to in mutants)}"
            else:
                yield f"{names[state]} at the end"

    return Faults((*redirected, *((state,) for state in states)), shown, in_words)


def _accepts(automaton: Automaton, specimen: Specimen, place: int, to: int) -> bool:
    """The verdict of the mutant that redirects the transition first taken at ``place`` to ``to``."""
    octets, states, table = specimen.octets, specimen.states, automaton.table
    origin, octet, dead = states[place], octets[place], automaton.dead
    state, place = to, place + 1
    while place < len(octets):
        if state in (dead, states[place]):
            again = octets.find(octet, place)
            if again < 0:
                return specimen.accepted if state == states[place] else False
            if state == dead:
                if origin != dead:
                    return False
                state = to
            else:
                state = to if states[again] == origin else states[again + 1]
            place = again + 1
        else:
            here = octets[place]
            state = to if state == origin and here == octet else table[state][here]
            place += 1
    return automaton.accepting[state]


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
