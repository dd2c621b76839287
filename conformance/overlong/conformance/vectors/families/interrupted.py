"""Characters cut short by something else: an octet of each class, another character, another fragment."""

from __future__ import annotations

from itertools import product

from overlong.conformance.vectors.builders import truncated, well_formed
from overlong.conformance.vectors.families.edges import class_octets, prefixes
from overlong.conformance.vectors.families.family import Family
from overlong.reference import dialect
from overlong.reference.theory import access_words

FAMILY = Family("interrupted", "characters cut short by something else")

_MACHINE = dialect().automaton


def _cannot_follow() -> list[tuple[bytes, int]]:
    """For each state, its least prefix with the ends of every class of octets that cannot continue it."""
    states = [word for word in access_words(_MACHINE) if word and _MACHINE.run(word) != _MACHINE.dead]
    return [
        (prefix, octet)
        for prefix in states
        for octet in class_octets()
        if _MACHINE.table[_MACHINE.run(prefix)][octet] == _MACHINE.dead
    ]


@FAMILY.cases("prefix, octet", _cannot_follow())
def by_an_octet_of_each_class(prefix: bytes, octet: int) -> bytes:
    """{prefix:hex} interrupted by {octet:02X}"""
    return prefix + bytes([octet])


@FAMILY.cases("prefix", prefixes())
def by_ascii(prefix: bytes) -> bytes:
    """{prefix:hex} interrupted by a letter, which must survive"""
    return prefix + b"a"


@FAMILY.cases("prefix", prefixes()[::2])
def by_a_quotation_mark(prefix: bytes) -> bytes:
    """{prefix:hex} interrupted by the quotation mark that should close a string"""
    return b'"' + prefix + b'"'


@FAMILY.cases("prefix, scalar", product(prefixes()[::3], (0xE9, 0x20AC, 0x1F600)))
def by_a_character(prefix: bytes, scalar: int) -> bytes:
    """{prefix:hex} interrupted by U+{scalar:04X}, which must survive"""
    return prefix + well_formed(scalar)


@FAMILY.cases("left, right", product((b"\xc3", b"\xe2", b"\xe2\x82", b"\xf0\x9f", b"\xf0\x9f\x98"), repeat=2))
def by_another(left: bytes, right: bytes) -> bytes:
    """{left:hex}, then {right:hex}: two characters cut short"""
    return left + right


@FAMILY.case
def three_in_a_row() -> bytes:
    """three characters of different lengths cut short, then a letter"""
    return truncated(0x1F600, 3) + truncated(0x20AC, 2) + truncated(0xE9, 1) + b"a"
