"""Well-formed text at the speed of regular expressions, which are read off the automaton."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from overlong.conformance.examination.products import merged
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference import Dialect

Sets = tuple[frozenset[int], ...]
ASCII = bytes(range(0x80))
_FILLERS = (b"a", b"\0", "é".encode(), "€".encode(), "😀".encode())
_BEYOND = 4
"""Characters of so many octets lie beyond U+FFFF."""


def one_of(octets: Iterable[int]) -> bytes:
    """A pattern of one octet."""
    some = sorted(octets)
    if len(some) == 1:
        return re.escape(bytes(some))
    runs = list[list[int]]()
    for octet in some:
        if runs and octet == runs[-1][1] + 1:
            runs[-1][1] = octet
        else:
            runs.append([octet, octet])
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % (low, high) for low, high in runs) + b"]"


def pattern_of(products: Iterable[Sets]) -> bytes:
    """A pattern that matches the members of some products, the longest first."""
    ordered = sorted(products, key=len, reverse=True)
    return b"|".join(b"".join(map(one_of, product)) for product in ordered)


class Text:
    """The well-formed text of a dialect."""

    def __init__(self, spoken: Dialect) -> None:
        self.spoken = spoken
        products = [tuple(map(frozenset, product)) for product in well_formed_products(spoken.automaton)]
        self.products: tuple[Sets, ...] = tuple(products)
        """The characters, as products of octets."""
        pieces = [b"(?:" + b"".join(map(one_of, product)) + b")++" for product in products]
        self._pieces = b"|".join(pieces)
        self._text = re.compile(b"(?:" + self._pieces + b")*+", re.DOTALL)
        prefixes = {product[:size] for product in products for size in range(1, len(product))}
        self.truncated: tuple[Sets, ...] = tuple(merged(prefixes))
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

    def until(self, words: Sequence[Sets]) -> re.Pattern[bytes]:
        """Well-formed text in which no character begins with one of these words."""
        characters = b"|".join(b"".join(map(one_of, product)) for product in self.products)
        return re.compile(b"(?:(?!" + pattern_of(words) + b")(?:" + characters + b"))*+", re.DOTALL)

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
