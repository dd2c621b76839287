"""Complete suites identify the differences of a wrong decoder, transition by transition."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from overlong.conformance.oracle.expectation import ExpectedAnswers
from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED
from overlong.conformance.results.shard import ShardResult
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.summary import summarise
from overlong.conformance.sweep.summary.transitions import differences_in_words
from overlong.reference import dialect
from overlong.reference.automaton import Automaton
from overlong.reference.theory import equivalent

UTF8 = dialect().automaton
EXPECTED = ExpectedAnswers(UTF8, "V", "", offsets=True, strips_signature=False)


def accepted(grid, automaton):
    """A mask of the grid's strings that an automaton accepts."""
    table, reached = np.array(automaton.table), np.zeros(1, np.int64)
    for axis in grid.axes:
        after = np.repeat(reached[:, None], len(axis), axis=1)
        for column, choice in enumerate(axis.choices):
            for octet in choice:
                after[:, column] = table[after[:, column], octet]
        reached = after.reshape(-1)
    return np.array(automaton.accepting)[reached]


def summary(name, wrong):
    """The summary of a suite's results for an automaton."""
    plan = plan_named(name)
    results = []
    for shard in plan.shards():
        wanted, said = (accepted(plan.grids[shard.grid], each) for each in (UTF8, wrong))
        kinds = (wanted & ~said) * np.uint8(REFUSED_WELL_FORMED) + (~wanted & said) * np.uint8(ACCEPTED_ILL_FORMED)
        assert (shard.first, shard.count) == (0, len(kinds))
        results.append(ShardResult(shard, shard.count, 0, 0, 0, 0, zlib.compress(kinds.tobytes(), 1)))
    return summarise(plan, EXPECTED, results)


def redirected(state, octets, to):
    """UTF-8 with some octets redirected from one state to another."""
    table = [list(row) for row in UTF8.table]
    for octet in octets:
        table[state][octet] = to
    return Automaton(tuple(map(tuple, table)), UTF8.accepting, UTF8.open)


FAULTS = [
    redirected(state, octets.octets, to)
    for state in range(len(UTF8))
    for octets in UTF8.classes
    for to in range(len(UTF8))
    if to != UTF8.table[state][octets.least]
]
"""Every fault of one transition."""
INTERRUPTED = "every string whose first error is OV205 (interrupted sequence) that is accepted"
REFUSED = "every well-formed string that is refused"
SENTENCES = {  # the state after these octets; the octet; the next state; the sentence
    "another lead": ("E1 80", "F1", "F4", f"{INTERRUPTED} if F1-F3 after C2-DF or the like counts as F4"),
    "a new character": ("ED", "F4", "F4", f"{INTERRUPTED} if F4 after ED begins a character"),
    "the wrong class": ("", "E1", "ED", f"{REFUSED} if E1-EC,EE-EF at the beginning of a character counts as ED"),
    "refused": ("E1 80", "BF", "80", f"{REFUSED} if A0-BF after C2-DF or the like is an error"),
}


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", SENTENCES)
def test_a_wrong_transition_is_said(name):
    *given, sentence = SENTENCES[name]
    state, octet, to = map(bytes.fromhex, given)
    octets = next(each for each in UTF8.classes if octet[0] in each.octets)
    wrong = redirected(UTF8.run(state), octets.octets, UTF8.run(to))
    found = summary("depth-1", wrong)
    assert sentence in [each.description for each in found]
    assert all(each.exact and each.automaton == len(wrong.minimal()) for each in found)


@pytest.mark.long
def test_words_for_differences_are_enough_to_know_the_automaton():
    known: dict[str, Automaton] = {}
    for wrong in (*FAULTS[::7], *map(UTF8.flipped, range(len(UTF8)))):
        words = differences_in_words(UTF8, wrong.minimal())
        assert not words or equivalent(known.setdefault(words, wrong), wrong)
    assert len(known) > 100
    assert not differences_in_words(UTF8, UTF8)


def test_an_automaton_of_more_states_is_learned_where_the_suite_is_deep_enough():
    table = [*map(list, UTF8.table), list(UTF8.table[UTF8.run(b"\xc2")])]
    table[0][0xDF], table[9][0xF4] = 9, 0  # DF F4 is a character
    wrong = Automaton(tuple(map(tuple, table)), (*UTF8.accepting, False), (frozenset(),) * 10)
    (found,) = summary("depth-1", wrong)
    assert (found.automaton, found.exact, found.example) == (10, True, b"\xdf\xf4")
    assert not summary("depth-0", wrong)  # as the theory predicts
