"""The examples of Unicode's practice of one U+FFFD for each maximal subpart (chapter 3, tables 3-8 to 3-11)."""

from __future__ import annotations

from overlong.conformance.vectors.families.family import Family

FAMILY = Family("maximal-subpart", "one U+FFFD for each maximal subpart")


@FAMILY.case
def table_3_8() -> bytes:
    """Unicode table 3-8: overlong forms, one U+FFFD for each octet"""
    return bytes.fromhex("C0AFE080BFF0818241")


@FAMILY.case
def table_3_9() -> bytes:
    """Unicode table 3-9: surrogates, one U+FFFD for each octet"""
    return bytes.fromhex("EDA080EDBFBFEDAF41")


@FAMILY.case
def table_3_10() -> bytes:
    """Unicode table 3-10: other ill-formed sequences"""
    return bytes.fromhex("F4919293FF4180BF42")


@FAMILY.case
def table_3_11() -> bytes:
    """Unicode table 3-11: truncated sequences, one U+FFFD for each"""
    return bytes.fromhex("E180E2F09192F1BF41")


@FAMILY.case
def unicode_6() -> bytes:
    """Unicode 6: the example of best practice"""
    return bytes.fromhex("61F18080E180C262806380BF64")


@FAMILY.case
def three_octets_before_a_character() -> bytes:
    """a maximal subpart of three octets before a well-formed character"""
    return bytes.fromhex("F09F98E2829F")


@FAMILY.case
def two_of_two_octets() -> bytes:
    """two maximal subparts of two octets"""
    return bytes.fromhex("E0A0E0A0")


@FAMILY.cases("octets", (b"\xf0\x90\x80", b"\xf1\x80\x80", b"\xf4\x80\x80", b"\xf0\x90", b"\xe1\x80", b"\xc2"))
def each_length(octets: bytes) -> bytes:
    """{octets:hex} between letters: one maximal subpart, one U+FFFD"""
    return b"a" + octets + b"z"


@FAMILY.cases("octets", (b"\xe0\x80", b"\xed\xa0", b"\xf0\x80", b"\xf4\x90", b"\xf0\x8f\xbf", b"\xf4\x90\x80"))
def not_even_a_beginning(octets: bytes) -> bytes:
    """{octets:hex} between letters: no two of its octets belong together, one U+FFFD for each"""
    return b"a" + octets + b"z"
