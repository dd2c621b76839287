"""The theorem of the plan ``depth``: among machines of thousands of states, it refuses each wrong one in its bound."""

import random
from collections import deque
from itertools import product

import pytest

np = pytest.importorskip("numpy")

from overlong.conformance.sweep.plan import plan_named  # noqa: E402
from overlong.conformance.sweep.schemes import words_within  # noqa: E402
from overlong.reference import DIALECTS, dialect  # noqa: E402

UTF8 = dialect().automaton
TABLE, RIGHT = np.array(UTF8.table), np.array(UTF8.accepting)
ACCESS, _, WORDS = plan_named("depth-1").grids[1].axes
BOUNDS = {0: 9, 1: 2_305, 2: 590_081}
"""The states of the largest machine that an access word and at most that many octets reach."""


def after(table, states, word):
    for octet in word:
        states = table[states, octet]
    return states


def passes(table, accepting, depth):
    """True if a machine answers all strings of ``depth(depth)`` like the reference."""
    for word in ACCESS:
        theirs, ours = np.array([after(table, 0, word)]), np.array([after(TABLE, 0, word)])
        for length in range(depth + 2):
            for end in WORDS:
                if (accepting[after(table, theirs, end)] != RIGHT[after(TABLE, ours, end)]).any():
                    return False
            if length <= depth:
                theirs, ours = table[theirs].ravel(), TABLE[ours].ravel()
    return True


def is_right(table, accepting):
    """True if a machine accepts the same strings as the reference: no reachable pair of states differs."""
    seen, ahead = {(0, 0)}, deque([(0, 0)])
    while ahead:
        theirs, ours = ahead.popleft()
        if accepting[theirs] != RIGHT[ours]:
            return False
        for pair in set(zip(table[theirs].tolist(), TABLE[ours].tolist(), strict=True)) - seen:
            seen.add(pair)
            ahead.append(pair)
    return True


def words(depth):
    """The words of an access word and some more octets, each once."""
    return list(dict.fromkeys(word + bytes(more) for length in range(depth + 1)
                              for more in product(range(256), repeat=length) for word in ACCESS))  # fmt: skip


def unrolled(random_):
    """A right machine with a state for each such word; longer words lead to any equivalent state."""
    some = words(1)
    state_of = {word: number for number, word in enumerate(some)}
    means = [UTF8.run(word) for word in some]
    alike = [[number for number, state in enumerate(means) if state == each] for each in range(len(UTF8))]
    rows = [
        [
            state_of.get(word + bytes([octet])) or random_.choice(alike[UTF8.table[means[number]][octet]])
            for octet in range(256)
        ]
        for number, word in enumerate(some)
    ]
    return np.array(rows), np.array([UTF8.accepting[each] for each in means])


def reached_within(automaton, depth):
    """True if an access word and some more octets reach every reachable state of a machine."""
    near = {automaton.run(word) for word in ACCESS}
    for _ in range(depth):
        near |= {to for state in near for to in automaton.table[state]}
    return near == set(range(len(automaton)))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.long] * (seed > 0)) for seed in range(4)])
def test_every_wrong_machine_within_the_bound_is_refused(seed):
    random_ = random.Random(seed)
    table, accepting = unrolled(random_)
    assert len(table) == BOUNDS[1]
    assert is_right(table, accepting)
    assert passes(table, accepting, 1)
    wrong = 0
    for _ in range(8):
        other, says = table.copy(), accepting.copy()
        if random_.random() < 0.3:
            place = random_.randrange(len(says))
            says[place] = not says[place]
        else:
            row = random_.randrange(len(ACCESS), len(other))  # reaching other states in time does not need this row
            other[row, random_.randrange(256)] = random_.randrange(len(other))
        wrong += not is_right(other, says)
        assert passes(other, says, 1) == is_right(other, says)
    assert wrong


@pytest.mark.long
def test_beyond_the_bound_a_wrong_machine_may_pass():
    """After ``abc`` an 80 is text: the state that remembers this is three octets away from every access word."""
    table, accepting = np.vstack([TABLE, *[TABLE[:1]] * 3]), np.append(RIGHT, [True] * 3)
    table[:, ord("a")] = np.where(table[:, ord("a")] == 0, 9, table[:, ord("a")])
    table[9, ord("b")], table[10, ord("c")], table[11, 0x80] = 10, 11, 0
    assert not is_right(table, accepting)
    assert passes(table, accepting, 1)
    assert not passes(table, accepting, 2)


def test_dialects_are_inside_or_are_said_not_to_be():
    outside = [{name for name in DIALECTS if not reached_within(dialect(name).automaton, depth)} for depth in range(3)]
    assert outside == [
        {"rfc2279", "lax-rfc2279", "mutf-8", "cesu-8", "wtf-8"},
        {"cesu-8", "wtf-8"},
        {"cesu-8", "wtf-8"},
    ]


def test_the_bounds_are_the_numbers_of_words():
    for depth, states in BOUNDS.items():
        assert states == len(words(depth)) == words_within(UTF8, depth)
    assert b"" in ACCESS
    assert all(word[:-1] in ACCESS for word in ACCESS if word)
    assert b"" in WORDS
    assert all(any(UTF8.accepting[UTF8.run(a + w)] != UTF8.accepting[UTF8.run(b + w)] for w in WORDS)
               for a, b in product(ACCESS, repeat=2) if a != b)  # fmt: skip
