"""The minimal automaton, and testing theory on it."""

from itertools import combinations, product

import pytest

from overlong.reference.automaton import Automaton, access_words, characterising_set, equivalent, shortlex, witness
from overlong.reference.dialect import dialect
from overlong.reference.grammar import Grammar

# Unicode chapter 3, Table 3-7, transcribed by hand: the only place where ranges are written twice.
TABLE_3_7 = [
    ["00..7F"],
    ["C2..DF", "80..BF"],
    ["E0", "A0..BF", "80..BF"],
    ["E1..EC", "80..BF", "80..BF"],
    ["ED", "80..9F", "80..BF"],
    ["EE..EF", "80..BF", "80..BF"],
    ["F0", "90..BF", "80..BF", "80..BF"],
    ["F1..F3", "80..BF", "80..BF", "80..BF"],
    ["F4", "80..8F", "80..BF", "80..BF"],
]


def compiled(text: str) -> Automaton:
    return Automaton.compile(Grammar.parse(text, "test.abnf")).minimal()


def test_size():
    automaton = dialect().automaton
    assert len(automaton) == 9
    assert len(automaton.classes) == 12
    assert automaton.dead is not None
    assert [str(octets) for octets in automaton.classes] == [
        "00-7F", "80-8F", "90-9F", "A0-BF", "C0-C1 F5-FF", "C2-DF", "E0", "E1-EC EE-EF", "ED", "F0", "F1-F3", "F4",
    ]  # fmt: skip


def test_it_is_the_language_of_unicode_table_3_7():
    rows = " / ".join(" ".join("%x" + octets.replace("..", "-") for octets in row) for row in TABLE_3_7)
    assert witness(dialect().automaton, compiled(f"text = *( {rows} )\n")) is None


def test_minimal_is_canonical():
    """Two grammars of one language give the same table; the unfolded automaton has more states, the same language."""
    text = "a = *( b / c )\nb = %x41\nc = %x42 [ %x41 ]\n"
    other = "a = *( %x42 %x41 / %x41-42 )\n"
    assert compiled(text).table == compiled(other).table
    assert compiled(text).accepting == compiled(other).accepting
    assert len(dialect().unfolded) > len(dialect().automaton)
    assert equivalent(dialect().unfolded, dialect().automaton)


def test_access_words_reach_each_state_and_are_shortlex_least():
    automaton = dialect().automaton
    words = access_words(automaton)
    assert [automaton.run(word) for word in words] == list(range(len(automaton)))
    assert words == (b"", b"\x80", b"\xc2", b"\xe0", b"\xe1", b"\xed", b"\xf0", b"\xf1", b"\xf4")


def test_characterising_set_tells_every_two_states_apart_and_nothing_is_superfluous():
    automaton = dialect().automaton
    words = characterising_set(automaton)
    pairs = list(combinations(range(len(automaton)), 2))

    def told(words, pair):
        return any(automaton.accepts(word, pair[0]) != automaton.accepts(word, pair[1]) for word in words)

    assert all(told(words, pair) for pair in pairs)
    for word in words:
        rest = [other for other in words if other != word]
        assert not all(told(rest, pair) for pair in pairs)
    with pytest.raises(ValueError, match="equivalent"):
        characterising_set(dialect().unfolded)


def test_witness_is_shortlex_least():
    """Against brute force over all words of up to three octets from a small alphabet."""
    left = compiled("a = *( %x41 / %x42 %x43 )\n")
    right = compiled("a = *( %x41 / %x42 [ %x43 ] )\n")
    words = [bytes(word) for length in range(4) for word in product(b"ABC", repeat=length)]
    differing = [word for word in words if left.accepts(word) != right.accepts(word)]
    assert witness(left, right) == min(differing, key=shortlex) == b"B"
    assert witness(left, right, one_way=True) is None
    assert witness(right, left, one_way=True) == b"B"


def test_every_mutant_differs():
    """Redirecting any transition, or flipping any accepting bit, changes the language: the automaton is minimal."""
    automaton = dialect().automaton
    for state in range(len(automaton)):
        assert witness(automaton, automaton.flipped(state)) is not None
        for octets in automaton.classes:
            for to in range(len(automaton)):
                mutant = automaton.redirected(state, octets.least, to)
                assert equivalent(automaton, mutant) == (automaton.table[state][octets.least] == to)
