"""Builders of ill-formed octets, each named after the unlawful move. They write with RFC 2279's layout."""

from __future__ import annotations

from overlong.reference import encode_scalars
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS, SURROGATES


def well_formed(*scalars: int) -> bytes:
    """The lawful move, for contrast."""
    return encode_scalars(scalars)


def overlong(scalar: int, length: int) -> bytes:
    """``scalar`` in ``length`` octets, more than it needs.

    Raises:
        ValueError: that would not be overlong.
    """
    row = load_layout("rfc2279").rows[length - 1]
    if scalar >= row.numbers.start:
        raise ValueError(f"U+{scalar:04X} in {length} octets is not overlong")
    return row.octets(scalar)


def surrogate(code_point: int) -> bytes:
    """A surrogate in three octets.

    Raises:
        ValueError: not a surrogate.
    """
    if code_point not in SURROGATES:
        raise ValueError(f"U+{code_point:04X} is not a surrogate")
    return _spell(code_point)


def surrogate_pair(scalar: int) -> bytes:
    """A scalar value beyond U+FFFF as CESU-8 writes it: the two surrogates of UTF-16, three octets each."""
    high, low = divmod(scalar - 0x10000, 0x400)
    return surrogate(0xD800 + high) + surrogate(0xDC00 + low)


def out_of_range(number: int) -> bytes:
    """A number beyond U+10FFFF, in as many octets as RFC 2279 gave it.

    Raises:
        ValueError: the number is in range.
    """
    if number in CODE_POINTS:
        raise ValueError(f"U+{number:04X} is in range")
    return _spell(number)


def truncated(scalar: int, octets: int) -> bytes:
    """The first ``octets`` octets of a character.

    Raises:
        ValueError: that is the whole character, or nothing of it.
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
