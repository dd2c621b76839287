"""Sets of strings as products of sets of octets: fewer, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.reference.automaton import OctetClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Product = tuple[frozenset[int], ...]
"""A set of strings: one octet from each set, in order."""
ERROR: Product = (frozenset(range(0x80, 0x100)),)
"""The words of a condition if any error is one."""
SHOWN = 4
"""The most products that a sentence names."""


def exactly(octets: bytes) -> Product:
    """The product that has only one string."""
    return tuple(frozenset((octet,)) for octet in octets)


def in_words(products: Sequence[Product]) -> str:
    """``ED A0-BF 80-BF``; ``00 or 7F``; ``one of 12 patterns, such as 00``."""
    names = list(map(product_in_words, products))
    if len(names) > SHOWN or len(" or ".join(names)) > 120:
        return f"one of {len(names)} patterns, such as {names[0][:60]}"
    return " or ".join(names)


def product_in_words(product: Product) -> str:
    """``ED A0-BF 80-BF``."""
    return " ".join(octets_in_words(octets) for octets in product)


def octets_in_words(octets: Iterable[int]) -> str:
    """``80-8F,A0-BF``."""
    return ",".join(map(str, OctetClass(tuple(sorted(octets))).ranges))


def without_parts(products: Iterable[Product]) -> tuple[Product, ...]:
    """The products that are no part of another one."""
    some = list(dict.fromkeys(products))
    return tuple(each for each in some if not any(other != each and is_part(each, other) for other in some))


def is_part(one: Product, other: Product) -> bool:
    """True if all strings of one product are strings of the other."""
    return len(one) == len(other) and all(mine <= more for mine, more in zip(one, other, strict=True))


def without(product: Product, others: Iterable[Product]) -> list[Product]:
    """The strings of a product that are strings of no other one, as products."""
    left = [product]
    for other in others:
        parts, left = left, list[Product]()
        for part in parts:
            common = tuple(mine & theirs for mine, theirs in zip(part, other, strict=False))
            if len(part) != len(other) or not all(common):
                left.append(part)
                continue
            for place, octets in enumerate(part):
                if rest := octets - common[place]:
                    left.append((*common[:place], rest, *part[place + 1 :]))
    return left


def merged(products: Iterable[Product]) -> list[Product]:
    """The same strings as fewer products: products that differ in one place are merged."""
    left = list(dict.fromkeys(products))
    longest = max(map(len, left), default=0)
    for place in reversed(range(longest)):
        groups: dict[tuple[object, ...], list[Product]] = {}
        for each in left:
            key = (each[:place], each[place + 1 :], len(each)) if place < len(each) else each
            groups.setdefault(key, []).append(each)
        left = [
            group[0]
            if len(group) == 1
            else (*group[0][:place], frozenset[int]().union(*(each[place] for each in group)), *group[0][place + 1 :])
            for group in groups.values()
        ]
    return sorted(left, key=lambda product: (len(product), [sorted(octets) for octets in product]))
