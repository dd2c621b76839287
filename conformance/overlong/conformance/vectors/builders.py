"""Builders of octets for cases: ill-formed ones, named after the unlawful move, and the ends of grammar ranges.

They use RFC 2279's layout.
"""

from __future__ import annotations

from functools import cache

from overlong.reference import dialect, encode_scalars
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS, SURROGATES, well_formed_products


def well_formed(*scalars: int) -> bytes:
    """The lawful move, for contrast."""
    return encode_scalars(scalars)


def overlong(scalar: int, length: int) -> bytes:
    """``scalar`` in ``length`` octets, which is more than it needs.

    Raises:
        ValueError: ``length`` octets would not be overlong.
    """
    row = load_layout("rfc2279").rows[length - 1]
    if scalar >= row.numbers.start:
        raise ValueError(f"U+{scalar:04X} in {length} octets is not overlong")
    return row.octets(scalar)


def surrogate(code_point: int) -> bytes:
    """A surrogate in three octets.

    Raises:
        ValueError: ``code_point`` is not a surrogate.
    """
    if code_point not in SURROGATES:
        raise ValueError(f"U+{code_point:04X} is not a surrogate")
    return _spell(code_point)


def surrogate_pair(scalar: int) -> bytes:
    """A scalar value beyond U+FFFF in CESU-8: the two surrogates of UTF-16, three octets each."""
    high, low = divmod(scalar - 0x10000, 0x400)
    return surrogate(0xD800 + high) + surrogate(0xDC00 + low)


def out_of_range(number: int) -> bytes:
    """A number beyond U+10FFFF, in the form of RFC 2279.

    Raises:
        ValueError: the number is in range.
    """
    if number in CODE_POINTS:
        raise ValueError(f"U+{number:04X} is in range")
    return _spell(number)


def truncated(scalar: int, octets: int) -> bytes:
    """The first ``octets`` octets of a character.

    Raises:
        ValueError: ``octets`` is the whole character, or nothing of it.
    """
    whole = encode_scalars([scalar])
    if not 0 < octets < len(whole):
        raise ValueError(f"U+{scalar:04X} has {len(whole)} octets; {octets} of them are no truncation")
    return whole[:octets]


def _spell(number: int) -> bytes:
    octets = load_layout("rfc2279").encode(number)
    if octets is None:
        raise ValueError(f"{number:X} has no octets in any layout")
    return octets


CHARACTERS = tuple(character.encode() for character in "aé€😀")
"""A character of each length."""


def filled(length: int, character: bytes) -> bytes:
    """So many octets of one character, after as many letters as are needed."""
    whole, rest = divmod(length, len(character))
    return b"a" * rest + character * whole


def products() -> tuple[tuple[range, ...], ...]:
    """The well-formed characters as products of octet ranges, in octet order (RFC 3629 section 4)."""
    return well_formed_products(dialect().automaton)


@cache
def first_and_last() -> tuple[bytes, ...]:
    """The first and the last character of each product."""
    return tuple(bytes(octets[end] for octets in ranges) for ranges in products() for end in (0, -1))


@cache
def prefixes() -> tuple[bytes, ...]:
    """Every proper prefix of a product's first or last character, each once, in that order."""
    return tuple(dict.fromkeys(octets[:end] for octets in first_and_last() for end in range(1, len(octets))))


@cache
def class_octets() -> tuple[int, ...]:
    """The least and the greatest octet of every run of each class of octets."""
    runs = (run for octets in dialect().automaton.classes for run in octets.ranges)
    return tuple(sorted({octet for run in runs for octet in (run.low, run.high)}))


def spelt(ranges: tuple[range, ...]) -> str:
    """``E0 A0-BF 80-BF``."""
    return " ".join(
        f"{octets[0]:02X}" if len(octets) == 1 else f"{octets[0]:02X}-{octets[-1]:02X}" for octets in ranges
    )
