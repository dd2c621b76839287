"""The suites: "complete" is complete, closed-form answers equal the reference's, and every vector has a purpose."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.protocol.greeting import units_of
from overlong.conformance.protocol.wire import ASKING, OCTETS, UNITS
from overlong.conformance.vectors.families import FAMILIES, all_vectors
from overlong.conformance.vectors.families.family import overlong, surrogate, surrogate_pair, well_formed
from overlong.conformance.vectors.pieces import complete_strings
from overlong.conformance.vectors.suites import GENERATED, QUICK, SUITES
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.conformance.vectors.vector import IdError, Profile, Vector
from overlong.reference import Decoded, IllFormed, IncrementalDecoder, dialect, is_well_formed
from overlong.reference.automaton import equivalent
from overlong.reference.order import well_formed_products

AUTOMATON = dialect().automaton
STRINGS = complete_strings(AUTOMATON)
RIGHT = {string: AUTOMATON.accepts(string) for string in STRINGS}
EVERY_STATE = range(len(AUTOMATON))


def kills(mutant, strings=STRINGS):
    return any(mutant.accepts(string) != RIGHT[string] for string in strings)


def through_each_transition():
    """The strings that take each transition: no other string can show that it is redirected."""
    strings: dict[tuple[int, int], list[bytes]] = {(state, octet): [] for state in EVERY_STATE for octet in range(256)}
    for string in STRINGS:
        states = [0, *AUTOMATON.walk(string)]
        for transition in set(zip(states, string, strict=False)):
            strings[transition].append(string)
    return strings


def test_the_complete_suite_kills_every_single_transition_mutant_and_every_flipped_state():
    through = through_each_transition()
    mutants = 0
    for (state, octet), strings in through.items():
        for to in EVERY_STATE:
            if to != AUTOMATON.table[state][octet]:
                mutants += 1
                assert kills(AUTOMATON.redirected(state, octet, to), strings), (state, octet, to)
    for state in EVERY_STATE:
        mutants += 1
        assert kills(AUTOMATON.flipped(state))
    assert mutants == 18_441


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(EVERY_STATE), st.integers(0, 255), st.sampled_from(EVERY_STATE)),
        min_size=2,
        max_size=40,
    ),
    st.sets(st.sampled_from(EVERY_STATE), max_size=2),
)
def test_the_complete_suite_kills_mutants_of_many_faults_at_once(redirections, flips):
    """Faults can mask each other. An automaton of nine states passes only if it has the same language."""
    mutant = AUTOMATON
    for redirection in redirections:
        mutant = mutant.redirected(*redirection)
    for state in flips:
        mutant = mutant.flipped(state)
    assert kills(mutant) != equivalent(mutant, AUTOMATON)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 255), st.sampled_from(EVERY_STATE), st.sampled_from(EVERY_STATE))
def test_the_complete_suite_kills_whole_columns(octet, state, to):
    """A decoder may treat one octet as another everywhere: the commonest mistake in a table of classes."""
    mutant = AUTOMATON
    other = (octet + 1) % 256
    for each in EVERY_STATE:
        mutant = mutant.redirected(each, octet, AUTOMATON.table[each][other])
    mutant = mutant.redirected(state, octet, to)
    assert kills(mutant) != equivalent(mutant, AUTOMATON)


def test_the_complete_suite_is_small_and_never_changes_by_accident():
    assert len(STRINGS) == len(set(STRINGS)) == 11_037
    assert sum(map(len, STRINGS)) == 41_898
    assert max(map(len, STRINGS)) == 6


def test_an_automaton_that_is_not_minimal_is_refused():
    with pytest.raises(ValueError, match="equivalent"):
        complete_strings(dialect().unfolded)


PLANS = (
    *(
        "exhaustive-6",
        "depth-1",
        "leads",
        "forms",
        "placed-64",
        "offsets-9",
        "lengths-1024",
        "far-17",
        "pairs",
        "octets-72",
    ),
    *("after-3", "after-1", "transitions-2", "faults-3", "thresholds-20", "order", "history", "drawn-9"),
)
GIVEN = ("given", "given-in-chunks", "given-used-before", "given-in-memory")


@pytest.mark.parametrize("name", [*SUITES, *GENERATED, *PLANS, *GIVEN])
def test_names_are_words(name):
    assert re.fullmatch("[a-z0-9-]+", name)


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", SUITES)
def test_size_and_ids(name):
    suite = SUITES[name]
    if suite.asks in ASKING:  # the questions' texts are alike
        suite = replace(suite, profile=replace(suite.profile, functions="floor next from-utf16"))
    count = 0
    for number, batch in enumerate(suite.batches()):
        count += len(batch)
        assert batch.suite == name
        if number % 16 == 0:
            ids = [vector.id for vector in batch]
            assert len(set(ids)) == len(batch)
            for identifier, vector in zip(ids[::97], list(batch)[::97], strict=True):
                if "sha256" not in identifier:
                    again = Vector.from_id(identifier)
                    one_chunk = vector.chunks is not None and len(vector.chunks) == 1 and vector.earlier is None
                    assert (again.octets, again.chunks, again.earlier, again.category) == (
                        vector.octets,
                        None if one_chunk else vector.chunks,  # one chunk has the id of the whole input
                        vector.earlier,
                        vector.category,
                    )
    assert count == suite.size


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["scalars", "scalars-between", "runs"])
@pytest.mark.parametrize("units", UNITS.values(), ids=list(UNITS))
def test_closed_answers_are_the_references(name, units):
    """This checks the first batches (which together have all lengths of sequence), one in the middle and the last."""
    batches = list(SUITES[name].batches())
    for batch in [*batches[:3], batches[len(batches) // 2], batches[-1]]:
        assert batch.closed is not None
        decoded = replace(batch, closed=None)
        for operation in "VDL":
            assert batch.expected(operation, units) == decoded.expected(operation, units)


def test_all_scalar_values_are_asked_once_each():
    values = [scalar for batch in SUITES["scalars"].batches() for scalar in batch.octets.decode()]
    assert values == [chr(number) for number in range(0x110000) if not 0xD800 <= number < 0xE000]
    between = [c for batch in SUITES["scalars-between"].batches() for c in batch.octets.decode()]
    assert between == [c for value in values for c in ("é", value, "a")]


# the possible first flaws of a family's vectors; other families hold well-formed vectors, too
CODES: dict[str, set[str | None]] = {
    "well-formed": {None},
    "noncharacter": {None},
    "overlong": {"OV201", "OV208"},
    "surrogate": {"OV202"},
    "out-of-range": {"OV203"},
    "obsolete": {"OV208"},
    "impossible": {"OV207"},
    "truncated": {"OV204"},
    "interrupted": {"OV201", "OV202", "OV203", "OV205"},
    "unexpected-tail": {"OV206", "OV201"},
}


def test_every_vector_says_what_it_is_for_and_is_what_its_family_says():
    seen: set[str] = set()
    sentences: set[tuple[str, str]] = set()
    for vector in all_vectors():
        assert 5 < len(vector.comment) <= 250, vector.id
        assert vector.comment.isascii()
        assert vector.comment.isprintable()
        assert "{" not in vector.comment
        assert vector.cases
        assert all(re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", case) for case in vector.cases)
        assert vector.id not in seen
        assert (vector.category, vector.comment) not in sentences, vector.id
        seen.add(vector.id)
        sentences.add((vector.category, vector.comment))
        code = vector.flags[0] if vector.flags else None
        assert code in CODES.get(vector.category, {code}), vector.id
        assert isinstance(vector.strict, Decoded) == (code is None) == is_well_formed(vector.octets)
    assert {vector.category for vector in all_vectors()} == set(FAMILIES)
    assert len({(vector.octets, vector.chunks) for vector in all_vectors()}) == len(seen)


def test_every_range_and_every_state_is_touched_by_the_families():
    """The core has each end of each range and both its neighbours, and every octet class after every state."""
    octets = {vector.octets for vector in core_vectors()}
    for ranges in well_formed_products(AUTOMATON):
        for end in (0, -1):
            character = bytes(each[end] for each in ranges)
            assert character in octets
            for place, each in enumerate(ranges):
                beyond = each[end] + (1 if end else -1)
                if beyond in range(256):
                    assert character[:place] + bytes([beyond]) + character[place + 1 :] in octets
    taken = {step for each in octets for step in zip([0, *AUTOMATON.walk(each)], each, strict=False)}
    for state in EVERY_STATE:
        if state != AUTOMATON.dead:
            for octet_class in AUTOMATON.classes:
                assert any((state, octet) in taken for octet in octet_class.octets), (state, str(octet_class))


def test_regressions_name_a_decoder_and_a_public_record():
    vectors = [vector for vector in all_vectors() if any(case.startswith("regression/") for case in vector.cases)]
    assert len({case for vector in vectors for case in vector.cases if case.startswith("regression/")}) >= 80
    for vector in vectors:
        assert vector.decoder, vector.id
        assert vector.references, vector.id
        for reference in vector.references:
            assert re.fullmatch(r"https://[!-~]+|CVE-\d{4}-\d{4,}", reference), reference


def test_regressions_are_what_their_sentences_say():
    """The octets or the number at the start of a sentence, the cut, and whether the answer should be a refusal."""
    lengths = {"two": 2, "three": 3, "four": 4}
    for vector in FAMILIES["regression"].vectors():
        octets, said = vector.octets, vector.comment
        if spelt := re.match(r"[0-9A-F]{2}\b(?: [0-9A-F]{2}\b)*", said):
            assert bytes.fromhex(spelt[0]) in octets, said
            if block := re.search(r"as the last octet of a block of (\d+)", said):
                assert octets[: int(block[1])].endswith(bytes.fromhex(spelt[0])), said
        if number := re.match(r"(The surrogate )?U\+([0-9A-F]+)(?: in (\w+) octets)?( as two surrogates)?", said):
            scalar = int(number[2], 16)
            wanted = surrogate(scalar) if number[1] else surrogate_pair(scalar) if number[4] else well_formed(scalar)
            if number[3]:
                wanted = overlong(scalar, int(lengths.get(number[3], number[3])))
            assert wanted in octets, said
        if cut := re.search(r"cut after (\d) octet", said):
            assert vector.chunks == (int(cut[1]), len(octets) - int(cut[1])), said
        if "chunks of one octet" in said:
            assert vector.chunks == (1,) * len(octets), said
        if answer := re.search(r", (accepted|refused)\b(?! only)", said):
            assert is_well_formed(octets) == (answer[1] == "refused"), said


@given(st.binary(max_size=24), st.lists(st.integers(0, 24), max_size=5))
def test_chunked_output_is_what_the_incremental_decoder_puts_out(octets, cuts):
    """Two derivations agree: the moments at which segments are known, and a decoder that is fed chunk by chunk."""
    bounds = [0, *sorted(min(cut, len(octets)) for cut in cuts), len(octets)]
    vector = Vector("input", octets, chunks=tuple(end - start for start, end in pairwise(bounds)))
    decoder = IncrementalDecoder("replacement")
    fed = [decoder.decode(octets[start:end]) for start, end in pairwise(bounds)]
    assert [*fed, decoder.decode(b"", final=True)] == ["".join(map(chr, each)) for each in vector.chunked]
    strict = IncrementalDecoder("fatal")
    known = None
    for count, octet in enumerate(octets, 1):
        try:
            strict.decode(bytes([octet]))
        except IllFormed:
            known = count
            break
    assert vector.detectable_at == known


@pytest.mark.long
def test_a_batch_in_parts_expects_what_the_whole_does():
    for name in QUICK:
        batch = next(iter(SUITES[name].batches()))
        middle = len(batch) // 2
        parts = [batch.part(0, middle), batch.part(middle, len(batch))]
        operations = SUITES[name].asks
        for operation in operations:
            units = units_of(operation, UNITS["utf-16"])
            whole = batch.expected(operation, units)
            halves = [part.expected(operation, units) for part in parts]
            assert type(whole).concatenated(halves) == whole
            assert [*parts[0], *parts[1]] == list(batch)


@pytest.mark.parametrize(
    "identifier", ["", "  ", "overlong/zz", "overlong/c", "nonsense", "a/b/c/xyz", "overlong/c0..8g"]
)
def test_a_wrong_id_says_what_an_id_is(identifier):
    with pytest.raises(IdError, match="vector id"):
        Vector.from_id(identifier)


def test_ids_that_people_write():
    assert Vector.from_id("E0 80 AF").octets == b"\xe0\x80\xaf"
    assert Vector.from_id("c3.a9").chunks == (1, 1)
    assert Vector.from_id("x/empty").octets == b""


# Cached results


SHARED = {"core": "VDL", "complete-0-replacing": "L", "streams": "ST", "encoder-edges": "E"}


@pytest.mark.parametrize(("name", "operations"), SHARED.items())
def test_what_is_worked_out_once_is_right_for_every_profile(name, operations):
    """From shared batches each profile gets its own answers, and shares only results that are equal for all."""
    others = Profile(replaces="replacement-per-octet"), Profile(encodes="replacement"), Profile(counts="scalars")
    batches, found = list(SUITES[name].batches()), []
    for profile in (Profile(), *others):
        shared = [batch.within(name, profile) for batch in batches]
        found.append(answers_of(shared, operations))
        assert answers_of([replace(batch, worked_out={}) for batch in shared], operations) == found[-1]
    assert len({repr(each) for each in found}) > 1


def answers_of(batches, operations):
    """The expected answers of each batch, and of a part of it."""
    found, units = [], UNITS["utf-16"]
    for batch in batches:
        for operation in operations:
            written = OCTETS if operation == "E" else units
            for each in (batch, batch.part(1, len(batch)).part(0, len(batch) // 2)):
                marks = [each.expected_marks(operation, units, marked=marked) for marked in (True, False)]
                streamed = [*marks, each.expected_offsets(units, "chunk")] if operation in "ST" else []
                found.append((each.payloads(operation), each.expected(operation, written), streamed))
    return found
