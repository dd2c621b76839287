"""Testing theory on automata: access words, characterising sets, complete suites, differences.

Words are compared in shortlex order: the shorter first, then octet by octet. So the least word with a property
is unique.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.reference.automaton import Automaton


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
