"""The core: vectors that a person reads. Each is one fault (or one lawful edge), and says which in a sentence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.builders import (
    out_of_range,
    overlong,
    surrogate,
    surrogate_pair,
    truncated,
    well_formed,
)
from overlong.conformance.suites.suite import Suite, in_batches
from overlong.conformance.vector import Vector
from overlong.reference import dialect
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Case = tuple[bytes, str]

FILTERED = {
    0x2F: "'/'", 0x2E: "'.'", 0x5C: "'\\'", 0x3C: "'<'", 0x3E: "'>'", 0x27: "single quote", 0x22: "double quote",
    0x00: "NUL", 0x0D: "CR", 0x0A: "LF", 0x25: "'%'",
}  # fmt: skip
"""Characters that filters look for."""


def lawful() -> Iterator[Case]:
    yield b"", "nothing at all is well-formed"
    yield well_formed(0x41, 0x2262, 0x391, 0x2E), "RFC 3629 section 7: A, not identical to, Alpha, full stop"
    yield well_formed(0xD55C, 0xAD6D, 0xC5B4), "RFC 3629 section 7: hangugo"
    yield well_formed(0x65E5, 0x672C, 0x8A9E), "RFC 3629 section 7: nihongo"
    yield well_formed(0xFEFF, 0x233B4), "RFC 3629 section 7: a signature and U+233B4"
    yield well_formed(0), "NUL is a character like any other"
    yield well_formed(0x61, 0, 0x62), "NUL inside a text does not end it"
    yield well_formed(0xFEFF), "U+FEFF alone"
    yield well_formed(0x61, 0xFEFF), "U+FEFF inside a text is a character"
    yield well_formed(0xFEFF, 0xFEFF), "U+FEFF twice: at most one is a signature"
    yield well_formed(0xFFFD), "U+FFFD itself is well-formed: seeing it is not an error"
    for scalar in (0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x1FFFF, 0x10FFFE, 0x10FFFF):
        yield well_formed(scalar), f"U+{scalar:04X} is a noncharacter, and a scalar value"
    yield well_formed(0xE9, 0x20AC, 0x1F600, 0x7A), "every length after another, descending at the end"
    yield well_formed(0x7A, 0x1F600, 0x20AC, 0xE9), "every length after another, ascending at the end"
    yield well_formed(*range(0x20, 0x7F)), "all of printable ASCII"
    yield b"a" * 62 + well_formed(0x20AC) + b"a" * 20, "a character across a block of 64"


def boundary() -> Iterator[Case]:
    for ranges in well_formed_products(dialect().automaton):
        first, last = (bytes(octets[end] for octets in ranges) for end in (0, -1))
        name = " ".join(f"{octets[0]:02X}-{octets[-1]:02X}" for octets in ranges)
        yield first, f"the first character of {name}"
        yield last, f"the last character of {name}"
    for scalar in (0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000):
        yield well_formed(0x41, scalar, 0x5A), f"U+{scalar:04X} between ASCII letters"


def overlong_form() -> Iterator[Case]:
    for scalar, name in FILTERED.items():
        for length in range(2, 7):
            yield overlong(scalar, length), f"U+{scalar:04X} {name} in {length} octets"
    for scalar, length in ((0x7F, 2), (0x7FF, 3), (0xFFFF, 4), (0x1FFFFF, 5), (0x3FFFFFF, 6)):
        yield overlong(scalar, length), f"the largest overlong number in {length} octets"
    for scalar, length in ((0x80, 3), (0x80, 4), (0x800, 4), (0xD7FF, 4), (0xE000, 4), (0x10000, 5), (0x10FFFF, 6)):
        yield overlong(scalar, length), f"U+{scalar:04X} in {length} octets"
    yield b"\x2f\xc0\xae\x2e\x2f", 'RFC 3629 section 10: "/../" with an overlong full stop'
    yield b"\xc0\x80", "RFC 3629 section 3: NUL in two octets, as Java's modified UTF-8 writes it"
    yield b"\xc0", "C0 alone: it could only begin an overlong form"
    yield b"\xc1", "C1 alone: it could only begin an overlong form"
    yield b"\xc1\x41", "C1 before ASCII, which must survive"


def surrogate_form() -> Iterator[Case]:
    for code_point, name in (
        (0xD800, "the first high surrogate"),
        (0xDB7F, "the last high surrogate that is not private"),
        (0xDB80, "the first private high surrogate"),
        (0xDBFF, "the last high surrogate"),
        (0xDC00, "the first low surrogate"),
        (0xDFFF, "the last low surrogate"),
    ):
        yield surrogate(code_point), f"U+{code_point:04X}, {name}"
        yield b"a" + surrogate(code_point) + b"z", f"U+{code_point:04X} between ASCII letters"
    yield surrogate_pair(0x233B4), "RFC 3629 section 3: the surrogate pair of U+233B4"
    yield surrogate_pair(0x10000), "the surrogate pair of U+10000, as CESU-8 writes it"
    yield surrogate_pair(0x10FFFF), "the surrogate pair of U+10FFFF, as CESU-8 writes it"
    yield surrogate(0xDC00) + surrogate(0xD800), "a reversed pair"
    yield surrogate(0xD800) * 2, "two high surrogates"
    yield surrogate(0xD800)[:2], "a surrogate cut short: ED A0 already begins no character"
    yield surrogate(0xDFFF) + well_formed(0xE000), "the last surrogate before the first character after it"


def out_of_range_form() -> Iterator[Case]:
    for number in (0x110000, 0x13FFFF, 0x140000, 0x1FFFFF):
        yield out_of_range(number), f"{number:X}: beyond U+10FFFF in four octets"
    for lead in range(0xF5, 0xF8):
        yield bytes([lead]), f"{lead:02X} alone: it could only begin a number beyond U+10FFFF"
        yield bytes([lead, 0x80, 0x80, 0x80]), f"{lead:02X} with three tail octets"
    yield b"\xf4\x90", "F4 90: beyond the range before the third octet"
    yield b"a\xf4\x90\x80\x80z", "beyond the range, between ASCII letters"


def obsolete_form() -> Iterator[Case]:
    for number in (0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF):
        octets = out_of_range(number)
        yield octets, f"{number:X} in {len(octets)} octets, as RFC 2279 had it"
    for lead in range(0xF8, 0xFE):
        yield bytes([lead]), f"{lead:02X} alone"
        yield bytes([lead]) + b"a", f"{lead:02X} before ASCII, which must survive"


def impossible_octet() -> Iterator[Case]:
    for octets in (b"\xfe", b"\xff", b"\xfe\xff", b"\xff\xfe", b"a\xffz", b"\xff" * 4, b"\xfe\x80\x80\x80\x80\x80\x80"):
        yield octets, f"{octets.hex(' ').upper()}: no UTF-8 ever used FE or FF"


def truncated_sequence() -> Iterator[Case]:
    for scalar in (0x80, 0x7FF, 0x800, 0x1000, 0xD7FF, 0xFFFF, 0x10000, 0x40000, 0x10FFFF):
        for octets in range(1, len(well_formed(scalar))):
            cut = truncated(scalar, octets)
            yield cut, f"U+{scalar:04X} after {octets} of {len(well_formed(scalar))} octets, at the end"
            yield b"a" + cut, f"U+{scalar:04X} after {_octets(octets)}, at the end, behind ASCII"


def interrupted_sequence() -> Iterator[Case]:
    interrupters = {
        b"a": "ASCII",
        b'"': "a quotation mark",
        b"\xc3\xa9": "a two-octet character",
        b"\xe2\x82\xac": "a three-octet character",
        b"\xf0\x9f\x98\x80": "a four-octet character",
        b"\xc0": "an impossible lead octet",
        b"\xff": "FF",
    }
    for scalar in (0xE9, 0x800, 0x20AC, 0xD7FF, 0x10000, 0x40000, 0x10FFFF):
        for octets in range(1, len(well_formed(scalar))):
            for interrupter, name in interrupters.items():
                yield (
                    truncated(scalar, octets) + interrupter,
                    f"U+{scalar:04X} after {_octets(octets)}, interrupted by {name}",
                )
    yield truncated(0x20AC, 2) + truncated(0x1F600, 3), "one truncated sequence after another"
    yield truncated(0x1F600, 3) + truncated(0x20AC, 2) + b"a", "one truncated sequence after another, then ASCII"


def unexpected_tail() -> Iterator[Case]:
    for octet in (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF):
        yield bytes([octet]), f"{octet:02X} alone"
    for length in (2, 3, 4, 5, 8, 64):
        yield b"\x80" * length, f"a run of {length} tail octets"
    for scalar in (0x61, 0xE9, 0x20AC, 0x1F600):
        character = well_formed(scalar)
        yield character + b"\x80", f"one tail octet too many after U+{scalar:04X}"
        yield b"\xbf" + character, f"a tail octet before U+{scalar:04X}"


def maximal_subpart() -> Iterator[Case]:
    yield bytes.fromhex("C0AFE080BFF0818241"), "Unicode table 3-8: overlong forms, one U+FFFD for each octet"
    yield bytes.fromhex("EDA080EDBFBFEDAF41"), "Unicode table 3-9: surrogates, one U+FFFD for each octet"
    yield bytes.fromhex("F4919293FF4180BF42"), "Unicode table 3-10: other ill-formed sequences"
    yield bytes.fromhex("E180E2F09192F1BF41"), "Unicode table 3-11: truncated sequences, one U+FFFD for each"
    yield bytes.fromhex("61F18080E180C262806380BF64"), "Unicode 6: the example of best practice"
    yield bytes.fromhex("F09F98E2829F"), "a maximal subpart of three octets before a well-formed character"
    yield bytes.fromhex("E0A0E0A0"), "two maximal subparts of two octets"


def resynchronisation() -> Iterator[Case]:
    yield b"a" * 20 + b"\xff" + b"b" * 20, "FF in the middle of ASCII"
    yield b"a" * 63 + b"\xff", "FF as the last octet of a block of 64"
    yield b"a" * 64 + b"\xff", "FF as the first octet after a block of 64"
    yield b"a" * 15 + out_of_range(0x110000), "beyond the range after 15 octets of ASCII"
    yield b"a" * 31 + truncated(0xE9, 1), "a lead octet as the last of 32"
    yield b"a" * 127 + b"\xd8" + b"a" * 128, "a truncated sequence at octet 127"
    yield well_formed(*[0x20AC] * 50) + b"\x80", "one tail octet too many after 150 octets of three-octet characters"


def _octets(count: int) -> str:
    return "1 octet" if count == 1 else f"{count} octets"


FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "well-formed": lawful,
    "boundary": boundary,
    "overlong": overlong_form,
    "surrogate": surrogate_form,
    "out-of-range": out_of_range_form,
    "obsolete": obsolete_form,
    "impossible": impossible_octet,
    "truncated": truncated_sequence,
    "interrupted": interrupted_sequence,
    "unexpected-tail": unexpected_tail,
    "maximal-subpart": maximal_subpart,
    "resynchronisation": resynchronisation,
}


@cache
def core_vectors() -> tuple[Vector, ...]:
    """All of them, each input once: the first family that has it keeps it."""
    seen: dict[bytes, Vector] = {}
    for category, family in FAMILIES.items():
        for octets, comment in family():
            seen.setdefault(octets, Vector(category, octets, comment))
    return tuple(seen.values())


CORE = Suite(
    "core",
    "each known kind of fault, one at a time, named",
    lambda: in_batches(core_vectors()),
    lambda: len(core_vectors()),
)
