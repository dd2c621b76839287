"""Sets of strings as products of sets of octets; and well-formed text, of which they are made.

Text is read at the speed of regular expressions, which are read off the automaton.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from overlong.reference.automaton import OctetClass
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference import Dialect

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


ASCII = bytes(range(0x80))
_FILLERS = (b"a", b"\0", "é".encode(), "€".encode(), "😀".encode())
_BEYOND = 4
"""Characters of so many octets lie beyond U+FFFF."""


def one_of(octets: Iterable[int]) -> bytes:
    """A pattern of one octet."""
    runs = OctetClass(tuple(sorted(octets))).ranges
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % (run.low, run.high) for run in runs) + b"]"


def pattern_of(products: Iterable[Product]) -> bytes:
    """A pattern that matches the members of some products, the longest first."""
    ordered = sorted(products, key=len, reverse=True)
    return b"|".join(b"".join(map(one_of, product)) for product in ordered)


class Text:
    """The well-formed text of a dialect."""

    def __init__(self, spoken: Dialect) -> None:
        self.spoken = spoken
        products = [tuple(map(frozenset, product)) for product in well_formed_products(spoken.automaton)]
        self.products: tuple[Product, ...] = tuple(products)
        """The characters, as products of octets."""
        pieces = [b"(?:" + b"".join(map(one_of, product)) + b")++" for product in products]
        self._text = re.compile(b"(?:" + b"|".join(pieces) + b")*+", re.DOTALL)
        prefixes = {product[:size] for product in products for size in range(1, len(product))}
        self.truncated: tuple[Product, ...] = tuple(merged(prefixes))
        """What can begin a character and is none, as products of octets."""
        self._flaw = re.compile(pattern_of(prefixes) + b"|.", re.DOTALL)
        self._piece = re.compile(pattern_of(products) + b"|" + self._flaw.pattern, re.DOTALL)
        self.leads = frozenset(octet for product in products for octet in product[0])
        """The octets that begin characters."""
        self.not_leads = bytes(octet for octet in range(256) if octet not in self.leads)
        self.not_longest = bytes(
            octet
            for octet in range(256)
            if octet not in self.leads or all(len(product) < _BEYOND for product in products if octet in product[0])
        )
        """The octets that begin no characters that take two units of UTF-16."""
        self.sizes = {octet: len(product) for product in products for octet in product[0]}
        self.fillers = tuple(each for each in _FILLERS if self.is_well_formed(each))
        """A character of each kind, ASCII first."""

    def end(self, octets: bytes, start: int = 0) -> int:
        """The end of the well-formed text from a place on: that of the octets, or the place of the first flaw."""
        found = self._text.match(octets, start)
        assert found is not None
        return found.end()

    def is_well_formed(self, octets: bytes) -> bool:
        """True if all octets are well-formed text."""
        return self.end(octets) == len(octets)

    def pieces(self, octets: bytes) -> list[tuple[int, int]]:
        """The characters and the maximal subparts: where each begins and ends."""
        return [found.span() for found in self._piece.finditer(octets)]

    def flaws(self, octets: bytes) -> list[tuple[int, int]]:
        """The maximal subparts of ill-formed sequences: where each begins and ends."""
        return list(self._flaws(octets))

    def has_more_flaws(self, octets: bytes, than: int) -> bool:
        """True if the octets have more than so many maximal subparts of ill-formed sequences."""
        return next(islice(self._flaws(octets), than, None), None) is not None

    def _flaws(self, octets: bytes) -> Iterator[tuple[int, int]]:
        place = self.end(octets)
        while place < len(octets):
            flaw = self.flaw(octets, place)
            assert flaw is not None
            yield flaw.span()
            place = self.end(octets, flaw.end())

    def flaw(self, octets: bytes, place: int) -> re.Match[bytes] | None:
        """The maximal subpart at a place where text ends; None at the end of the octets."""
        return self._flaw.match(octets, place)

    def until(self, words: Sequence[Product]) -> re.Pattern[bytes]:
        """Well-formed text in which no character begins with one of these words."""
        return re.compile(b"(?:(?!" + pattern_of(words) + b")(?:" + pattern_of(self.products) + b"))*+", re.DOTALL)

    def before(self, octets: bytes, place: int) -> bytes:
        """The character that ends at a place; empty if none does."""
        for size in range(1, 5):
            part = octets[place - size : place] if size <= place else b""
            if part and part[0] in self.leads:
                return part if self.sizes[part[0]] == size and self.is_well_formed(part) else b""
        return b""


@cache
def text_of(spoken: Dialect) -> Text:
    """The text of a dialect, made once."""
    return Text(spoken)
