"""Decoders as machines that answer every octet: what testing theory needs where a verdict is not enough.

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
from overlong.reference.theory import access_words, identifying_words, shortlex, words_apart, wp_suite

Change = Hashable
"""What one octet does to the answer."""


@dataclass(frozen=True, eq=False)
class Transducer:
    """A complete Mealy machine over octets; state 0 is the start.

    ``table[state][octet]`` is the next state, ``changes[state][octet]`` what the octet does to the answer.
    """

    table: tuple[tuple[int, ...], ...]
    changes: tuple[tuple[Change, ...], ...]

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def of(cls, automaton: Automaton) -> Transducer:
        """An acceptor: after each octet, whether what was read is accepted."""
        rows = tuple(tuple(automaton.accepting[to] for to in row) for row in automaton.table)
        return cls(automaton.table, rows)

    @classmethod
    def explore(
        cls,
        start: Hashable,
        step: Callable[[Hashable, int], tuple[Hashable, Change]],
        alike: Iterable[Sequence[int]],
    ) -> Transducer:
        """The minimal machine of what ``step`` does from ``start`` on: (state, octet) -> (state, change).

        Args:
            start: the state before anything is read.
            step: what an octet does in a state.
            alike: groups of octets that do the same in every state; the first stands for all.
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
        """What each of ``octets`` does."""
        result: list[Change] = []
        for octet in octets:
            result.append(self.changes[state][octet])
            state = self.table[state][octet]
        return tuple(result)

    @cached_property
    def classes(self) -> tuple[OctetClass, ...]:
        """Octets grouped by what they do in every state, in the order of their least octets."""
        columns: dict[Hashable, list[int]] = {}
        for octet in OCTETS:
            pairs = zip(self.table, self.changes, strict=True)
            columns.setdefault(tuple((row[octet], answers[octet]) for row, answers in pairs), []).append(octet)
        return tuple(OctetClass(tuple(octets)) for octets in columns.values())

    def minimal(self) -> Transducer:
        """The same answers with the least number of states, numbered as a breadth-first walk meets them."""
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
        """Words that tell every two states apart, shortlex order.

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
        """For each state, words of the characterising set that tell it from every other, as few as greed finds."""
        return tuple(identifying_words(len(self), self.characterising_set, self.along))

    def complete_strings(self) -> tuple[bytes, ...]:
        """The complete suite of depth 0, shortlex order.

        A decoder that is a machine of at most ``len(self)`` states gives the right answer to all of them, and to
        their prefixes, if and only if it gives the right answer to everything.
        """
        identify = [(b"", *words) for words in self.identifiers]
        strings = set(map(b"".join, wp_suite(self, (b"", *self.characterising_set), identify)))
        return tuple(sorted(strings, key=shortlex))


def difference(left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)) -> bytes | None:
    """The shortlex-least word at whose last octet the two answer otherwise; None if there is none."""
    return next((word for word, _ in differences(left, right, states)), None)


def differences(
    left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)
) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Shortlex-least words at whose last octet the two answer otherwise, one for each octet of each pair of states.

    With each, the pair of states before that octet. Pairs that are only reached through a difference are not
    looked at: what follows a difference follows from it.
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
