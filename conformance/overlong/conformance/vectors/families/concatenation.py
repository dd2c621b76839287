"""Characters of all lengths, one after another."""

from __future__ import annotations

from itertools import permutations, product

from overlong.conformance.vectors.builders import out_of_range, overlong, surrogate, truncated, well_formed
from overlong.conformance.vectors.families.edges import first_and_last
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("concatenation", "one thing after another: each must be taken by itself")

_OF_EACH_LENGTH = (0x7A, 0xE9, 0x20AC, 0x1F600)


@FAMILY.cases("left, right", product(_OF_EACH_LENGTH, repeat=2))
def two(left: int, right: int) -> bytes:
    """U+{left:04X}, then U+{right:04X}"""
    return well_formed(left, right)


@FAMILY.cases("first, second, third, fourth", permutations(_OF_EACH_LENGTH))
def every_order(first: int, second: int, third: int, fourth: int) -> bytes:
    """U+{first:04X}, U+{second:04X}, U+{third:04X}, U+{fourth:04X}"""
    return well_formed(first, second, third, fourth)


@FAMILY.case
def all_ends() -> bytes:
    """the first and the last character of every range, in order"""
    return b"".join(first_and_last())


@FAMILY.case
def all_ends_reversed() -> bytes:
    """the last and the first character of every range, in reverse order"""
    return b"".join(reversed(first_and_last()))


@FAMILY.case
def every_fault() -> bytes:
    """one of each kind of fault, one after another"""
    return b"".join(
        (
            overlong(0x2F, 2),
            surrogate(0xD800),
            out_of_range(0x110000),
            out_of_range(0x200000),
            b"\xff",
            b"\x80",
            truncated(0x20AC, 2),
        )
    )


@FAMILY.case
def every_fault_between_letters() -> bytes:
    """one of each kind of fault, with a letter after each"""
    return b"a".join(
        (b"", overlong(0x2F, 2), surrogate(0xD800), out_of_range(0x110000), b"\xff", b"\x80", truncated(0x20AC, 2), b"")
    )
