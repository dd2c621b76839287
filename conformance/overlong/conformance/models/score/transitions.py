"""Single-transition faults: every automaton that differs from the minimal one in one entry of its table.

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

The live faults are kept as one set of targets for each transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.automaton import OCTETS
from overlong.reference.theory import access_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.models.score.mutation import Fault, Specimen
    from overlong.reference.automaton import Automaton


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """The names of states by the octets that lead there: ``start``, ``[E0]``, ``dead``."""
    return tuple(
        "dead" if state == automaton.dead else f"[{word.hex(' ').upper()}]" if word else "start"
        for state, word in enumerate(access_words(automaton))
    )


class TransitionFaults:
    """18,441 mutants for RFC 3629: 9 states times 256 octets times 8 wrong targets, and 9 flipped states.

    A fault is a number: see :meth:`number`. Implements ``MutationOperator``.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._states = len(automaton)
        everywhere = (1 << self._states) - 1
        self._targets = [everywhere & ~(1 << to) for row in automaton.table for to in row]
        self._endings = everywhere
        self._before = _Before(automaton)
        self.total = self.live = len(self._targets) * (self._states - 1) + self._states

    def number(self, state: int, octet: int, to: int) -> int:
        """The fault that redirects ``octet`` in ``state`` to ``to``."""
        return (state * len(OCTETS) + octet) * self._states + to

    def flip(self, state: int) -> int:
        """The fault that flips whether ``state`` accepts."""
        return self.number(self._states, state, 0)

    @property
    def missed(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """The redirections that no string has shown yet: a state, an octet, and the wrong targets."""
        for key, targets in enumerate(self._targets):
            if targets:
                state, octet = divmod(key, len(OCTETS))
                yield state, octet, tuple(to for to in range(self._states) if targets >> to & 1)

    @property
    def missed_flips(self) -> tuple[int, ...]:
        """The states in which no string has ended yet."""
        return tuple(state for state in range(self._states) if self._endings >> state & 1)

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove faults from the live ones."""
        for fault in faults:
            assert isinstance(fault, int)
            key, to = divmod(fault, self._states)
            if key < len(self._targets):
                if self._targets[key] >> to & 1:
                    self._targets[key] ^= 1 << to
                    self.live -= 1
            elif self._endings >> key - len(self._targets) & 1:
                self._endings ^= 1 << key - len(self._targets)
                self.live -= 1

    def shown(self, specimen: Specimen) -> list[int]:
        """The live faults that a string shows."""
        result: list[int] = []
        octets, states, accepted = specimen.octets, specimen.states, specimen.accepted
        if self._endings >> states[-1] & 1:
            result.append(self.flip(states[-1]))
        sets: list[int] | None = None
        start, telling = 0, b""
        looked = set[int]()
        for place, octet in enumerate(octets):
            state = states[place]
            key = state << 8 | octet
            targets = self._targets[key]
            if not targets or key in looked:
                continue
            looked.add(key)
            if sets is None:  # computed late, because most strings of a long list show nothing new
                sets = self._before.sets(octets)
                start = len(octets) + 1 - len(sets)
                telling = octets if accepted or not start else octets[start - 1 :]
            if octet not in telling:
                continue
            if octets.find(octet, place + 1) < 0:
                leads = sets[len(octets) - place - 1] if place + 1 >= start else 0
                hits = targets & (~leads if accepted else leads)
            else:
                hits = 0
                for to in range(self._states):
                    if targets >> to & 1 and self._accepts(specimen, place, to) != accepted:
                        hits |= 1 << to
            if hits:
                result += [key * self._states + to for to in range(self._states) if hits >> to & 1]
        return result

    def _accepts(self, specimen: Specimen, place: int, to: int) -> bool:
        """The verdict of the mutant that redirects the transition first taken at ``place`` to ``to``."""
        octets, states, table = specimen.octets, specimen.states, self._automaton.table
        origin, octet, dead = states[place], octets[place], self._automaton.dead
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
        return self._automaton.accepting[state]


class _Before:
    """The automaton of reversed strings: it gives the states from which the rest of a string is accepted."""

    def __init__(self, automaton: Automaton) -> None:
        end = sum(1 << state for state, accepts in enumerate(automaton.accepting) if accepts)
        self._members = [end]
        self._rows: list[list[int]] = []
        numbers = {end: 0}
        for members in self._members:
            row = [0] * len(OCTETS)
            for octets in automaton.classes:
                befores = sum(
                    1 << state for state in range(len(automaton)) if members >> automaton.table[state][octets.least] & 1
                )
                if befores not in numbers:
                    numbers[befores] = len(self._members)
                    self._members.append(befores)
                for octet in octets.octets:
                    row[octet] = numbers[befores]
            self._rows.append(row)

    def sets(self, octets: bytes) -> list[int]:
        """From the end backwards, the set of states from which the rest is accepted, as bits. The list stops before the
        first empty set, since all sets of earlier places are empty, too.
        """
        rows, members, number = self._rows, self._members, 0
        result = [members[0]]
        for octet in reversed(octets):
            number = rows[number][octet]
            if not members[number]:
                break
            result.append(members[number])
        return result
