"""Streams: the cuts, the times of a right decoder's output, and the faults that each suite excludes."""

from array import array
from itertools import accumulate, chain, combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.oracle.compare import compare_batch, lost_states
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import UNITS, Answers, big_endian, read_numbers
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import certainty
from overlong.conformance.vectors.suites import QUICK, SUITES
from overlong.conformance.vectors.suites.complete import cut_strings
from overlong.conformance.vectors.suites.streams import LATER, SHORT, cuts, defects, earlier_streams, unfinished
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.conformance.vectors.vector import RFC3629, Vector
from overlong.reference import DEFECTS, IllFormed, IncrementalDecoder, dialect
from overlong.reference.automaton import OCTETS
from zoo import ZOO

WRONG = ZOO / "known_wrong.py"
STREAMS = ("chunking", "complete-0-in-chunks", "used-before")
UTF32 = UNITS["utf-32"]
AUTOMATON = dialect().automaton
BOM = b"\xef\xbb\xbf"
MISSING = "while octets that its lead announces are missing"

odd_octets = st.lists(
    st.sampled_from([0x61, 0x80, 0x90, 0xA0, 0xBF, 0xC2, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xFF]), max_size=9
).map(bytes)


@st.composite
def streams(draw):
    """Octets, probably nearly well-formed, and lengths of chunks with the right sum."""
    octets = draw(odd_octets | st.text(max_size=4).map(str.encode))
    places = sorted(draw(st.lists(st.integers(0, len(octets)), max_size=5)))
    return octets, tuple(end - start for start, end in pairwise([0, *places, len(octets)]))


# The suites


def test_sizes():
    """Larger suites would make a quick run slow."""
    assert 40_000 < SUITES["chunking"].size < 60_000
    assert 60_000 < SUITES["complete-0-in-chunks"].size < 80_000
    assert len(LATER) * len(earlier_streams()) < SUITES["used-before"].size < 3000
    assert set(STREAMS) <= set(QUICK)
    names = [name for name in SUITES if name in ("streams", *STREAMS)]
    assert names == ["streams", *STREAMS]


@pytest.mark.parametrize("name", STREAMS)
def test_each_vector_once_and_chunks_add_up(name):
    seen: set[object] = set()
    count = 0
    for batch in SUITES[name].batches():
        assert batch.chunks is not None
        assert all(map(int.__eq__, map(sum, batch.chunks), batch.lengths))
        starts = accumulate(batch.lengths, initial=0)
        octets = [batch.octets[start:end] for start, end in pairwise(starts)]
        seen.update(zip(octets, batch.chunks, batch.earlier or [None] * len(batch), strict=True))
        count += len(batch)
    assert count == len(seen) == SUITES[name].size


def test_what_browsers_got_wrong_on_streams_is_named():
    """web-platform-tests#56892: Chromium, bun and Firefox."""
    named = {vector.id: vector for name in ("streams", "used-before") for vector in SUITES[name].vectors()}
    for identifier in ("regression/f0.c3802a2a", "regression/ef.bb.bf", "again/ff+efbbbf"):
        assert any(reference.endswith("/wpt/pull/56892") for reference in named[identifier].references)
    assert named["regression/f0.c3802a2a"].replaced.scalars == (0xFFFD, 0xC0, 0x2A, 0x2A)


def test_short_vectors_are_cut_everywhere():
    for vector in core_vectors():
        size = len(vector.octets)
        made = set(cuts(vector.octets))
        assert all(sum(chunks) == size for chunks in made)
        if 0 < size <= SHORT:
            for places in chain(combinations(range(1, size), 1), combinations(range(1, size), 2)):
                assert tuple(end - start for start, end in pairwise((0, *places, size))) in made
            assert {(1,) * size, (1, 0) * size, (size,), (0, size), (size, 0), (0, size, 0)} <= made
            assert all((place, 0, size - place) in made for place in range(1, size))


def test_every_character_and_flaw_is_cut_at_each_place_and_at_each_two():
    """Also in long vectors; vectors that test length are cut only at errors."""
    for vector in core_vectors():
        if len(vector.octets) > 300:
            continue
        bounds = [tuple(accumulate(chunks, initial=0)) for chunks in cuts(vector.octets)]
        single = {bound[1] for bound in bounds if len(bound) == 3}
        twice = {bound[1:3] for bound in bounds if len(bound) == 4}
        assert single >= set(range(1, len(vector.octets)))
        for found in vector.segments:
            inside = range(max(found.offset, 1), min(found.offset + found.length + 1, len(vector.octets)))
            if found.length > 1:
                assert all(pair in twice for pair in combinations(inside, 2) if pair[1] - pair[0] < 4)


def test_what_a_decoder_used_before_is_asked_a_new_one_is_asked_too():
    core = {vector.octets for vector in core_vectors()}
    for later in LATER:
        octets = b"".join(later)
        assert octets in core
        assert tuple(map(len, later)) in set(cuts(octets))


def test_earlier_streams_leave_everything_that_can_be_left():
    states = {dialect().unfolded.run(octets) for octets in unfinished()}
    unfolded = dialect().unfolded
    assert states == {
        state for state in range(1, len(unfolded)) if not unfolded.accepting[state] and state != unfolded.dead
    }
    assert {AUTOMATON.run(octets) for octets in unfinished()} == set(range(1, len(AUTOMATON))) - {AUTOMATON.dead}
    found = {code for octets in defects() for code in Vector("", octets).flags}
    assert found == set(DEFECTS) - {"OV204", "OV209"}  # one needs an end, the other belongs to other dialects
    kinds = {(stream.index(flawed), len(stream)) for flawed in defects() for stream in earlier_streams()
             if flawed in stream}  # fmt: skip
    assert {(0, 1), (0, 2), (1, 2), (1, 3)} <= kinds  # alone, in the first chunk, in the last, in the middle
    assert (b"",) in earlier_streams()
    assert (BOM,) in earlier_streams()


# Mutants: wrong only at a boundary


def crossings():
    """For each state and octet: the vectors with a boundary between them."""
    result: dict[tuple[int, int], list[tuple[bytes, frozenset[int]]]] = {}
    for octets, chunks in cut_strings(dialect()):
        boundaries = list(accumulate(chunks[:-1]))
        for boundary in dict.fromkeys(boundaries):
            if boundary < len(octets):
                key = AUTOMATON.run(octets[:boundary]), octets[boundary]
                result.setdefault(key, []).append((octets, frozenset(boundaries)))
    return result


@pytest.mark.long
def test_no_wrong_transition_after_a_boundary_survives():
    """Each state, each octet, each wrong next state: 18 432 decoders."""
    table, accepting, right = AUTOMATON.table, AUTOMATON.accepting, AUTOMATON.accepts
    vectors = crossings()
    for state in range(len(AUTOMATON)):
        for octet in OCTETS:
            for wrong in set(range(len(AUTOMATON))) - {table[state][octet]}:

                def accepts(octets, boundaries, state=state, octet=octet, wrong=wrong):
                    at = 0
                    for place, each in enumerate(octets):
                        at = wrong if at == state and each == octet and place in boundaries else table[at][each]
                    return accepting[at]

                assert any(accepts(*vector) != right(vector[0]) for vector in vectors[state, octet])


def test_no_boundary_that_changes_the_state_survives():
    strings = cut_strings(dialect())
    for state in range(len(AUTOMATON)):
        for wrong in set(range(len(AUTOMATON))) - {state}:

            def accepts(octets, chunks, state=state, wrong=wrong):
                at = place = 0
                for length in chunks[:-1]:
                    at = AUTOMATON.run(octets[place : place + length], at)
                    at = wrong if at == state else at
                    place += length
                return AUTOMATON.accepting[AUTOMATON.run(octets[place:], at)]

            assert any(accepts(*string) != AUTOMATON.accepts(string[0]) for string in strings)


# When


def batch_of(octets, chunks):
    return Batch.of([Vector("x", octets, chunks=chunks)])


@given(streams())
def test_marks_are_what_the_reference_puts_out(stream):
    octets, chunks = stream
    decoder, marks, out, place = IncrementalDecoder("replacement"), [], 0, 0
    for number, length in enumerate(chunks, 1):
        out += len(decoder.decode(octets[place : place + length], final=number == len(chunks)))
        marks.append(out)
        place += length
    batch = batch_of(octets, chunks)
    assert list(read_numbers(batch.expected_marks("T", UTF32, marked=True))) == marks
    assert list(batch[0].put_out)[:-1] == marks[:-1]


@given(streams())
def test_refusals_and_their_offsets_are_those_of_the_reference(stream):
    octets, chunks = stream
    decoder, place, refused = IncrementalDecoder(), 0, None
    marks, out = [], 0
    for number, length in enumerate(chunks, 1):
        kept = decoder.getstate()[0]
        try:
            out += len(decoder.decode(octets[place : place + length], final=number == len(chunks)))
        except IllFormed as error:
            from_chunk = error.offset - place
            in_chunk = from_chunk if from_chunk >= 0 else None
            refused = number, {"stream": error.offset, "chunk": in_chunk, "kept": from_chunk + len(kept)}
            break
        marks.append(out)
        place += length
    batch = batch_of(octets, chunks)
    found = list(read_numbers(batch.expected_marks("S", UTF32, marked=True)))
    if refused is None:
        assert found == marks
        return
    number, offsets = refused
    assert found == [number]
    assert batch.expected_marks("S", UTF32, marked=False) == b""
    for counted_from, offset in offsets.items():
        assert batch.expected_offsets(UTF32, counted_from) == [offset]


@given(streams(), st.sampled_from(sorted(UNITS)))
def test_marks_count_units(stream, name):
    octets, chunks = stream
    batch, units = batch_of(octets, chunks), UNITS[name]
    marks = read_numbers(batch.expected_marks("T", units, marked=False))
    scalars = [tuple(chain(*batch[0].chunked[: place + 1])) for place in range(len(chunks))]
    scalars[-1] = batch[0].replaced.scalars
    assert list(marks) == [units.count(each) for each in scalars]


def test_the_held_octets_are_those_of_one_character():
    for vector in core_vectors():
        sure = certainty(vector.octets, "utf-32", RFC3629)
        assert all(0 <= read - sure.held(read) <= 3 for read in range(len(vector.octets) + 1))


# Judging


def greeting(**members):
    plain = {"overlong": 1, "operations": "PSTNM", "stream_refusals": "marked", **members}
    return Greeting.parse(str(plain).replace("'", '"').encode())


def right_answers(batch, operation, *, offsets="stream"):
    """The answers of a right decoder that reports every detail."""
    expected = batch.expected(operation, UTF32)
    numbers = array("I", read_numbers(expected.numbers))
    for place, offset in enumerate(batch.expected_offsets(UTF32, offsets)):
        if expected.statuses[place] == ord("R"):
            numbers[place] = 0xFFFFFFFF if offset is None else offset
    columns = expected.statuses + big_endian("I", numbers) + expected.columns[5 * len(batch) :]
    return Answers(len(batch), columns, batch.expected_marks(operation, UTF32, marked=True))


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("offsets", ["stream", "chunk", "kept"])
def test_a_right_decoder_has_no_findings(name, offsets):
    for batch in SUITES[name].batches():
        for operation in SUITES[name].asks:
            answers = right_answers(batch, operation, offsets=offsets)
            assert list(compare_batch(Answered(batch, operation, answers), greeting(stream_offsets=offsets))) == []


@given(streams(), st.sampled_from("STNM"), st.data())
def test_one_wrong_mark_is_found(stream, operation, data):
    batch = batch_of(*stream)
    right = right_answers(batch, operation)
    marks = read_numbers(right.marks)
    place = data.draw(st.integers(0, len(marks) - 1))
    marks[place] = wrong = data.draw(st.integers(0, 12).filter(lambda mark: mark != marks[place]))
    answers = Answers(1, right.columns, big_endian("I", marks))
    found = [each.code for each in compare_batch(Answered(batch, operation, answers), greeting())]
    sure, chunks = certainty(stream[0], "utf-32", RFC3629), stream[1]
    if right.statuses == b"R":
        first = sure.refused_in(chunks)
        late = wrong > first and sure.shown is not None
        assert found == (["OV512"] if late else ["OV513"] if wrong < first else [])
    else:
        least = sure.out(sum(chunks[: place + 1]))
        most = sure.total if place == len(chunks) - 1 else least
        assert found == (["OV511"] if wrong < least else ["OV513"] if wrong > most else [])


@given(streams(), st.sampled_from(["stream", "chunk", "kept"]), st.integers(0, 12))
def test_one_wrong_offset_is_found_if_the_target_says_what_it_counts(stream, counted_from, wrong):
    batch = batch_of(*stream)
    right = right_answers(batch, "S", offsets=counted_from)
    if right.statuses != b"R":
        return
    answers = Answers(1, b"R" + big_endian("I", [wrong]) + right.columns[5:], right.marks)
    answered = Answered(batch, "S", answers)
    (offset,) = batch.expected_offsets(UTF32, counted_from)
    found = [each.code for each in compare_batch(answered, greeting(stream_offsets=counted_from))]
    assert found == ([] if offset in (None, wrong) else ["OV503"])
    assert list(compare_batch(answered, greeting())) == []


@given(streams())
def test_what_can_be_lost_is_what_stands_before_a_boundary(stream):
    octets, chunks = stream
    places = lost_states(Vector("x", octets, chunks=chunks))
    decoder, kept, start = IncrementalDecoder("replacement"), 0, 0
    for length in chunks[:-1]:
        decoder.decode(octets[start : start + length])
        kept = max(kept, len(decoder.getstate()[0]))
        start += length
    assert bool(places) == bool(kept)
    if kept:
        assert any(f"after {kept} of" in place for place in places)


@pytest.mark.long
@pytest.mark.parametrize("suite", ["chunking", "complete-0-in-chunks"])
def test_a_lost_state_is_one_bucket_and_is_named(suite):
    certificate = certify(f"py:{WRONG}:LosesTwoOfFour", suites=[suite])
    assert list(certificate.run.buckets) == [("OV501", "state lost after 2 of 4 octets, at the end of a chunk")]


@pytest.mark.long
def test_the_example_of_a_lost_state_is_a_wrong_result():
    """A right result at a wrong time belongs to its bucket, but does not show it: here C2 alone, refused too early."""
    certificate = certify(f"py:{WRONG}:EachChunkByItself", suites=["chunking"])
    (bucket,) = certificate.run.buckets.values()
    example = bucket.example
    assert (example.vector.octets, example.vector.chunks) == (b"\xc2\x80", (1, 1))
    assert not example.is_untimely
    assert bucket.why is not None
    assert "gives another result in chunks for a character that is cut" in bucket.why.sentence


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("WaitsForAll", f"refuses late an error {MISSING} and if no C0-FF follows in its chunk"),
        (
            "WaitsForTails",
            f"refuses late an error of 3 or more octets and {MISSING} and if only tail octets follow in its chunk",
        ),
        ("WithholdsEverything", "holds back all output of a stream"),
    ],
)
def test_one_habit_of_waiting_is_one_cause(name, sentence):
    certificate = certify(f"py:{WRONG}:{name}", suites=["core", "streams", "chunking"])
    (bucket,) = certificate.run.buckets.values()
    assert bucket.why is not None
    assert bucket.why.sentence == sentence
    assert bucket.why.share > 0.99


def test_late_is_not_wrong():
    certificate = certify(f"py:{WRONG}:RefusesLate", suites=["core", "streams"])
    assert certificate.run.codes == {"OV512"}
    assert certificate.claims["earliest detection"] == "fails"
    assert certificate.claims["streaming"] == certificate.claims["verdict"] == "holds"
    assert not certificate.conformant
