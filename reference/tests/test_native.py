"""The compiled oracle agrees with the reference on short and long strings, at every offset within 64 octets."""

from __future__ import annotations

import subprocess
import sys
from array import array
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.reference.core import why_not

pytest.importorskip("numpy")
if why_not():
    pytest.skip(why_not(), allow_module_level=True)

import numpy as np

from overlong.conformance.vectors.pieces import complete_strings
from overlong.reference import DIALECTS, Decoded, IllFormed, Rejected, decode_scalars, dialect, is_well_formed, outcome
from overlong.reference.automaton import Automaton
from overlong.reference.native import Oracle, oracle
from overlong.reference.tables import MOST_STATES, STEP, Gathering, Nibbles, ShiftAutomaton

REFUSED = {
    "utf-8-sig": "more than bits of octets",
    "cesu-8": "more than bits of octets",
    "mutf-8": "more than bits of octets",
    "mutf-8-lax": "more than bits of octets",
    "wtf-8": "in another state than its start",
}
SUPPORTED = sorted(DIALECTS.keys() - REFUSED.keys())
BY_ROWS = sorted({*SUPPORTED} - {"rfc2279", "lax-rfc2279"})  # whose characters have four octets at most
ORACLES = {name: oracle(name) for name in SUPPORTED}
UTF8 = ORACLES["rfc3629"]
SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
LONGEST = 6  # octets of a character in any dialect
OCTETS_AT_ONCE = 64
BLOCK = 128  # octets, of decoding.c


def said(spoken: Oracle, octets: bytes | memoryview) -> Decoded | Rejected:
    try:
        return Decoded(tuple(spoken.decode_scalars(octets).tolist()))
    except IllFormed as error:
        return Rejected(error.offset, error.length, error.incomplete)


def assert_agrees(spoken: Oracle, octets: bytes) -> None:
    expected = outcome(octets, "fatal", spoken.dialect)
    assert said(spoken, octets) == expected
    assert spoken.first_error(octets) == (expected if isinstance(expected, Rejected) else None)
    assert spoken.is_well_formed(octets) == is_well_formed(octets, spoken.dialect)


def class_strings(spoken: Oracle, most: int) -> list[bytes]:
    """All strings of up to ``most`` octets, over the ends of each class."""
    ends = [octets.least for octets in spoken.dialect.automaton.classes]
    return [bytes(string) for length in range(most + 1) for string in product(ends, repeat=length)]


@cache
def characters(name: str) -> list[bytes]:
    """Characters of every row of the layout: its first and last numbers, and those around the surrogates."""
    spoken = dialect(name)
    ends = [number for row in spoken.layout.rows for number in (row.numbers[0], row.numbers[-1])]
    found = [spoken.layout.encode(number) for number in [*ends, 0x41, 0xE9, 0xD7FF, 0xD800, 0xE000, 0xFFFD, 0x10FFFF]]
    return [octets for octets in found if octets and spoken.automaton.accepts(octets)]


def mixed_text(name: str) -> bytes:
    """More than three times 64 octets: characters of all lengths, and a run of characters of one octet."""
    text = b"".join(characters(name))
    return (text * OCTETS_AT_ONCE)[: 2 * OCTETS_AT_ONCE // len(text) * len(text)] + b"a" * 2 * OCTETS_AT_ONCE + text * 2


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", SUPPORTED)
def test_it_is_the_reference_on_the_complete_suite_and_on_class_strings(name):
    spoken = ORACLES[name]
    for octets in complete_strings(spoken.dialect.automaton):
        assert_agrees(spoken, octets)
    for octets in class_strings(spoken, 4 if name == "rfc3629" else 3):
        assert_agrees(spoken, octets)


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", SUPPORTED)
def test_it_finds_one_wrong_octet_and_every_truncation_in_any_place(name):
    spoken, text = ORACLES[name], mixed_text(name)
    ends = [octets.least for octets in spoken.dialect.automaton.classes]
    assert is_well_formed(text, spoken.dialect)
    for place in range(len(text)):
        assert spoken.first_error(text[:place]) == rejected(spoken, text[:place])
        # Characters after that change nothing, so the reference need not read them.
        near = text[: place + 2 * LONGEST]
        for octet in ends[place % 3 :: 3]:
            wrong = near[:place] + bytes([octet]) + near[place + 1 :]
            expected = rejected(spoken, wrong)
            if expected is not None and not expected.incomplete:
                assert spoken.first_error(wrong + text[len(wrong) :]) == expected


def rejected(spoken: Oracle, octets: bytes) -> Rejected | None:
    found = outcome(octets, "fatal", spoken.dialect)
    return found if isinstance(found, Rejected) else None


@pytest.mark.long
@settings(max_examples=400)
@given(st.data())
def test_it_is_the_reference_on_mixed_text_with_faults_anywhere(data):
    name = data.draw(st.sampled_from(SUPPORTED))
    octets = [end for each in dialect(name).automaton.classes for run in each.ranges for end in (run.low, run.high)]
    piece = st.sampled_from(characters(name)) | st.integers(1, 70).map(lambda count: b"a" * count)
    text = b"".join(data.draw(st.lists(piece, max_size=80)))[:300]
    for place, octet in data.draw(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(octets)), max_size=2)):
        text = text[:place] + bytes([octet]) + text[place + data.draw(st.integers(0, 1)) :]
    around = b"\xff" * data.draw(st.integers(0, OCTETS_AT_ONCE))  # any alignment, hostile octets on both sides
    within = memoryview(around + text + around)[len(around) : len(around) + len(text)]
    assert said(ORACLES[name], within) == outcome(text, "fatal", dialect(name))
    assert_agrees(ORACLES[name], text)


def test_every_scalar_value_in_one_text():
    octets = "".join(map(chr, SCALARS)).encode()
    assert UTF8.is_well_formed(octets)
    assert np.array_equal(UTF8.decode_scalars(octets), SCALARS)


@pytest.fixture(params=["rows", "octets"])
def reading(request, monkeypatch):
    """By rows, or octet by octet, as automata and processors are read by that cannot do better."""
    if request.param == "octets":
        monkeypatch.setattr("overlong.reference.native._nibbles", lambda _: None)


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("name", SUPPORTED)
def test_numbers_are_right_whatever_characters_are_neighbours_at_all_alignments(name):
    spoken, text = Oracle(dialect(name)), characters(name)
    one_each = {len(octets): octets for octets in text}.values()
    octets = b"".join(b"".join(each) for each in product(one_each, repeat=4)) + b"".join(text)
    numbers = decode_scalars(octets, spoken=dialect(name))
    for shift in range(OCTETS_AT_ONCE):
        assert spoken.decode_scalars(b"a" * shift + octets).tolist() == [*b"a" * shift, *numbers]
        assert spoken.decode_scalars(octets + b"a" * shift).tolist() == [*numbers, *b"a" * shift]


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("name", SUPPORTED)
def test_the_first_error_is_found_across_all_seams_of_blocks_and_at_all_alignments(name):
    """Text of several blocks, each octet near their seams made wrong; 0 to 63 octets before it move the seams."""
    spoken, text = Oracle(dialect(name)), characters(name)
    whole = (b"".join(text) * BLOCK)[: 3 * BLOCK]
    assert spoken.first_error(whole) == rejected(spoken, whole)
    for shift in range(OCTETS_AT_ONCE):
        moved = np.frombuffer(b"a" * shift + whole, np.uint8).copy()
        for place in range(2 * BLOCK - LONGEST, 2 * BLOCK + LONGEST):
            for octet in b"\xff\x80a":
                was, moved[place] = int(moved[place]), octet
                begin = next(at for at in range(place - LONGEST, place + 1) if spoken._begins[moved[at]])
                begin = next(at for at in range(begin - 2 * LONGEST, begin + 1) if spoken._begins[moved[at]])
                expected = rejected(spoken, moved[begin : place + 3 * LONGEST].tobytes())
                assert expected is not None or octet in {was, *b"\x80a"}
                if expected is not None and begin + expected.offset + expected.length < place + 3 * LONGEST:
                    assert spoken.first_error(moved) == (begin + expected[0], *expected[1:])
                moved[place] = was
        # The seam is at each place of a plain run, too, and a run that breaks a character off is not skipped.
        for plain, broken in product((b"a" * shift, b"a" * (shift + BLOCK // 2)), (text[-1][:-1], b"")):
            run = whole[: len(b"".join(text))] + plain + broken + b"a" * BLOCK * 2
            assert spoken.first_error(run) == rejected(spoken, run)
            assert said(spoken, run) == outcome(run, "fatal", spoken.dialect)


@pytest.mark.parametrize("name", BY_ROWS)
def test_well_formed_blocks_are_read_by_rows_to_the_last(name):
    """An oracle whose walk refuses every octet: it begins at the last character of whole blocks."""
    spoken, text = Oracle(dialect(name)), b"a" * BLOCK + mixed_text(name)
    assert Gathering.of(spoken.dialect, Nibbles.of(spoken.dialect.automaton))
    spoken._walk.rows[:] = array("Q", [spoken._walk.rows[0xFF]]) * 256
    last = max(at for at in range(len(text) // BLOCK * BLOCK) if spoken._begins[text[at]])
    assert spoken.first_error(text) in {(last, 1, False), (0, 1, False)}  # 0 where a processor lacks such tables


def test_an_automaton_that_cannot_be_read_by_rows_is_refused():
    automaton = dialect().automaton
    dead = automaton.run(b"\xff")
    two, three, last = (automaton.run(octets) for octets in (b"\xc2", b"\xe0", b"\xf1\x80"))
    for reason, state, octet, to in (
        ("at most four octets", two, 0x80, two),
        ("same upper nibble have different places", 0, 0x81, 0),
        ("second octets with the same upper nibble", three, 0xA1, dead),
        ("a third or fourth octet", last, 0x80, dead),
    ):
        with pytest.raises(ValueError, match=reason):
            Nibbles.of(automaton.redirected(state, octet, to))
    with pytest.raises(ValueError, match="at most four octets"):
        Nibbles.of(dialect("lax-rfc2279").automaton)


def test_defects_are_the_references():
    for octets in (b"\xc0\x80", b"a\xed\xa0\x80", b"\xf4\x90", b"\xe2\x82", b"\x80"):
        for text in (octets, b"a" * 100 + octets + b"a" * 100):
            with pytest.raises(IllFormed) as expected:
                decode_scalars(text)
            with pytest.raises(IllFormed) as found:
                UTF8.decode_scalars(text)
            assert str(found.value) == str(expected.value)


def test_octets_in_any_buffer():
    text = "aé€😀".encode() * 20
    numbers = [ord(each) for each in "aé€😀" * 20]
    array = np.frombuffer(text, np.uint8).copy()
    doubled = np.repeat(array, 2)
    spread = doubled[::2]
    for octets in (text, bytearray(text), memoryview(text), memoryview(doubled.tobytes())[::2], array, spread):
        assert UTF8.decode_scalars(octets).tolist() == numbers
        assert UTF8.is_well_formed(octets)
        assert UTF8.first_error(octets) is None
    assert array.flags.writeable
    assert UTF8.decode_scalars(b"").dtype == np.uint32
    with pytest.raises(TypeError, match="a row of uint8, not 1 dimensions of uint32"):
        UTF8.is_well_formed(array.astype(np.uint32))


@pytest.mark.parametrize("name", REFUSED)
def test_a_dialect_that_it_cannot_speak_is_refused_in_a_sentence(name):
    with pytest.raises(ValueError, match=rf"^{name}: .*{REFUSED[name]}.*; use overlong\.reference\.decode"):
        oracle(name)


def test_an_automaton_that_accepts_elsewhere_is_refused():
    spoken: Any = SimpleNamespace(**{name: getattr(dialect(), name) for name in ("name", "rule", "layout")})
    spoken.automaton = dialect().automaton.flipped(2)
    with pytest.raises(ValueError, match="in another state than its start"):
        Oracle(spoken)


@pytest.mark.parametrize("name", [name for name in DIALECTS if len(dialect(name).automaton) <= MOST_STATES])
def test_a_shift_automaton_is_the_automaton(name):
    automaton = dialect(name).automaton
    shifts, states = ShiftAutomaton(automaton), range(len(automaton))
    _, accepting, dead, _ = shifts.words
    assert [bool(accepting >> STEP * state & 1) for state in states] == list(automaton.accepting)
    assert dead == STEP * automaton.run(b"\xff")
    steps = [[shifts.rows[octet] >> STEP * state & STEP * MOST_STATES for octet in range(256)] for state in states]
    assert steps == [[STEP * to for to in row] for row in automaton.table]


def test_a_shift_automaton_has_fifteen_states_at_most():
    states = range(MOST_STATES + 1)
    chain = Automaton(tuple((min(state + 1, MOST_STATES),) * 256 for state in states), (True,) * len(states), ())
    with pytest.raises(ValueError, match="16 states does not fit"):
        ShiftAutomaton(chain)


def test_without_a_core_it_says_what_to_install():
    program = (
        "import overlong.reference.core.building as building\n"
        "building._compilers = lambda: iter(())\n"
        "import overlong.reference.native"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = found.stderr.splitlines()[-1]
    assert last.startswith(
        "ImportError: the oracle at machine speed needs the core in C: there is no C compiler on PATH;"
    )
    assert last.endswith("pip install '.[cc]'")
