"""Decoders as machines that answer every octet. Testing theory needs them where a verdict is not enough.

Theory of operation. A decoder is a function from octets to an answer: a verdict, a refusal with its place, or
scalar values. Reading one more octet changes its answer. The change is described relative to the end of the
input (:mod:`overlong.reference.answer`), so that it does not grow with what was read before: "drops one, puts
out U+FFFD twice". A decoder is thereby a Mealy machine over octets whose outputs are changes, and two decoders
give the same answers to everything if and only if their machines are equivalent: the changes along a word
multiply up to the answer (in the free group over scalar values), and the answer to nothing is nothing.

So the W-method (Vasilevskii 1973, Chow 1978) gives complete suites for them as it does for acceptors: access
words, each followed by nothing or by any octet, followed by words that tell the state reached from all others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from overlong.reference.automaton import OCTETS, Automaton, OctetClass, merged
from overlong.reference.theory import access_words, identifying_words, in_shortlex, words_apart, wp_suite

Change = Hashable
"""The change of the answer by one octet."""


@dataclass(frozen=True, eq=False)
class Transducer:
    """A complete Mealy machine over octets; state 0 is the start.

    ``table[state][octet]`` is the next state, ``changes[state][octet]`` the change of the answer.
    """

    table: tuple[tuple[int, ...], ...]
    changes: tuple[tuple[Change, ...], ...]

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def of(cls, automaton: Automaton) -> Transducer:
        """The machine of an acceptor: after each octet, its answer is whether it accepts the octets so far."""
        rows = tuple(tuple(automaton.accepting[to] for to in row) for row in automaton.table)
        return cls(automaton.table, rows)

    @classmethod
    def explore(
        cls,
        start: Hashable,
        step: Callable[[Hashable, int], tuple[Hashable, Change]],
        alike: Iterable[Sequence[int]],
    ) -> Transducer:
        """The minimal machine of the function ``step``, (state, octet) -> (state, change), from ``start`` on.

        Args:
            start: the state before anything is read.
            step: the effect of an octet in a state.
            alike: groups of octets that have the same effect in every state; the first stands for all.
        """
        groups = [list(group) for group in alike]
        numbers: dict[Hashable, int] = {start: 0}
        queue: list[Hashable] = [start]
        table: list[tuple[int, ...]] = []
        changes: list[tuple[Change, ...]] = []
        for state in queue:
            row: list[int] = [0] * len(OCTETS)
            answers: list[Change] = [None] * len(OCTETS)
            for group in groups:
                to, change = step(state, group[0])
                if to not in numbers:
                    numbers[to] = len(numbers)
                    queue.append(to)
                for octet in group:
                    row[octet], answers[octet] = numbers[to], change
            table.append(tuple(row))
            changes.append(tuple(answers))
        return cls(tuple(table), tuple(changes)).minimal()

    def run(self, octets: bytes, state: int = 0) -> int:
        """The state after ``octets``."""
        for octet in octets:
            state = self.table[state][octet]
        return state

    def along(self, octets: bytes, state: int = 0) -> tuple[Change, ...]:
        """The change by each of ``octets``."""
        result: list[Change] = []
        for octet in octets:
            result.append(self.changes[state][octet])
            state = self.table[state][octet]
        return tuple(result)

    @cached_property
    def classes(self) -> tuple[OctetClass, ...]:
        """The octets, grouped by their effects in all states, in the order of their least octets."""
        columns: dict[Hashable, list[int]] = {}
        for octet in OCTETS:
            pairs = zip(self.table, self.changes, strict=True)
            columns.setdefault(tuple((row[octet], answers[octet]) for row, answers in pairs), []).append(octet)
        return tuple(OctetClass(tuple(octets)) for octets in columns.values())

    def minimal(self) -> Transducer:
        """The machine with the same answers and the fewest states, numbered in breadth-first order."""
        number, order = merged(self.table, self.changes, [octets.least for octets in self.classes])
        return Transducer(
            tuple(tuple(number[to] for to in self.table[state]) for state in order),
            tuple(self.changes[state] for state in order),
        )

    @cached_property
    def access_words(self) -> tuple[bytes, ...]:
        """The shortlex-least word that leads to each state."""
        return access_words(self)

    @cached_property
    def characterising_set(self) -> tuple[bytes, ...]:
        """Words that distinguish every two states, in shortlex order.

        Raises:
            ValueError: two states are equivalent, so the machine is not minimal.
        """
        return words_apart(
            len(self),
            lambda pair: difference(self, self, pair),
            self.along,
        )

    @cached_property
    def identifiers(self) -> tuple[tuple[bytes, ...], ...]:
        """For each state, words of the characterising set that set it apart from all others, by a greedy search."""
        return tuple(identifying_words(len(self), self.characterising_set, self.along))

    def complete_strings(self) -> tuple[bytes, ...]:
        """The complete suite of depth 0, shortlex order.

        A decoder with at most ``len(self)`` states is right on every input if and only if it is right on these strings
        and their prefixes.
        """
        identify = [(b"", *words) for words in self.identifiers]
        strings = set(map(b"".join, wp_suite(self, (b"", *self.characterising_set), identify)))
        return tuple(in_shortlex(strings))


def difference(left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)) -> bytes | None:
    """The shortlex-least word at whose last octet the two answer differently; None if there is none."""
    return next((word for word, _ in differences(left, right, states)), None)


def differences(
    left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)
) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Shortlex-least words at whose last octet the two answer differently, one for each octet of each pair of states.

    Each word comes with the pair of states before that octet. Pairs that are reached only through a difference are
    left out: their differences follow from the first one.
    """
    words: dict[tuple[int, int], bytes] = {states: b""}
    queue = [states]
    for pair in queue:
        one, other = pair
        rows = zip(left.changes[one], right.changes[other], left.table[one], right.table[other], strict=True)
        for octet, (said, wanted, *to) in enumerate(rows):
            word = words[pair] + bytes([octet])
            if said != wanted:
                yield word, pair
            elif (following := (to[0], to[1])) not in words:
                words[following] = word
                queue.append(following)
