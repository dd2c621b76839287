"""Sets of numbers in words: offsets, lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

_MODULI = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, *range(3, 128))
_LISTED = 4


class Numbers(NamedTuple):
    """A subset of some numbers, in words that follow a noun: ``63``, ``60 to 63``, ``3 mod 4``."""

    words: str
    cost: int
    """The effort of reading the words."""


def numbers_in_words(some: Collection[int], of: Collection[int]) -> Numbers:
    """The fewest words that single out some of the numbers ``of`` exactly."""
    chosen, there = sorted(set(some)), sorted(set(of))
    if chosen == there:
        return Numbers("any", 0)
    if len(chosen) == 1:
        return Numbers(str(chosen[0]), 1)
    low, high = chosen[0], chosen[-1]
    if chosen == [each for each in there if low <= each <= high]:
        if len(chosen) == 2:
            return Numbers(f"{low} or {high}", 2)
        if low == there[0]:
            return Numbers(f"up to {high}", 2)
        return Numbers(f"{low} or more", 2) if high == there[-1] else Numbers(f"{low} to {high}", 2)
    nonzero = [each for each in there if each]
    for modulus in _MODULI:
        rests = sorted({each % modulus for each in chosen})
        if len(chosen) <= len(rests):  # each remainder occurs once: that is a list, not a rule
            continue
        if rests == list(range(rests[0], rests[-1] + 1)) and len(rests) < modulus:
            rule = [each for each in there if each % modulus in rests]
            if rests == [0] and chosen in (rule, [each for each in nonzero if each % modulus == 0]):
                return Numbers(f"a multiple of {modulus}", 2)
            if chosen == rule:
                words = str(rests[0]) if len(rests) == 1 else f"{rests[0]} to {rests[-1]}"
                return Numbers(f"{words} mod {modulus}", 3)
    if len(chosen) <= _LISTED:
        return Numbers(f"{', '.join(map(str, chosen[:-1]))} or {high}", len(chosen))
    return Numbers(f"one of {len(chosen)} values from {low} to {high}", 6 + len(chosen))
