"""Features of the reference: each can be reached, and columns give the same as single inputs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.fuzz.engines import job
from overlong.fuzz.engines.job import PLACES, edges, features_of, first_to_reach, position_of
from overlong.fuzz.generated import Generated
from overlong.reference.automaton import access_words
from overlong.reference.dialect import DIALECTS, dialect

OFFSETS = {0: 0, 1: 7, 2: 20, 3: 100, 4: 32, 5: 128}
"""An offset at each place."""


@pytest.mark.parametrize("name", DIALECTS)
def test_each_feature_is_reached_by_some_octets(name):
    spoken = dialect(name)
    automaton, reached = spoken.automaton, set[int]()
    letter = b"a"
    for state, word in enumerate(access_words(automaton)):
        if state == automaton.dead:
            continue
        for offset in OFFSETS.values():
            if offset >= len(word) and not (state and not offset):
                before = letter * (offset - len(word)) + word
                reached |= features_of(before, spoken)
                for octets in automaton.classes:
                    reached |= features_of(before + bytes([octets.least]), spoken)
    alive = len(automaton) - (automaton.dead is not None)
    width = len(automaton.classes) + 1
    assert len(reached) == width * (alive * (len(PLACES) - 1) + 1)  # at the start there is a single state
    assert edges(reached, spoken) == (alive * len(automaton.classes),) * 2


def test_places_are_those_that_their_names_say():
    assert {position_of(offset) for offset in OFFSETS.values()} == set(range(len(PLACES)))
    assert all(position_of(offset) == place for place, offset in OFFSETS.items())
    assert [position_of(offset) for offset in (14, 15, 16, 17, 62, 63, 64, 65, 79)] == [1, 4, 4, 2, 2, 4, 5, 3, 5]


def test_what_stands_behind_an_error_is_read_again():
    broken, whole = features_of(b"\xe0\xc3\xa9"), features_of(b"b\xc3\xa9")
    assert len(broken - whole) == 2  # E0 at the start, and C3 after it
    assert len(whole - broken) == 1  # b at the start
    assert features_of(b"") == features_of(b"", dialect()) != whole


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=90), max_size=6), st.sampled_from(sorted(DIALECTS)))
def test_the_shortest_that_reaches_a_feature_is_told(inputs, name):
    spoken = dialect(name)
    found = first_to_reach([len(each) for each in inputs], b"".join(inputs), spoken)
    reached = [features_of(each, spoken) for each in inputs]
    assert set(found) == frozenset().union(*reached)
    for feature, place in found.items():
        holders = [(len(each), index) for index, each in enumerate(inputs) if feature in reached[index]]
        assert min(holders) == (len(inputs[place]), place)


@pytest.mark.parametrize("name", ["rfc3629", "wtf-8", "lax-rfc2279"])
def test_the_core_reads_as_python_does(name, monkeypatch):
    spoken = dialect(name)
    lengths, octets = Generated(4, (), spoken).columns(0, 4096)
    assert len(octets) >= job.ENOUGH
    compiled = first_to_reach(lengths, octets, spoken)
    whole = features_of(octets, spoken)
    monkeypatch.setattr(job, "ENOUGH", len(octets) + 1)
    assert compiled == first_to_reach(lengths, octets, spoken)
    assert whole == features_of(octets, spoken)
