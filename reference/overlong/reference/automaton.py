"""The minimal automaton of a grammar, and testing theory on it. Everything else in the project is derived from it.

Theory of operation. Each place of the grammar where an octet is read is a *position* (Glushkov 1961;
McNaughton and Yamada 1960): first, last and follow sets make the grammar a position automaton, the
subset construction makes that deterministic, partition refinement (Moore 1956) makes it minimal, and
states are numbered in the order in which a breadth-first walk over ascending octets first meets them.
The result is therefore a function of the language alone, and state 0 is the start.

The automaton keeps the positions: :attr:`Automaton.open` names, for each state, the positions of the grammar
that may come next. Explanations are read off them at no cost.

Testing theory gives access words, characterising sets, complete suites and differences. Words are compared in shortlex
order: the shorter first, then octet by octet. So the least word with a property is unique.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from overlong.reference.grammar import Concatenation, Group, OctetRange, Position, Reference, Repetition

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from overlong.reference.grammar import Alternative, Expression, Grammar, Rule


OCTETS = range(0x100)


@dataclass(frozen=True, slots=True)
class OctetClass:
    """Octets that behave alike in every state."""

    octets: tuple[int, ...]

    @property
    def least(self) -> int:
        return self.octets[0]

    @property
    def ranges(self) -> tuple[OctetRange, ...]:
        """The maximal runs of consecutive octets."""
        runs = groupby(enumerate(self.octets), key=lambda pair: pair[1] - pair[0])
        members = [[octet for _, octet in run] for _, run in runs]
        return tuple(OctetRange(run[0], run[-1]) for run in members)

    def __str__(self) -> str:
        return " ".join(map(str, self.ranges))


@dataclass(frozen=True, eq=False)  # compared with theory.equivalent, hashed by identity
class Automaton:
    """A complete deterministic automaton over octets; state 0 is the start.

    ``table[state][octet]`` is the next state. ``open[state]`` holds the grammar positions that may come
    next (empty where an automaton was not compiled from a grammar).
    """

    table: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]
    open: tuple[frozenset[Position], ...]

    @classmethod
    def compile(cls, grammar: Grammar) -> Automaton:
        """The automaton of the grammar's start rule, before states are merged.

        Each state stands for one set of positions just read, so :attr:`open` is exact: after
        ``E0 A0`` it names only the alternative of E0. :meth:`minimal` merges states and their open positions.
        """
        return _determinise(_Positions(grammar))

    def __len__(self) -> int:
        return len(self.table)

    def run(self, octets: Iterable[int], state: int = 0) -> int:
        """The state after ``octets``."""
        for octet in octets:
            state = self.table[state][octet]
        return state

    def walk(self, octets: Iterable[int], state: int = 0) -> Iterator[int]:
        """The state after each of ``octets``."""
        for octet in octets:
            state = self.table[state][octet]
            yield state

    def accepts(self, octets: Iterable[int], state: int = 0) -> bool:
        return self.accepting[self.run(octets, state)]

    @cached_property
    def dead(self) -> int | None:
        """The state from which no word is accepted, if there is one (a minimal automaton has at most one)."""
        for state, row in enumerate(self.table):
            if not self.accepting[state] and set(row) == {state}:
                return state
        return None

    @cached_property
    def classes(self) -> tuple[OctetClass, ...]:
        """The octets, grouped by their transitions in all states, in the order of their least octets."""
        columns: dict[tuple[int, ...], list[int]] = {}
        for octet in OCTETS:
            columns.setdefault(tuple(row[octet] for row in self.table), []).append(octet)
        return tuple(OctetClass(tuple(octets)) for octets in columns.values())

    def minimal(self) -> Automaton:
        """The automaton of the same language with the fewest states, numbered canonically."""
        number, order = merged(self.table, self.accepting, [octets.least for octets in self.classes])
        return Automaton(
            table=tuple(tuple(number[to] for to in self.table[state]) for state in order),
            accepting=tuple(self.accepting[state] for state in order),
            open=tuple(
                frozenset[Position]().union(*(self.open[state] for state in range(len(self)) if number[state] == new))
                for new in range(len(order))
            ),
        )

    def redirected(self, state: int, octet: int, to: int) -> Automaton:
        """The automaton with one transition changed: the single-transition fault of testing theory."""
        row = list(self.table[state])
        row[octet] = to
        return replace(self, table=(*self.table[:state], tuple(row), *self.table[state + 1 :]))

    def flipped(self, state: int) -> Automaton:
        """The automaton with one accepting bit changed."""
        accepting = list(self.accepting)
        accepting[state] = not accepting[state]
        return replace(self, accepting=tuple(accepting))


def merged(
    table: Sequence[Sequence[int]], colours: Sequence[Hashable], octets: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The coarsest partition of states that keeps ``colours`` apart (Moore 1956).

    Args:
        table: the transitions.
        colours: the property in which states differ at the outset: acceptance, or outputs.
        octets: one of each class.

    Returns:
        for each state the number of its block, in breadth-first order from state 0; and one state of each block. An
        unreachable state has the number of its block, or -1 if its block has no reachable state.
    """
    names: dict[Hashable, int] = {}
    block = [names.setdefault(colour, len(names)) for colour in colours]
    while True:
        signatures: dict[Hashable, int] = {}
        refined = [
            signatures.setdefault((block[state], *(block[row[octet]] for octet in octets)), len(signatures))
            for state, row in enumerate(table)
        ]
        if len(signatures) == len(set(block)):
            break
        block = refined
    order: dict[int, int] = {}  # block -> a state of it, in breadth-first order
    queue = [0]
    for state in queue:
        if block[state] not in order:
            order[block[state]] = state
            queue.extend(table[state])
    numbers = {name: new for new, name in enumerate(order)}
    return [numbers.get(name, -1) for name in block], list(order.values())


class _Positions:
    """The grammar's position automaton: first, last and follow sets."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.positions: list[Position] = []
        self.follow: list[set[int]] = []
        self.nullable, self.first, self.last = self._rule(grammar.start, ())

    _Sets = tuple[bool, frozenset[int], frozenset[int]]  # nullable, first, last
    _EMPTY: _Sets = (True, frozenset(), frozenset())

    def _rule(self, rule: Rule, trail: tuple[Alternative, ...]) -> _Sets:
        return self._either(
            self._expression(expression, (*trail, alternative)) for alternative, expression in rule.alternatives
        )

    def _expression(self, expression: Expression, trail: tuple[Alternative, ...]) -> _Sets:
        match expression:
            case OctetRange():
                return self._position(expression, trail)
            case Reference(name):
                return self._rule(self.grammar.rule(name), trail)
            case Group(choices):
                return self._either(self._expression(choice, trail) for choice in choices)
            case Concatenation(items):
                sets = self._EMPTY
                for item in items:
                    sets = self._then(sets, self._expression(item, trail))
                return sets
            case Repetition(item, least, most):
                sets = self._EMPTY
                for _ in range(least):
                    sets = self._then(sets, self._expression(item, trail))
                for _ in range(1 if most is None else most - least):
                    _, first, last = self._expression(item, trail)
                    if most is None:
                        self._link(last, first)
                    sets = self._then(sets, (True, first, last))
                return sets

    def _position(self, octets: OctetRange, trail: tuple[Alternative, ...]) -> _Sets:
        form = next(alternative for alternative in trail if "%" in alternative.text)
        self.positions.append(Position(len(self.positions), octets, trail, form))
        self.follow.append(set())
        only = frozenset({len(self.positions) - 1})
        return False, only, only

    def _either(self, choices: Iterable[_Sets]) -> _Sets:
        nullable, first, last = False, frozenset[int](), frozenset[int]()
        for choice in choices:
            nullable, first, last = nullable or choice[0], first | choice[1], last | choice[2]
        return nullable, first, last

    def _then(self, left: _Sets, right: _Sets) -> _Sets:
        self._link(left[2], right[1])
        return (
            left[0] and right[0],
            left[1] | right[1] if left[0] else left[1],
            left[2] | right[2] if right[0] else right[2],
        )

    def _link(self, lasts: frozenset[int], firsts: frozenset[int]) -> None:
        for last in lasts:
            self.follow[last] |= firsts


def _determinise(grammar: _Positions) -> Automaton:
    """The subset construction; a state is the positions just read, None standing for the start."""
    start: frozenset[int | None] = frozenset({None})
    states: dict[frozenset[int | None], int] = {start: 0}
    table: list[tuple[int, ...]] = []
    accepting: list[bool] = []
    opens: list[frozenset[Position]] = []
    queue = [start]
    for state in queue:
        nexts = {to for at in state for to in (grammar.first if at is None else grammar.follow[at])}
        opens.append(frozenset(grammar.positions[to] for to in nexts))
        accepting.append(any(grammar.nullable if at is None else at in grammar.last for at in state))
        row: list[int] = []
        ranges = {to: grammar.positions[to].octets for to in nexts}
        ends = {end for octets in ranges.values() for end in (octets.low, octets.high + 1)}
        for least, end in pairwise(sorted({OCTETS.start, OCTETS.stop} | ends)):  # octets that no range tells apart
            target: frozenset[int | None] = frozenset(to for to, octets in ranges.items() if least in octets)
            if target not in states:
                states[target] = len(states)
                queue.append(target)
            row += [states[target]] * (end - least)
        table.append(tuple(row))
    return Automaton(tuple(table), tuple(accepting), tuple(opens))


def shortlex(word: bytes) -> tuple[int, bytes]:
    """Sort key: ``b"z" < b"ab" < b"b" * 2``."""
    return len(word), word


def in_shortlex(words: Iterable[bytes]) -> list[bytes]:
    """The words in shortlex order. Two sorts without a key of Python's are three times as fast as one by the key."""
    return sorted(sorted(words), key=len)


class Machine(Protocol):
    """A machine with states that reads octets."""

    @property
    def table(self) -> tuple[tuple[int, ...], ...]:
        """For each state and octet, the next state."""
        ...


def access_words(automaton: Machine) -> tuple[bytes, ...]:
    """The shortlex-least word that leads to each state: a state cover (Chow 1978)."""
    words: dict[int, bytes] = {0: b""}
    queue = [0]
    for state in queue:
        for octet, to in enumerate(automaton.table[state]):
            if to not in words:
                words[to] = words[state] + bytes([octet])
                queue.append(to)
    return tuple(words[state] for state in range(len(automaton.table)))


def witness(
    left: Automaton, right: Automaton, *, from_states: tuple[int, int] = (0, 0), one_way: bool = False
) -> bytes | None:
    """The shortlex-least word that one automaton accepts and the other does not; None if there is none.

    With ``one_way``, the least word of the difference ``left`` minus ``right``.
    """

    def differs(pair: tuple[int, int]) -> bool:
        accepted, other = left.accepting[pair[0]], right.accepting[pair[1]]
        return accepted and not other if one_way else accepted != other

    words: dict[tuple[int, int], bytes] = {from_states: b""}
    queue = [from_states]
    for pair in queue:  # breadth first over ascending octets, so the first word found is shortlex-least
        if differs(pair):
            return words[pair]
        for octet, to in enumerate(zip(left.table[pair[0]], right.table[pair[1]], strict=True)):
            if to not in words:
                words[to] = words[pair] + bytes([octet])
                queue.append(to)
    return None


def equivalent(left: Automaton, right: Automaton) -> bool:
    """True if both accept the same words."""
    return witness(left, right) is None


def characterising_set(automaton: Automaton) -> tuple[bytes, ...]:
    """Words that tell every two states of a minimal automaton apart, shortlex order (Vasilevskii 1973).

    The set holds each pair's shortlex-least separating word, without the words that the others make superfluous.

    Raises:
        ValueError: two states are equivalent, so the automaton is not minimal.
    """
    return words_apart(
        len(automaton),
        lambda pair: witness(automaton, automaton, from_states=pair),
        automaton.accepts,
    )


def words_apart(
    states: int,
    least: Callable[[tuple[int, int]], bytes | None],
    says: Callable[[bytes, int], object],
) -> tuple[bytes, ...]:
    """Words that distinguish every two states: each pair's least word, without those that the others replace.

    Args:
        states: the number of states.
        least: the shortlex-least word for two states; None if there is none.
        says: the answer of a state to a word.

    Raises:
        ValueError: two states are equivalent.
    """

    def told(words: set[bytes], pair: tuple[int, int]) -> bool:
        return any(says(word, pair[0]) != says(word, pair[1]) for word in words)

    pairs = list(combinations(range(states), 2))
    words: set[bytes] = set()
    for pair in pairs:
        word = least(pair)
        if word is None:
            raise ValueError(f"states {pair[0]} and {pair[1]} are equivalent; minimise the automaton first")
        words.add(word)
    for word in reversed(in_shortlex(words)):
        if all(told(words - {word}, pair) for pair in pairs):
            words.remove(word)
    return tuple(in_shortlex(words))


def identifying_words(
    states: int, words: Sequence[bytes], says: Callable[[bytes, int], object]
) -> list[tuple[bytes, ...]]:
    """For each state, those of ``words`` that distinguish it from every other, as few as a greedy search finds.

    ``says`` gives the answer of a state to a word.
    """
    result: list[tuple[bytes, ...]] = []
    for state in range(states):
        apart = {word: {other for other in range(states) if says(word, other) != says(word, state)} for word in words}
        left, chosen = set(range(states)) - {state}, list[bytes]()
        while left:
            best = max(words, key=lambda word: len(apart[word] & left))  # the first, so the shortlex-least
            chosen.append(best)
            left -= apart[best]
        result.append(tuple(in_shortlex(chosen)))
    return result


class WpString(NamedTuple):
    """A string of a complete suite, in three parts."""

    reach: bytes
    """The access word of a state."""
    octet: bytes
    """The input in that state: empty, or one octet."""
    word: bytes
    """The suffix that identifies the state that must follow."""


def wp_suite(machine: Machine, words: Sequence[bytes], identify: Sequence[Sequence[bytes]]) -> Iterator[WpString]:
    """The complete suite of depth 0 by the Wp-method (Fujiwara, von Bochmann, Khendek, Amalou and Ghedamsi 1991).

    The suite has each access word with the whole characterising set. Then it has each access word, followed by each
    octet, with only the words that identify the state that must follow.

    Args:
        machine: the correct machine.
        words: a characterising set of the machine.
        identify: for each state the words of the set that :func:`identifying_words` gives.
    """
    for state, reach in enumerate(access_words(machine)):
        yield from (WpString(reach, b"", word) for word in words)
        for octet, to in enumerate(machine.table[state]):
            yield from (WpString(reach, bytes([octet]), word) for word in identify[to])
