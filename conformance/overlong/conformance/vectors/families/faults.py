"""Ill-formed octets: what spells no scalar value or spells one unlawfully, and characters that are not whole."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.families.family import (
    Family,
    class_octets,
    out_of_range,
    overlong,
    prefixes,
    surrogate,
    surrogate_pair,
    truncated,
    well_formed,
)
from overlong.reference import dialect
from overlong.reference.automaton import access_words
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS

# Characters in more octets than they need (RFC 3629 sections 3 and 10).

OVERLONG = Family("overlong", "characters in more octets than they need")
FILTERED = {
    0x2F: "'/'", 0x2E: "'.'", 0x5C: "'\\'", 0x3C: "'<'", 0x3E: "'>'", 0x27: "single quote", 0x22: "double quote",
    0x00: "NUL", 0x0D: "CR", 0x0A: "LF", 0x25: "'%'",
}  # fmt: skip
"""Characters that filters search for."""
ROWS = load_layout("rfc2279").rows


@OVERLONG.cases("scalar, name, length", [(*pair, length) for pair, length in product(FILTERED.items(), range(2, 7))])
def filtered_character(scalar: int, name: str, length: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{scalar:04X} {name} in {length:octets}: a filter that looks for it does not see it"""
    return overlong(scalar, length)


@OVERLONG.cases(
    "scalar, needed, length",
    [
        (scalar, needed + 1, length)
        for needed, row in enumerate(ROWS)
        for length in range(needed + 2, len(ROWS) + 1)
        for scalar in (row.numbers.start, row.numbers.stop - 1)
    ],
)
def every_longer_length(scalar: int, needed: int, length: int) -> bytes:
    """the number {scalar:X}, which has {needed:octets}, in {length:octets}"""
    del needed
    return overlong(scalar, length)


@OVERLONG.cases("scalar, length", ((0xD7FF, 4), (0xE000, 4), (0x10FFFF, 5), (0x10FFFF, 6)))
def end_of_a_range(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}"""
    return overlong(scalar, length)


@OVERLONG.cases("lead", (0xC0, 0xC1))
def overlong_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin an overlong form"""
    return bytes([lead])


@OVERLONG.cases("lead", (0xC0, 0xC1))
def overlong_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"A"


@OVERLONG.cases("scalar, length", ((0x2F, 2), (0x7FF, 3), (0xFFFF, 4)))
def between_characters(scalar: int, length: int) -> bytes:
    """U+{scalar:04X} in {length:octets}, between well-formed characters"""
    return well_formed(0xE9) + overlong(scalar, length) + well_formed(0x20AC)


@OVERLONG.cases("scalar, length, count", ((0x2F, 3, 2), (0x2F, 4, 2), (0x2F, 4, 3)))
def overlong_cut_short(scalar: int, length: int, count: int) -> bytes:
    """the first {count:octets} of U+{scalar:04X} in {length:octets}: nothing can complete them"""
    return overlong(scalar, length)[:count]


# Surrogates: halves of UTF-16 pairs, which are not characters (RFC 3629 section 3; Unicode D71 to D75).

SURROGATE = Family("surrogate", "halves of UTF-16 pairs, which are no characters")
NAMED = {
    0xD800: "the first high surrogate",
    0xDB7F: "the last high surrogate that is not private",
    0xDB80: "the first private high surrogate",
    0xDBFF: "the last high surrogate",
    0xDC00: "the first low surrogate",
    0xDFFF: "the last low surrogate",
}


@SURROGATE.cases("code_point, name", NAMED.items())
def surrogate_alone(code_point: int, name: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """U+{code_point:04X}, {name}"""
    return surrogate(code_point)


@SURROGATE.cases("code_point", NAMED)
def surrogate_between_letters(code_point: int) -> bytes:
    """U+{code_point:04X} between ASCII letters"""
    return b"a" + surrogate(code_point) + b"z"


@SURROGATE.cases("code_point", range(0xD800, 0xE000, 0x40))
def each_second_octet(code_point: int) -> bytes:
    """U+{code_point:04X}: one surrogate for every octet that can follow ED"""
    return surrogate(code_point)


SURROGATE.one("pair-of-the-rfc", surrogate_pair(0x233B4), "RFC 3629 section 3: the surrogate pair of U+233B4")


@SURROGATE.cases("scalar", (0x10000, 0x103FF, 0x1F600, 0x10FC00, 0x10FFFF))
def pair(scalar: int) -> bytes:
    """the surrogate pair of U+{scalar:04X}, as CESU-8 writes it"""
    return surrogate_pair(scalar)


SURROGATE.one("reversed-pair", surrogate(0xDC00) + surrogate(0xD800), "a low surrogate before a high one")
SURROGATE.one("two-high", surrogate(0xD800) * 2, "two high surrogates")
SURROGATE.one("two-low", surrogate(0xDC00) * 2, "two low surrogates")


@SURROGATE.case
def high_then_character() -> bytes:
    """a high surrogate before a four-octet character"""
    return surrogate(0xD83D) + well_formed(0x1F600)


@SURROGATE.case
def half_of_a_pair_cut_short() -> bytes:
    """a high surrogate and the first two octets of a low one"""
    return surrogate(0xD83D) + surrogate(0xDE00)[:2]


@SURROGATE.cases("code_point", (0xD800, 0xDFFF))
def surrogate_cut_short(code_point: int) -> bytes:
    """U+{code_point:04X} cut short: these two octets already begin no character"""
    return surrogate(code_point)[:2]


@SURROGATE.case
def before_the_first_character_after_it() -> bytes:
    """the last surrogate before the first character after it"""
    return surrogate(0xDFFF) + well_formed(0xE000)


# Numbers beyond U+10FFFF in four octets (RFC 3629 section 3).

OUT_OF_RANGE = Family("out-of-range", "numbers beyond U+10FFFF")
_LAST_OF_FOUR = load_layout("rfc2279").rows[3].numbers.stop - 1


@OUT_OF_RANGE.cases("number", (CODE_POINTS.stop, 0x13FFFF, 0x140000, 0x17FFFF, 0x180000, 0x1C0000, _LAST_OF_FOUR))
def beyond(number: int) -> bytes:
    """{number:X}: beyond U+10FFFF in four octets"""
    return out_of_range(number)


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def out_of_range_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone: it could only begin a number beyond U+10FFFF"""
    return bytes([lead])


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def lead_with_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets"""
    return bytes([lead]) + b"\x80\x80\x80"


@OUT_OF_RANGE.cases("lead", range(0xF5, 0xF8))
def out_of_range_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@OUT_OF_RANGE.cases("count", (2, 3))
def out_of_range_cut_short(count: int) -> bytes:
    """the first {count:octets} of 110000: nothing can complete them"""
    return out_of_range(CODE_POINTS.stop)[:count]


@OUT_OF_RANGE.case
def out_of_range_between_letters() -> bytes:
    """beyond the range, between ASCII letters"""
    return b"a" + out_of_range(CODE_POINTS.stop) + b"z"


# Forms of five and six octets, which RFC 2279 allowed until 2003.

OBSOLETE = Family("obsolete", "forms of five and six octets, which only RFC 2279 knew")
_LEADS = range(0xF8, 0xFE)


@OBSOLETE.cases("number", (0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF))
def number(number: int) -> bytes:
    """{number:X}, as RFC 2279 wrote it"""
    return out_of_range(number)


@OBSOLETE.cases("lead", _LEADS)
def obsolete_lead_alone(lead: int) -> bytes:
    """{lead:02X} alone"""
    return bytes([lead])


@OBSOLETE.cases("lead", _LEADS)
def obsolete_lead_before_ascii(lead: int) -> bytes:
    """{lead:02X} before ASCII, which must survive"""
    return bytes([lead]) + b"a"


@OBSOLETE.cases("lead", _LEADS)
def lead_with_three_tails(lead: int) -> bytes:
    """{lead:02X} with three tail octets, as if it were a lead of four"""
    return bytes([lead]) + b"\x80\x80\x80"


OBSOLETE.one("between-letters", b"a" + out_of_range(0x200000) + b"z", "five octets between ASCII letters")

# FE and FF, which no version of UTF-8 ever used.

IMPOSSIBLE = Family("impossible", "FE and FF, which no UTF-8 ever used")


@IMPOSSIBLE.cases("octets", (b"\xfe", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xff" * 4, b"\xfe\x80\x80\x80\x80\x80\x80"))
def octets(octets: bytes) -> bytes:
    """{octets}: no UTF-8 ever used FE or FF"""
    return octets


@IMPOSSIBLE.cases("octet", (0xFE, 0xFF))
def impossible_between_letters(octet: int) -> bytes:
    """{octet:02X} between ASCII letters"""
    return b"a" + bytes([octet]) + b"z"


@IMPOSSIBLE.cases("scalar", (0xE9, 0x20AC, 0x1F600))
def after_a_character(scalar: int) -> bytes:
    """FF after U+{scalar:04X}"""
    return well_formed(scalar) + b"\xff"


# Characters truncated by the end of the input.

TRUNCATED = Family("truncated", "characters cut short by the end of the input")


@TRUNCATED.cases("prefix", prefixes())
def at_the_end(prefix: bytes) -> bytes:
    """{prefix}, which more octets could complete, at the end"""
    return prefix


@TRUNCATED.cases("prefix", prefixes())
def behind_ascii(prefix: bytes) -> bytes:
    """{prefix} at the end, behind ASCII"""
    return b"a" + prefix


@TRUNCATED.cases("prefix", prefixes()[::2])
def behind_a_character(prefix: bytes) -> bytes:
    """{prefix} at the end, behind a three-octet character"""
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
    """{prefix} interrupted by {octet:02X}"""
    return prefix + bytes([octet])


@INTERRUPTED.cases("prefix", prefixes())
def by_ascii(prefix: bytes) -> bytes:
    """{prefix} interrupted by a letter, which must survive"""
    return prefix + b"a"


@INTERRUPTED.cases("prefix", prefixes()[::2])
def by_a_quotation_mark(prefix: bytes) -> bytes:
    """{prefix} interrupted by the quotation mark that should close a string"""
    return b'"' + prefix + b'"'


@INTERRUPTED.cases("prefix, scalar", product(prefixes()[::3], (0xE9, 0x20AC, 0x1F600)))
def by_a_character(prefix: bytes, scalar: int) -> bytes:
    """{prefix} interrupted by U+{scalar:04X}, which must survive"""
    return prefix + well_formed(scalar)


@INTERRUPTED.cases("left, right", product((b"\xc3", b"\xe2", b"\xe2\x82", b"\xf0\x9f", b"\xf0\x9f\x98"), repeat=2))
def by_another(left: bytes, right: bytes) -> bytes:
    """{left}, then {right}: two characters cut short"""
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
def unexpected_tail_alone(octet: int) -> bytes:
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
    """{octets} between letters: one maximal subpart, one U+FFFD"""
    return b"a" + octets + b"z"


@MAXIMAL_SUBPART.cases("octets", (b"\xe0\x80", b"\xed\xa0", b"\xf0\x80", b"\xf4\x90", b"\xf0\x8f\xbf", b"\xf4\x90\x80"))
def not_even_a_beginning(octets: bytes) -> bytes:
    """{octets} between letters: no two of its octets belong together, one U+FFFD for each"""
    return b"a" + octets + b"z"
