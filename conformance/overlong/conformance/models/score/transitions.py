"""Transitions: faults in a single one of them, and what of the grammar a list never touches.

Single-transition faults are all automata that differ from the minimal one in one entry of its table.

Theory of operation. A mutant redirects one transition (state q, octet b) to a wrong state t, or flips one accepting
state. It behaves like the correct automaton until a string first takes (q, b), at some place; from there on it is in
t. So only strings that take (q, b) can show the mutant, and only the rest of a string matters:

- If b does not come again, the mutant goes on from t as the correct automaton would. The automaton of reversed strings
  computes, from the end of the string backwards, the set of states that the rest leads to acceptance, for all places
  at once. One look at the set answers for all eight targets.
- If b comes again, the mutant may be redirected again. So it must be followed, but not octet by octet: while it is
  dead, or in the state of the correct automaton, nothing new can happen before the next b.

A refused string shows only mutants that accept it. If from some place on no state leads the string to acceptance, such
a mutant must take its transition after that place: octets that do not occur there need no look.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.models.score.faults import Faults, by_transition
from overlong.reference import dialect
from overlong.reference.automaton import OCTETS, access_words

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator

    from overlong.conformance.models.score.faults import Specimen
    from overlong.reference.automaton import Automaton
    from overlong.reference.grammar import Position


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

    return Faults((*redirected, *((state,) for state in states)), shown)


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
