"""The strategies keep their promises, and reach every possible fault of a decoder."""

import pytest
from hypothesis import HealthCheck, find, given, seed, settings

from overlong.fuzz.strategies import chunked, defect, defects, first_defect, ill_formed, near_misses, well_formed
from overlong.reference import DEFECTS, MaximalSubpart, dialect, is_well_formed, segments
from overlong.reference.defect import FOREIGN


@given(well_formed())
def test_well_formed_is(octets):
    assert is_well_formed(octets)
    octets.decode()


@given(ill_formed())
def test_ill_formed_is(octets):
    assert not is_well_formed(octets)


@given(chunked())
def test_chunks_are_octets(chunks):
    assert all(isinstance(chunk, bytes) for chunk in chunks)
    assert chunks


@pytest.mark.long
def test_nothing_that_a_decoder_can_get_wrong_is_out_of_reach():
    """Some thousand inputs take every transition between classes, and show every defect."""
    automaton = dialect().automaton
    number = {octet: place for place, each in enumerate(automaton.classes) for octet in each.octets}
    transitions: set[tuple[int, int]] = set()
    defects: set[str] = set()

    @settings(max_examples=250, database=None)
    @given(near_misses())
    def collect(octets):
        for found in segments(octets):
            if isinstance(found, MaximalSubpart):
                defects.add(found.defect.code)
            state = 0
            for octet in octets[found.offset : found.offset + found.length + 1]:
                if state != automaton.dead:
                    transitions.add((state, number[octet]))
                state = automaton.table[state][octet]

    live = set(range(len(automaton))) - {automaton.dead}
    every = {(state, place) for state in live for place in range(len(automaton.classes))}
    for number_of_turn in range(64):  # Hypothesis's values also depend on the imported modules
        seed(number_of_turn)(collect)()
        if not every - transitions and set(DEFECTS) - defects == {FOREIGN.code}:
            break
    assert every - transitions == set()
    assert set(DEFECTS) - defects == {FOREIGN.code}  # which only other dialects have


def test_each_defect_has_a_strategy():
    assert set(defects()) == set(DEFECTS) - {FOREIGN.code}


@pytest.mark.long_after(5)
@pytest.mark.parametrize("code", defects())
def test_a_defect_is_what_comes_first(code):
    seen = set()

    @settings(max_examples=25, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(defect(code))
    def has_it(octets):
        assert first_defect(octets) == code
        seen.add(octets)

    has_it()
    assert len(seen) > 5


@pytest.mark.long
@pytest.mark.parametrize("code", ["OV201", "OV202"])
def test_a_defect_shrinks_to_the_least_octets_that_have_it(code):
    least = next(
        octets
        for length in (1, 2)
        for octets in (number.to_bytes(length, "big") for number in range(1 << 8 * length))
        if first_defect(octets) == code
    )
    assert find(defect(code), lambda _: True, settings=settings(max_examples=20, database=None)) == least


@pytest.mark.parametrize(("code", "why"), [("OV209", "other dialects"), ("OV999", "no defect")])
def test_what_is_no_defect_here_is_told(code, why):
    with pytest.raises(ValueError, match=why):
        defect(code)
