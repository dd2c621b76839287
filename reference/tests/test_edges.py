"""Code that no other test of the reference reaches: order by counting, messages of errors, unusual machines."""

from dataclasses import replace
from itertools import islice

import pytest

from overlong.reference import Decoded, Rejected, dialect, encode_scalars, outcome
from overlong.reference.automaton import Automaton
from overlong.reference.decoder import segment
from overlong.reference.defect import FOREIGN
from overlong.reference.error_mode import ERROR_MODES, MaximalSubpart
from overlong.reference.machine import (
    ACCEPTED,
    OTHER_VALUES,
    PAIRS_JOINED,
    REFUSED,
    REFUSED_AT_THE_END,
    SIGNATURE_DROPPED,
    OutputChange,
    Traced,
    Transducer,
    detection_machine,
    differences,
    joined_from,
    output_change,
    output_machine,
    release_machine,
    verdict,
)
from overlong.reference.order import Ranking, characters, from_utf16, scalar_of_rank, scalar_values

AUTOMATON = dialect().automaton
EDGES = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]


@pytest.mark.parametrize("number", EDGES)
def test_the_rank_of_a_character_is_its_number_less_the_gap(number):
    ranking = Ranking(AUTOMATON)
    rank = ranking.rank(chr(number).encode())
    assert ranking.rank(chr(number).encode()) == rank
    assert rank == (number if number < 0xD800 else number - 0x800)
    assert scalar_of_rank(rank) == number


def test_characters_come_in_octet_order_from_one_octet_to_four():
    found = characters(AUTOMATON)
    first = [next(found) for _ in range(0x80 + 0x780 + 1)]
    assert first == sorted(first)
    assert first[-1] == "\u0800".encode()
    three = Automaton((((0,) * 3 + (1,) * 253), (1,) * 256), (True, False), (frozenset(),) * 2)
    assert list(characters(three)) == [b"\0", b"\1", b"\2"]
    assert list(islice(scalar_values(), 0xD7FF, 0xD801)) == [0xD7FF, 0xE000]


def test_halves_that_meet_are_joined_and_others_stay():
    units = [0x41, 0xD83D, 0xDE00, 0xD800, 0x41, 0xDC00, 0xD800]
    assert list(from_utf16(units)) == [(0, 0x41), (1, 0x1F600), (3, 0xD800), (4, 0x41), (5, 0xDC00), (6, 0xD800)]


@pytest.mark.parametrize("offset", [-1, 1, 2])
def test_a_segment_stands_inside(offset):
    with pytest.raises(IndexError, match=f"offset {offset} is not inside 1 octets"):
        segment(b"a", offset)


def test_errors_say_what_and_where():
    with pytest.raises(ValueError, match=r"^D800 at index 1 is not a Unicode scalar value"):
        encode_scalars([0x41, 0xD800])
    position = min(dialect().unfolded.open[0], key=lambda each: each.index)
    assert str(position) == f"{position.octets} ({position.form})"


def test_an_automaton_may_have_no_dead_state():
    everything = Automaton(((0,) * 256,), (True,), (frozenset(),))
    assert everything.dead is None
    assert AUTOMATON.dead is not None


def test_an_acceptor_says_after_each_octet_whether_it_accepts():
    machine = Transducer.of(AUTOMATON)
    assert machine.along(b"a\xc3\xa9") == (True, False, True)
    assert machine.along(b"\xa9", machine.run(b"\xc3")) == (True,)
    assert list(differences(machine, machine)) == []
    assert machine.minimal().access_words[:2] == (b"", b"\x80")
    assert machine.minimal().along(b"\xff\x41") == (False, False)


@pytest.mark.parametrize(
    ("name", "octets", "said"),
    [
        ("rfc3629", "41", ACCEPTED),
        ("rfc3629", "ED A0", REFUSED),
        ("cesu-8", "ED A0 BD ED B8 80", PAIRS_JOINED),
        ("utf-8-sig", "EF BB BF 41", SIGNATURE_DROPPED),
        ("mutf-8", "C0 80", ACCEPTED),
    ],
)
def test_by_which_rule_octets_are_read(name, octets, said):
    read = bytes.fromhex(octets)
    assert verdict(read, outcome(read, "fatal", dialect(name))) == said


def test_other_numbers_are_another_reading():
    assert verdict(b"A", Decoded((0x42,))) == OTHER_VALUES
    assert verdict(b"\xff", Decoded((0x42,))) == OTHER_VALUES
    assert verdict(b"\xff", Rejected(0, 1, incomplete=False)) == REFUSED


def test_where_a_number_comes_from():
    pair = bytes.fromhex("ED A0 BD ED B8 80")
    assert joined_from(pair) == 0x1F600
    for no_pair in (pair[:5], pair[3:] + pair[:3], b"\xe0\xa0\x80" * 2, b"abcdef"):
        assert joined_from(no_pair) is None
    assert output_change(b"\xc1\xbf", (), (0x7F,)).added == (Traced("octets", 2),)


def test_a_stream_is_refused_at_once_or_at_the_end():
    machine = detection_machine(dialect())
    assert machine.along(b"a\xe2\x82\xac\xe2\x41") == (
        ACCEPTED, REFUSED_AT_THE_END, REFUSED_AT_THE_END, ACCEPTED, REFUSED_AT_THE_END, REFUSED,
    )  # fmt: skip


def changes(machine: Transducer, octets: bytes) -> list[OutputChange]:
    return [change for change in machine.along(octets) if isinstance(change, OutputChange)]


def test_what_may_still_become_a_character_is_held_back():
    machine = release_machine(dialect(), ERROR_MODES["replacement"])
    assert [len(change.added) for change in changes(machine, b"a\xe2\x82\xac\xe2\x41")] == [1, 0, 0, 1, 0, 2]


def test_a_layout_whose_octets_depend_on_their_character_is_not_compiled():
    automaton, layout = dialect().automaton, dialect().layout
    (*rows, last) = layout.rows
    lead, tail, *rest = last.templates
    moved = replace(last, templates=(lead, replace(tail, free=tail.free - 1), *rest))
    with pytest.raises(ValueError, match=r"the bits of octet .. depend on its character"):
        replace(layout, rows=(*rows, moved)).bits_by_octet([state != automaton.dead for state in automaton.table[0]])


def test_what_a_lead_announces_is_swallowed_however_it_breaks_off():
    machine = output_machine(dialect(), ERROR_MODES["replacement-per-length"])
    assert sum(len(change.added) - change.dropped for change in changes(machine, b"\xe0\x41\x41\x42")) == 2


def test_what_another_dialect_refuses_is_foreign_there():
    found = segment(b"\0", 0, dialect("mutf-8"))
    assert isinstance(found, MaximalSubpart)
    assert found.defect is FOREIGN
