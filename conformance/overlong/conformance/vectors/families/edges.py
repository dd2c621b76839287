"""Where the grammar's ranges begin and end: what the families are built around."""

from __future__ import annotations

from functools import cache

from overlong.reference import dialect
from overlong.reference.order import well_formed_products


@cache
def products() -> tuple[tuple[range, ...], ...]:
    """The well-formed characters as products of octet ranges, in octet order (RFC 3629 section 4)."""
    return tuple(well_formed_products(dialect().automaton))


@cache
def first_and_last() -> tuple[bytes, ...]:
    """The first and the last character of each product."""
    return tuple(bytes(octets[end] for octets in ranges) for ranges in products() for end in (0, -1))


@cache
def prefixes() -> tuple[bytes, ...]:
    """Every proper beginning of a product's first or last character, each once, in that order."""
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
