"""Error modes, each against an independent implementation: Python's codecs, or a loop written from the mode's
description. docs/behaviours.md names the test of each statement of the documents.
"""

from __future__ import annotations

import codecs
import re
from itertools import pairwise, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.reference import (
    ERROR_MODES,
    IllFormed,
    IncrementalDecoder,
    MaximalSubpart,
    NotEncodable,
    decode,
    decode_scalars,
    dialect,
    encode,
    encode_escaped,
    segments,
)
from overlong.reference.machine import output_machine

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = [name for name in ERROR_MODES if name != "fatal"]
EDGES = sorted(
    {end for octets in dialect().automaton.classes for run in octets.ranges for end in (run.low, run.high)}
    | {0xF7, 0xF8, 0xFB, 0xFC, 0xFD, 0xFE, 0x81}
)
PIECES = [
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x82\x82\xac", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"),
    *(b"\xfc\x84\x80\x80\x80\x80", b"\xf1\x80\x80", b"\xe2\x82", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xef\xbf\xbd"),
]
hostile = st.lists(
    st.one_of(
        st.sampled_from(EDGES).map(lambda octet: bytes([octet])),
        st.sampled_from(PIECES),
        st.binary(max_size=3),
        st.text(max_size=2).map(str.encode),
    ),
    max_size=8,
).map(b"".join)


# Independent implementations


def character_at(octets: bytes, place: int) -> str:
    """The character at ``place``, found by trial; empty if there is none."""
    for length in range(1, 5):
        try:
            return octets[place : place + length].decode()[:1]
        except UnicodeDecodeError:
            pass
    return ""


def announced(lead: int) -> int:
    """The number of octets that a lead octet announces, as in RFC 2279; 1 for any other octet."""
    ones = f"{lead:08b}".index("0") if lead < 0xFF else 8
    return ones if 2 <= ones <= 6 else 1


def tails(octets: bytes, place: int, most: int) -> int:
    count = 0
    while count < most and octets[place + count : place + count + 1] and octets[place + count] >> 6 == 2:
        count += 1
    return count


def one_octet(octets: bytes, place: int) -> int:
    return 1


def sequence(octets: bytes, place: int) -> int:
    return 1 + tails(octets, place + 1, announced(octets[place]) - 1)


def length(octets: bytes, place: int) -> int:
    """The length in Uutf: the number of octets that C2 to F4 announce, or all that are left."""
    return announced(octets[place]) if 0xC2 <= octets[place] <= 0xF4 else 1


def up_to_lead(octets: bytes, place: int) -> int:
    """The length in PHP: as in Uutf, but it ends before an octet that can begin a character."""
    end = place + 1
    while end < min(place + length(octets, place), len(octets)) and (0x80 <= octets[end] < 0xC2 or octets[end] > 0xF4):
        end += 1
    return end - place


def surrogate(octets: bytes, place: int) -> int:
    """The length in Java: three octets for a surrogate, and otherwise the length that Python's codec reports."""
    if octets[place] == 0xED and octets[place + 1 : place + 2] >= b"\xa0" and octets[place + 1] < 0xC0:
        return sequence(octets, place)
    try:
        octets[place:].decode()
    except UnicodeDecodeError as error:
        assert error.start == 0
        return error.end
    raise AssertionError(octets)


def loop(take: Callable[[bytes, int], int]) -> Callable[[bytes], str]:
    """A decoder that puts out U+FFFD where no character is, for the number of octets that ``take`` returns."""

    def decoded(octets: bytes) -> str:
        text, place = "", 0
        while place < len(octets):
            char = character_at(octets, place)
            text += char or "\ufffd"
            place += len(char.encode()) if char else take(octets, place)
        return text

    return decoded


def by_handler(name: str, stands_for: Callable[[bytes], str]) -> Callable[[bytes], str]:
    """Python's codec, with an error handler that receives each maximal subpart."""

    def handle(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return stands_for(error.object[error.start : error.end]), error.end

    codecs.register_error(f"overlong-{name}", handle)
    return lambda octets: octets.decode("utf-8", f"overlong-{name}")


def by_cp1252(octets: bytes) -> str:
    return "".join(bytes([o]).decode("latin-1" if o in b"\x81\x8d\x8f\x90\x9d" else "cp1252") for o in octets)


def by_runs(octets: bytes) -> str:
    return re.sub("[\udc80-\udcff]+", "\ufffd", octets.decode("utf-8", "surrogateescape"))


ORACLES: dict[str, Callable[[bytes], str]] = {
    "replacement": lambda octets: octets.decode("utf-8", "replace"),
    "replacement-per-octet": loop(one_octet),
    "replacement-per-sequence": loop(sequence),
    "replacement-per-length": loop(length),
    "replacement-up-to-lead": loop(up_to_lead),
    "replacement-per-surrogate": loop(surrogate),
    "replacement-per-run": by_runs,
    "skip": lambda octets: octets.decode("utf-8", "ignore"),
    "utf-8b": lambda octets: octets.decode("utf-8", "surrogateescape"),
    "iso-8859-1": by_handler("iso-8859-1", lambda octets: octets.decode("latin-1")),
    "windows-1252": by_handler("windows-1252", by_cp1252),
}


def test_every_mode_has_another_implementation() -> None:
    assert list(ORACLES) == MODES


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_agrees_with_another_implementation_on_all_strings_of_up_to_two_octets(mode: str) -> None:
    oracle = ORACLES[mode]
    for length in range(3):
        for octets in map(bytes, product(range(0x100), repeat=length)):
            assert decode(octets, mode) == oracle(octets)


@pytest.mark.long_after(1)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_agrees_with_another_implementation_on_its_own_complete_suite(mode: str) -> None:
    """If the other implementation has no more states than the mode's machine, the two never differ."""
    oracle = ORACLES[mode]
    strings = output_machine(dialect(), ERROR_MODES[mode]).complete_strings()
    for octets in {string[:end] for string in strings for end in range(len(string) + 1)}:
        assert decode(octets, mode) == oracle(octets)


@pytest.mark.long_after(6)
@pytest.mark.parametrize("mode", MODES)
@given(octets=hostile)
def test_a_mode_agrees_with_another_implementation(mode: str, octets: bytes) -> None:
    assert decode(octets, mode) == ORACLES[mode](octets)


# Known answers


@pytest.mark.parametrize(
    ("octets", "text"),
    [  # Unicode chapter 3, tables 3-8 to 3-11
        ("C0 AF E0 80 BF F0 81 82 41", "********A"),
        ("ED A0 80 ED BF BF ED AF 41", "********A"),
        ("F4 91 92 93 FF 41 80 BF 42", "*****A**B"),
        ("E1 80 E2 F0 91 92 F1 BF 41", "****A"),
    ],
)
def test_one_replacement_for_each_maximal_subpart(octets: str, text: str) -> None:
    assert decode(bytes.fromhex(octets), "replacement") == text.replace("*", "\ufffd")


@pytest.mark.parametrize(
    ("octets", "replaced"),
    [
        ("C0 80", {"replacement": "**", "per-octet": "**", "per-sequence": "*", "per-surrogate": "**", "per-run": "*"}),
        ("F0 82 82 AC", {"replacement": "****", "per-octet": "****", "per-sequence": "*", "per-run": "*"}),
        ("FC 84 80 80 80 80 80", {"replacement": "*******", "per-sequence": "**", "per-run": "*"}),
        ("ED A1 8C ED BE B4", {"replacement": "******", "per-sequence": "**", "per-surrogate": "**", "per-run": "*"}),
        ("E2 82 41", {"replacement": "*A", "per-octet": "**A", "per-sequence": "*A", "per-run": "*A"}),
        ("F1 80 80", {"replacement": "*", "per-octet": "***", "per-surrogate": "*", "per-run": "*"}),
    ],
)
def test_how_often_each_practice_replaces(octets: str, replaced: dict[str, str]) -> None:
    for name, text in replaced.items():
        mode = name if name == "replacement" else f"replacement-{name}"
        assert decode(bytes.fromhex(octets), mode) == text.replace("*", "\ufffd")


def test_80_is_the_euro_sign_in_windows_1252_and_a_control_in_iso_8859_1() -> None:
    assert decode(b"\x80", "windows-1252") == "\u20ac"
    assert decode(b"\x80", "iso-8859-1") == "\x80"
    assert decode(b"\x81\x8d\x8f\x90\x9d", "windows-1252") == "\x81\x8d\x8f\x90\x9d"


@given(st.text(st.characters(max_codepoint=0xFF)))
def test_latin_1_text_falls_back_unless_it_looks_like_utf_8(text: str) -> None:
    """Characters between ASCII characters all come back; so do runs of letters, whose octets are no tail octets."""
    for sure in (" ".join(text), re.sub("[\x80-\xbf]", "", text)):
        assert decode(sure.encode("latin-1"), "iso-8859-1") == sure


def test_every_ill_formed_octet_becomes_itself_in_the_fall_backs_and_in_utf_8b() -> None:
    for octet in range(0x80, 0x100):
        assert decode_scalars(bytes([octet]), "iso-8859-1") == (octet,)
        assert decode_scalars(bytes([octet]), "utf-8b") == (0xDC00 + octet,)
        assert decode(bytes([octet]), "windows-1252") == by_cp1252(bytes([octet]))


# Properties of all modes


@pytest.mark.parametrize("mode", ERROR_MODES)
@given(text=st.text())
def test_well_formed_text_is_the_same_in_every_mode(mode: str, text: str) -> None:
    assert decode(encode(text), mode) == text


@pytest.mark.parametrize("mode", [mode for mode in MODES if not ERROR_MODES[mode].swallows])
@given(octets=hostile)
def test_no_mode_makes_or_loses_ascii(mode: str, octets: bytes) -> None:
    """Ill-formed octets all have their high bit set, and no replacement is ASCII. Only swallowing loses ASCII."""
    assert [ord(char) for char in decode(octets, mode) if char < "\x80"] == [octet for octet in octets if octet < 0x80]


SWALLOWED = {
    "replacement-per-length": {  # Uutf's answers, observed with Uutf.String.fold_utf_8
        "C2 22": "*",
        "C2 C2 A9": "**",  # A9 has lost its lead
        "E0 80 AF": "*",
        "E2 82": "*",
        "E2 82 41 42": "*B",
        "F0 41 42": "*",
        "F0 41 E2 82 AC": "**",  # the mode swallows E2 82; AC is left
        "C0 41 F5 42": "*A*B",  # C0 and F5 are no leads
        "ED A0 80 41": "*A",
    },
    "replacement-up-to-lead": {  # PHP's answers, observed with htmlspecialchars and ENT_SUBSTITUTE
        "C2 FF": "*",
        "C0 80": "**",
        "E2 82 41": "*A",
        "F0 C0 80 FF 80": "**",
        "C2 C2 FF": "**",
        "ED A0 80": "*",
    },
}


@pytest.mark.parametrize("mode", SWALLOWED)
def test_what_is_swallowed(mode: str) -> None:
    for octets, text in SWALLOWED[mode].items():
        assert decode(bytes.fromhex(octets), mode) == text.replace("*", "\ufffd"), octets


@given(hostile)
def test_the_fatal_mode_refuses_what_is_ill_formed_and_says_where(octets: bytes) -> None:
    flaw = next((each for each in segments(octets) if isinstance(each, MaximalSubpart)), None)
    if flaw is None:
        assert decode(octets) == octets.decode()
    else:
        with pytest.raises(IllFormed) as caught:
            decode(octets)
        assert (caught.value.offset, caught.value.length) == (flaw.offset, flaw.length)
        assert decode(octets[: flaw.offset]) == octets[: flaw.offset].decode()


def test_every_mode_says_what_it_is() -> None:
    for name, mode in ERROR_MODES.items():
        assert mode.name == name
        assert mode.line
        assert mode.source
        assert (mode.stands_for is None) == (name == "fatal")
        assert mode.lossless == (name == "utf-8b")


# Escaped octets come back


@pytest.mark.long
def test_all_strings_of_up_to_two_octets_come_back_from_utf_8b() -> None:
    seen = set[tuple[int, ...]]()
    for length in range(3):
        for octets in map(bytes, product(range(0x100), repeat=length)):
            escaped = decode_scalars(octets, "utf-8b")
            assert encode_escaped(escaped) == octets
            seen.add(escaped)
    assert len(seen) == 1 + 0x100 + 0x10000


@given(hostile)
def test_all_strings_come_back_from_utf_8b(octets: bytes) -> None:
    escaped = decode_scalars(octets, "utf-8b")
    assert encode_escaped(escaped) == octets
    assert "".join(map(chr, escaped)).encode("utf-8", "surrogateescape") == octets


@given(st.lists(st.one_of(st.integers(0, 0x110000), st.integers(0xDC70, 0xDD10)), max_size=8))
def test_what_is_escaped_nowhere_is_not_encoded(scalars: list[int]) -> None:
    beyond = next((place for place, number in enumerate(scalars) if number > 0x10FFFF), len(scalars))
    text = "".join(map(chr, scalars[:beyond]))
    try:
        expected: bytes | int = text.encode("utf-8", "surrogateescape")
        if beyond < len(scalars):
            expected = beyond
    except UnicodeEncodeError as error:
        expected = error.start
    if isinstance(expected, bytes):
        assert encode_escaped(scalars) == expected
    else:
        with pytest.raises(NotEncodable) as caught:
            encode_escaped(scalars)
        assert (caught.value.index, caught.value.number) == (expected, scalars[expected])


# Streams


def fed(decoder: IncrementalDecoder, chunks: list[bytes]) -> str:
    return "".join(decoder.decode(chunk) for chunk in chunks) + decoder.decode(b"", final=True)


@pytest.mark.long_after(8)
@pytest.mark.parametrize("mode", MODES)
@given(octets=hostile)
def test_a_stream_in_two_chunks_or_octet_by_octet_gives_the_whole(mode: str, octets: bytes) -> None:
    whole = decode(octets, mode)
    for cut in range(len(octets) + 1):
        assert fed(IncrementalDecoder(mode), [octets[:cut], octets[cut:]]) == whole
        decoder = IncrementalDecoder(mode)
        assert decoder.decode(octets[:cut]) + decoder.decode(octets[cut:], final=True) == whole
    assert fed(IncrementalDecoder(mode), [bytes([octet]) for octet in octets]) == whole


@pytest.mark.long_after(7)
@pytest.mark.parametrize("mode", MODES)
@given(octets=hostile, other=hostile, data=st.data())
def test_a_state_can_be_kept_and_taken_up_anywhere(mode: str, octets: bytes, other: bytes, data: st.DataObject) -> None:
    """Another decoder can take it up, or the same one after it has read something else."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(octets)), max_size=4)))
    decoder, text = IncrementalDecoder(mode), ""
    for start, end in pairwise([0, *cuts, len(octets)]):
        text += decoder.decode(octets[start:end])
        kept, number = state = decoder.getstate()
        assert octets[:end].endswith(kept)
        assert len(kept) <= 3
        assert number >= 0
        fed(decoder, [other])
        decoder.setstate(state)
        assert decoder.getstate() == state
        decoder = IncrementalDecoder(mode)
        decoder.setstate(state)
    assert text + decoder.decode(b"", final=True) == decode(octets, mode)


@pytest.mark.long_after(6)
@pytest.mark.parametrize("mode", MODES)
@given(octets=hostile, other=hostile)
def test_a_decoder_that_is_reset_forgets(mode: str, octets: bytes, other: bytes) -> None:
    decoder = IncrementalDecoder(mode)
    decoder.decode(other)
    decoder.reset()
    assert decoder.getstate() == IncrementalDecoder(mode).getstate()
    assert fed(decoder, [octets]) == decode(octets, mode)


@pytest.mark.parametrize("mode", ERROR_MODES)
@given(text=st.text())
def test_each_character_is_out_with_its_last_octet(mode: str, text: str) -> None:
    """The decoder waits neither for the next character's first octet nor for the end."""
    decoder = IncrementalDecoder(mode)
    for char in text:
        *first, last = encode(char)
        assert [decoder.decode(bytes([octet])) for octet in first] == [""] * len(first)
        assert decoder.decode(bytes([last])) == char
        assert decoder.getstate()[0] == b""
