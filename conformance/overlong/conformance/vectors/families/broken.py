"""Truncated characters, and tails without a character: each maximal subpart is one fault."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import class_octets, overlong, prefixes, truncated, well_formed
from overlong.conformance.vectors.families.family import Family
from overlong.reference import dialect
from overlong.reference.automaton import access_words

# Characters truncated by the end of the input.

TRUNCATED = Family("truncated", "characters cut short by the end of the input")


@TRUNCATED.cases("prefix", prefixes())
def at_the_end(prefix: bytes) -> bytes:
    """{prefix:hex}, which more octets could complete, at the end"""
    return prefix


@TRUNCATED.cases("prefix", prefixes())
def behind_ascii(prefix: bytes) -> bytes:
    """{prefix:hex} at the end, behind ASCII"""
    return b"a" + prefix


@TRUNCATED.cases("prefix", prefixes()[::2])
def behind_a_character(prefix: bytes) -> bytes:
    """{prefix:hex} at the end, behind a three-octet character"""
    return "€".encode() + prefix


# Characters interrupted by something else: an octet of each class, another character, another fragment.

INTERRUPTED = Family("interrupted", "characters cut short by something else")
_MACHINE = dialect().automaton


def _cannot_follow() -> list[tuple[bytes, int]]:
    """The least prefix that leads to each state, with the ends of every class of octets that cannot continue it."""
    states = [word for word in access_words(_MACHINE) if word and _MACHINE.run(word) != _MACHINE.dead]
    return [
        (prefix, octet)
        for prefix in states
        for octet in class_octets()
        if _MACHINE.table[_MACHINE.run(prefix)][octet] == _MACHINE.dead
    ]


@INTERRUPTED.cases("prefix, octet", _cannot_follow())
def by_an_octet_of_each_class(prefix: bytes, octet: int) -> bytes:
    """{prefix:hex} interrupted by {octet:02X}"""
    return prefix + bytes([octet])


@INTERRUPTED.cases("prefix", prefixes())
def by_ascii(prefix: bytes) -> bytes:
    """{prefix:hex} interrupted by a letter, which must survive"""
    return prefix + b"a"


@INTERRUPTED.cases("prefix", prefixes()[::2])
def by_a_quotation_mark(prefix: bytes) -> bytes:
    """{prefix:hex} interrupted by the quotation mark that should close a string"""
    return b'"' + prefix + b'"'


@INTERRUPTED.cases("prefix, scalar", product(prefixes()[::3], (0xE9, 0x20AC, 0x1F600)))
def by_a_character(prefix: bytes, scalar: int) -> bytes:
    """{prefix:hex} interrupted by U+{scalar:04X}, which must survive"""
    return prefix + well_formed(scalar)


@INTERRUPTED.cases("left, right", product((b"\xc3", b"\xe2", b"\xe2\x82", b"\xf0\x9f", b"\xf0\x9f\x98"), repeat=2))
def by_another(left: bytes, right: bytes) -> bytes:
    """{left:hex}, then {right:hex}: two characters cut short"""
    return left + right


@INTERRUPTED.case
def three_in_a_row() -> bytes:
    """three characters of different lengths cut short, then a letter"""
    return truncated(0x1F600, 3) + truncated(0x20AC, 2) + truncated(0xE9, 1) + b"a"


# Tail octets where a character must begin.

UNEXPECTED_TAIL = Family("unexpected-tail", "tail octets where a character must begin")
_TAILS = (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)
_OF_EACH_LENGTH = (0x61, 0xE9, 0x20AC, 0x1F600)


@UNEXPECTED_TAIL.cases("octet", _TAILS)
def alone(octet: int) -> bytes:
    """{octet:02X} alone"""
    return bytes([octet])


@UNEXPECTED_TAIL.cases("octet", _TAILS)
def between_letters(octet: int) -> bytes:
    """{octet:02X} between ASCII letters"""
    return b"a" + bytes([octet]) + b"z"


@UNEXPECTED_TAIL.cases("length", (2, 3, 4, 5, 6, 7, 8, 16, 64))
def run(length: int) -> bytes:
    """a run of {length} tail octets"""
    return b"\x80" * length


UNEXPECTED_TAIL.one("every-tail", bytes(range(0x80, 0xC0)), "all 64 tail octets in order")


@UNEXPECTED_TAIL.cases("scalar", _OF_EACH_LENGTH)
def one_too_many(scalar: int) -> bytes:
    """one tail octet too many after U+{scalar:04X}"""
    return well_formed(scalar) + b"\x80"


@UNEXPECTED_TAIL.cases("scalar", _OF_EACH_LENGTH)
def two_too_many(scalar: int) -> bytes:
    """two tail octets too many after U+{scalar:04X}, then a letter"""
    return well_formed(scalar) + b"\x80\xbf" + b"a"


@UNEXPECTED_TAIL.cases("scalar", _OF_EACH_LENGTH)
def before_a_character(scalar: int) -> bytes:
    """a tail octet before U+{scalar:04X}"""
    return b"\xbf" + well_formed(scalar)


UNEXPECTED_TAIL.one("after-an-overlong-form", overlong(0x2F, 2) + b"\x80", "a tail octet after an overlong form")

# Unicode's examples of one U+FFFD for each maximal subpart (chapter 3, tables 3-8 to 3-11).

MAXIMAL_SUBPART = Family("maximal-subpart", "one U+FFFD for each maximal subpart")


@MAXIMAL_SUBPART.case
def table_3_8() -> bytes:
    """Unicode table 3-8: overlong forms, one U+FFFD for each octet"""
    return bytes.fromhex("C0AFE080BFF0818241")


@MAXIMAL_SUBPART.case
def table_3_9() -> bytes:
    """Unicode table 3-9: surrogates, one U+FFFD for each octet"""
    return bytes.fromhex("EDA080EDBFBFEDAF41")


MAXIMAL_SUBPART.one("table-3-10", bytes.fromhex("F4919293FF4180BF42"), "Unicode table 3-10: other ill-formed sequences")


@MAXIMAL_SUBPART.case
def table_3_11() -> bytes:
    """Unicode table 3-11: truncated sequences, one U+FFFD for each"""
    return bytes.fromhex("E180E2F09192F1BF41")


MAXIMAL_SUBPART.one("unicode-6", bytes.fromhex("61F18080E180C262806380BF64"), "Unicode 6: the example of best practice")


@MAXIMAL_SUBPART.case
def three_octets_before_a_character() -> bytes:
    """a maximal subpart of three octets before a well-formed character"""
    return bytes.fromhex("F09F98E2829F")


MAXIMAL_SUBPART.one("two-of-two-octets", bytes.fromhex("E0A0E0A0"), "two maximal subparts of two octets")


@MAXIMAL_SUBPART.cases("octets", (b"\xf0\x90\x80", b"\xf1\x80\x80", b"\xf4\x80\x80", b"\xf0\x90", b"\xe1\x80", b"\xc2"))
def each_length(octets: bytes) -> bytes:
    """{octets:hex} between letters: one maximal subpart, one U+FFFD"""
    return b"a" + octets + b"z"


@MAXIMAL_SUBPART.cases("octets", (b"\xe0\x80", b"\xed\xa0", b"\xf0\x80", b"\xf4\x90", b"\xf0\x8f\xbf", b"\xf4\x90\x80"))
def not_even_a_beginning(octets: bytes) -> bytes:
    """{octets:hex} between letters: no two of its octets belong together, one U+FFFD for each"""
    return b"a" + octets + b"z"
