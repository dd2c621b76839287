"""Inputs by number: a pure function, equal in Python and compiled, that soon covers the automaton."""

import contextlib
from itertools import accumulate
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.fuzz.choice import (
    DRAWN,
    HEADER,
    LONGEST,
    LONGEST_TOKEN,
    REACH,
    SLACK,
    filled,
    fillers_of,
    mixed,
    spelt,
    tokens_of,
    write,
)
from overlong.fuzz.engines.job import edges, features_of, first_to_reach
from overlong.fuzz.generated import SIZE, Generated
from overlong.reference import encode_scalars
from overlong.reference.dialect import DIALECTS, dialect
from overlong.reference.order import SURROGATES

BLOCK = 4096
SEEDS = ("Größe € 𝄞".encode(), b"\xef\xbb\xbfkey=\xff;", b"", b"0123456789" * 700)


def generated(seed=0, seeds=(), name="rfc3629"):
    return Generated(seed, seeds, dialect(name))


def strings(columns):
    lengths, octets = columns
    ends = list(accumulate(lengths, initial=0))
    assert ends[-1] == len(octets)
    return [octets[start : start + length] for start, length in zip(ends, lengths, strict=False)]


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", DIALECTS)
def test_the_whole_automaton_is_reached_within_a_block(name):
    for seed in range(2):
        lengths, octets = generated(seed, name=name).columns(0, BLOCK)
        reached, everything = edges(first_to_reach(lengths, octets, dialect(name)), dialect(name))
        assert reached == everything
        lengths, octets = generated(seed, name=name).columns(1 << 40, BLOCK)  # without single tokens
        assert edges(first_to_reach(lengths, octets, dialect(name)), dialect(name))[0] >= 0.97 * everything


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", ["rfc3629", "mutf-8", "wtf-8", "rfc2279", "cesu-8"])
@pytest.mark.parametrize(("seed", "seeds"), [(0, ()), (7, SEEDS), (-(1 << 70), SEEDS[:1])])
def test_python_and_compiled_code_make_the_same(name, seed, seeds):
    inputs = generated(seed, seeds, name)
    for first in (0, 123_456_789, SIZE - 1000):
        count = min(2500, SIZE - first)
        assert strings(inputs.by_core(first, count)) == [inputs.string(index) for index in range(first, first + count)]


def test_compiled_columns_do_not_depend_on_how_many_are_asked_at_a_time():
    inputs = generated(3)
    whole = strings(inputs.by_core(0, 200_000))
    assert whole[70_000:75_000] == strings(inputs.by_core(70_000, 5000))
    assert [each for first in range(0, 9000, 1000) for each in strings(inputs.by_core(first, 1000))] == whole[:9000]


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.integers(0, SIZE - 40), st.integers(0, 40), st.integers(), st.lists(st.binary(max_size=40), max_size=3))
def test_an_input_is_a_function_of_its_number(first, count, seed, seeds):
    one, other = (Generated(seed, tuple(seeds)) for _ in range(2))
    range_ = range(first, first + count)
    backwards = [one.string(index) for index in reversed(range_)]
    assert strings(other.columns(first, count)) == backwards[::-1]
    for index in range_[:3]:
        assert sum(one.chunks(index)) == len(one.string(index))
        assert min(one.chunks(index), default=0) >= 0
        assert (one.chunks(index), one.earlier(index)) == (other.chunks(index), other.earlier(index))


def test_other_seeds_give_other_inputs():
    later = [tuple(strings(generated(seed).columns(1000, 200))) for seed in range(8)]
    assert len(set(later)) == 8
    assert len(set(later[0])) > 150


def test_most_are_short_and_none_is_too_long():
    inputs = generated(5, SEEDS)
    lengths, _ = inputs.columns(len(tokens_of(dialect()).opening) + len(SEEDS) + 1, 100_000)
    assert 12 <= sum(lengths) / len(lengths) <= 40
    assert sorted(lengths)[len(lengths) // 2] <= 16
    assert 4096 < max(lengths) <= LONGEST


def test_nothing_is_written_behind_the_room_that_is_asked_for():
    inputs = generated(11, SEEDS)
    cells, pool = inputs.tables
    out, spare = bytearray(b"\xaa" * REACH), bytearray(3 * REACH)
    for index in range(40_000, 60_000):
        write(index, cells, pool, out, spare)
    assert (len(out), len(spare)) == (REACH, 3 * REACH)
    assert out[-SLACK:] == b"\xaa" * SLACK
    np = pytest.importorskip("numpy")
    lengths, octets = inputs.by_core(0, 300_000)
    assert len(octets) == int(np.array(lengths).sum())


def test_pieces_of_seeds_turn_up():
    opening = len(tokens_of(dialect()).opening)
    inputs = strings(generated(1, SEEDS).columns(0, 8000))
    cut = tuple(piece for seed in SEEDS for piece in (seed[:4224], seed[4224:]) if piece)
    assert tuple(inputs[opening : opening + len(cut)]) == cut
    later = inputs[opening + len(cut) :]
    for seed in (SEEDS[0], SEEDS[1], SEEDS[3][:30]):
        assert sum(seed in each for each in later) > 20
        assert sum(any(seed[at : at + 5] in each for at in range(len(seed) - 4)) for each in later) > 120
    assert not any(SEEDS[0] in each for each in strings(generated(1).columns(0, 8000)))


def test_tokens_are_what_they_are_said_to_be():
    for name in DIALECTS:
        spoken, tokens = dialect(name), tokens_of(dialect(name))
        automaton, dead = spoken.automaton, spoken.automaton.dead
        assert all(len(token) <= LONGEST_TOKEN for group in tokens for token in group)
        assert all(automaton.accepts(token) for token in (*tokens.ascii, *tokens.characters, *tokens.signature))
        assert all(automaton.run(token) == dead for token in (*tokens.dead_ends, *tokens.completed))
        assert not any(automaton.accepts(token) for token in (*tokens.lenient, *tokens.beginnings))
        assert all(automaton.run(token) != dead for token in tokens.beginnings)
        for filler in (*fillers_of(spoken)[0], *fillers_of(spoken)[1]):
            octets, period = filled(filler, 99), len(filler)
            for length in range(90):
                start = period - 1 - length % period
                assert automaton.accepts(octets[start : start + length])
    tokens = tokens_of(dialect())
    known = bytes.fromhex("C080 EDA080 F4908080 F8888080 80 E08080 EDA081EDB080".replace(" ", ""))
    assert {known[:2], known[2:5], known[5:9], known[9:14], known[14:17]} <= {*tokens.lenient, *tokens.completed}
    assert tokens.signature == (encode_scalars([0xFEFF]),)


@pytest.mark.long
@pytest.mark.parametrize("name", ["rfc3629", "mutf-8", "lax-rfc2279"])
def test_octets_are_drawn_from_all_of_each_range(name):
    inputs, tokens, automaton = generated(4, name=name), tokens_of(dialect(name)), dialect(name).automaton
    cells, groups = inputs.tables[0], (tokens.products, tokens.flawed)
    entries = sorted({cell for cell in cells[HEADER:] if cell >= DRAWN})
    assert len(entries) == len({*tokens.products, *tokens.flawed})
    for entry, ranges in zip(entries, dict.fromkeys((*groups[0], *groups[1])), strict=True):
        words = {spelt(cells, entry, mixed(number)) for number in range(2000)}
        assert {word >> 56 for word in words} == {len(ranges)}
        drawn = [word.to_bytes(8, "little")[: len(ranges)] for word in words]
        assert [set(each) for each in zip(*drawn, strict=True)] == [set(octets) for octets in ranges]
        possible = prod(map(len, ranges))
        assert len(words) > 0.95 * possible * (1 - (1 - 1 / possible) ** 2000)
        assert {automaton.accepts(octets) for octets in drawn} == {ranges in tokens.products}


def test_every_character_of_two_and_three_octets_turns_up_among_well_formed_text():
    seen, count = set[str](), 100_000
    for octets in strings(generated(6).columns(1 << 41, count)):
        with contextlib.suppress(UnicodeDecodeError):
            seen.update(octets.decode())
    basic = [number for number in range(0x10000) if number not in SURROGATES]
    assert sum(chr(number) in seen for number in basic) > 0.25 * len(basic)


def test_chunks_cut_everywhere_and_earlier_streams_come_now_and_then():
    inputs, inside, empty, alone = generated(2), 0, 0, 0
    for index in range(600, 1600):
        octets, ends = inputs.string(index), list(accumulate(inputs.chunks(index)))
        empty += 0 in inputs.chunks(index)
        alone += inputs.earlier(index) == ()
        inside += any(features_of(octets[:end]) != features_of(octets) for end in ends[:-1])
    assert 50 < empty < 500
    assert 400 < alone < 600
    assert inside > 500


@pytest.mark.parametrize("index", [-1, SIZE])
def test_a_number_out_of_range_is_refused(index):
    with pytest.raises(IndexError, match="no input"):
        generated().string(index)
    with pytest.raises(IndexError, match="from 0 to"):
        generated().columns(index, 2)


def test_well_formed_and_ill_formed_inputs_are_both_common():
    verdicts = [dialect().automaton.accepts(each) for each in strings(generated(9).columns(10_000, 2000))]
    assert 300 < sum(verdicts) < 1700
