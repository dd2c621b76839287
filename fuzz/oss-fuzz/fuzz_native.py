#!/usr/bin/env python3
"""The reference at machine speed against the reference: its search by words of 64 octets, its numbers, its offsets.

No ``from __future__``: for coverage reports lines are put before these.
"""

import sys

import atheris

with atheris.instrument_imports(include=["overlong"]):
    from raising import RAISES
    from running import compared, fuzz

    from overlong.reference import Rejected, outcome

from overlong.reference.native import oracle  # not instrumented: it is in C

ORACLE = oracle()
LEAST = 256
"""Octets of the longest of the three inputs that are made of one: several strides of the search."""


def one_input(octets: bytes) -> None:
    """The octets as they are; behind, and before, well-formed text that brings them across the strides."""
    for each in (octets, b"a" * (len(octets) % 67) + octets, octets + b"a" * (LEAST - len(octets) % LEAST)):
        first_error(each)
        scalar_values(each)
        compared()


def first_error(octets: bytes) -> None:
    """Where they are ill-formed."""
    expected, seen = outcome(octets), ORACLE.first_error(octets)
    wanted = tuple(expected) if isinstance(expected, Rejected) else None
    if seen == wanted and ORACLE.is_well_formed(octets) == (wanted is None):
        return
    if wanted is None:
        RAISES["OV101"](f"{octets!r}: refused at {seen}")
    if seen is None:
        RAISES["OV201"](f"{octets!r}: accepted, and wrong at {wanted}")
    RAISES["OV301"](f"{octets!r}: refused at {seen}, and wrong at {wanted}")


def scalar_values(octets: bytes) -> None:
    """What they stand for."""
    expected = outcome(octets)
    if isinstance(expected, Rejected):
        return
    seen = tuple(map(int, ORACLE.decode_scalars(octets)))
    if seen != expected.scalars:
        RAISES["OV102"](f"{octets!r}: {seen}, and {expected.scalars} are right")


if __name__ == "__main__":
    fuzz(one_input, sys.argv)
