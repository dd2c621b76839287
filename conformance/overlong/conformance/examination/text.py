"""Text and its places: sets of strings, the text of a dialect, and what can be told of a place in a question.

Sets of strings are products of sets of octets. Text is read at the speed of regular expressions, which are read off the
automaton. A factor is what may decide whether a decoder is wrong at a place.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import OctetClass, access_words
from overlong.reference.layout import load_layout
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.reference import Dialect

Product = tuple[frozenset[int], ...]
"""A set of strings: one octet from each set, in order."""
ERROR: Product = (frozenset(range(0x80, 0x100)),)
"""The words of a condition if any error is one."""
WIDEST = "rfc2279"
"""The dialect whose leads announce up to six octets."""
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


_NUMBERS = (0, 0x2F, 0x7F, 0x7FF, 0xFFFF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x110000, 0x13FFFF, 0x140000, 0x1FFFFF)
"""Numbers whose ill-formed spellings some decoders take, besides the ends of each length."""
_ENDS = (0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFDD0, 0xFDEF, 0xFEFF, 0xFFFC, 0xFFFD, 0x10000, 0x10FFFF, 0x100000)
_OTHERS = (0x85, 0xE9, 0x20AC, 0x1F600, 0x3FF, 0x400, 0x1000, 0x3FFFF, 0x40000)


@cache
def edges(text: Text) -> tuple[int, ...]:
    """Octets that stand for all: the first and the last of each class of octets that some dialect tells apart."""
    found = {0, 255}
    for each in (text.spoken.name, *DIALECTS):
        for octets in dialect(each).automaton.classes:
            for run in octets.ranges:
                found |= {run.low, run.high}
    return tuple(sorted(found))


@cache
def strange(text: Text) -> tuple[bytes, ...]:
    """Ill-formed octets of every kind."""
    automaton, layout = text.spoken.automaton, load_layout(WIDEST)
    found = dict[bytes, None]()
    words = [word for word in access_words(automaton) if automaton.run(word) != automaton.dead]
    for product in well_formed_products(automaton):
        for size in range(1, len(product)):
            for ends in (min, max):
                found[bytes(map(ends, product[:size]))] = None
    for word in words:
        if word and not automaton.accepting[automaton.run(word)]:
            found[word] = None
        for octet in edges(text):
            longer = word + bytes([octet])
            if automaton.run(longer) == automaton.dead:
                found[longer] = None
                row = layout.announced(longer[0])
                rest = (len(row.templates) if row is not None else 1) - len(longer)
                tail = next(each for each in range(256) if layout.is_tail(each))
                if rest > 0:
                    found[longer + bytes([tail]) * rest] = None
                    found[longer + bytes([tail + 63]) * rest] = None
    for row in layout.rows:
        numbers = {row.numbers.start, row.numbers.stop - 1, *_NUMBERS}
        for number in sorted(numbers):
            if number < row.numbers.stop and not automaton.accepts(octets := row.octets(number)):
                found[octets] = None
    return tuple(found)


@cache
def notable(text: Text) -> tuple[bytes, ...]:
    """Characters at the ends of ranges, and those that programs treat specially."""
    spoken = text.spoken
    numbers = {*range(0x80), *_ENDS, *_OTHERS}
    numbers |= {plane << 16 | low for plane in range(17) for low in (0, 0xFFFE, 0xFFFF)}
    numbers |= {number for number in range(0x10000) if unicodedata.category(chr(number))[0] == "Z"}
    found = [spoken.layout.encode(number) for number in sorted(numbers)]
    return tuple(each for each in found if each is not None and spoken.automaton.accepts(each))


ADDRESS = 64
"""Addresses count modulo this."""
NONE = -1
"""The value of an octet or a character that is not there."""
BLOCKS = (4, 8, 16, 32, 64, 128)
BITS = (8, 10, 12, 15, 16)
FAR_BEFORE, FAR_BEHIND = 5, 9
"""How many octets before and behind a place are told apart."""
NUMBER, OCTET, FLAG = "number", "octet", "flag"
_SEEN, _STANDS, _OCTET_BEFORE, _ACROSS = "seen ", "stands ", "octet -", "across "


@dataclass(slots=True)
class Site:
    """A place in a question: the octets from ``start`` to ``end``."""

    text: Text
    octets: bytes
    start: int
    end: int
    errors: int = 0
    """The places like it before."""
    total: int = 1
    """All places like it."""
    after: bytes | None = None
    """The input of the call right before; None if it is not known."""
    address: int | None = None
    """The address of the first octet, modulo 64."""
    cut: int = NONE
    """In a stream: the octets of the sequence here that stand before the first cut in it."""
    chunks: tuple[int, ...] = ()
    begun: int = 0
    """The octets of a stream before the chunk that shows what is here."""
    known: int = NONE
    """The octets of a stream that show what is here; NONE if only its end does."""

    @property
    def before(self) -> bytes:
        return self.octets[: self.start]

    @property
    def behind(self) -> bytes:
        return self.octets[self.end :]


@dataclass(frozen=True)
class Factor:
    """Something that can be told of a place."""

    name: str
    kind: str
    value: Callable[[Site], int]
    cost: int = 0
    """How much less likely it is than others that explain the same."""


def _units(site: Site) -> int:
    """The units of UTF-16 before."""
    before, text = site.octets[: site.start], site.text
    return len(before.translate(None, text.not_leads)) + len(before.translate(None, text.not_longest))


def _after_cut(site: Site) -> int:
    """The octets of the whole stream behind the first cut in the sequence here."""
    return NONE if site.cut == NONE else len(site.octets) - site.start - site.cut


def seen(octets: bytes) -> Factor:
    """Whether some octets stand anywhere before."""
    return Factor(f"{_SEEN}{octets.hex()}", FLAG, lambda site: int(octets in site.before))


def octet_before(far: int) -> Factor:
    """The octet that stands so many octets before."""
    name = f"{_OCTET_BEFORE}{far}"
    return Factor(name, OCTET, lambda site: site.octets[site.start - far] if site.start >= far else NONE)


def stands(octets: bytes, far: int) -> Factor:
    """Whether some octets begin so many octets before."""

    def value(site: Site) -> int:
        return int(site.start >= far and site.octets.startswith(octets, site.start - far))

    return Factor(f"{_STANDS}{octets.hex()} {far}", FLAG, value)


def across(block: int) -> Factor:
    """Whether the end of a block, of those that begin at the first octet, lies within the octets of the place."""
    return Factor(
        f"{_ACROSS}{block}", FLAG, lambda site: int(site.start // block < max(site.start, site.end - 1) // block), 1
    )


@cache
def factor_named(name: str) -> Factor:
    """The factor of a name."""
    if (octets := seen_octets(name)) is not None:
        return seen(octets)
    if (placed := octets_placed(name)) is not None:
        return stands(*placed)
    if (block := block_of(name)) is not None:
        return across(block)
    if name not in _BY_NAME and name.startswith(_OCTET_BEFORE):
        return octet_before(int(name[len(_OCTET_BEFORE) :]))
    return _BY_NAME[name]


def seen_octets(name: str) -> bytes | None:
    """The octets that stand anywhere before, if the name of a factor says that."""
    return bytes.fromhex(name[len(_SEEN) :]) if name.startswith(_SEEN) else None


def block_of(name: str) -> int | None:
    """The octets of a block, if the name of a factor says that its end lies within the octets."""
    return int(name[len(_ACROSS) :]) if name.startswith(_ACROSS) else None


def octets_placed(name: str) -> tuple[bytes, int] | None:
    """The octets that begin so many octets before, if the name of a factor says that."""
    if not name.startswith(_STANDS):
        return None
    octets, far = name[len(_STANDS) :].split(" ")
    return bytes.fromhex(octets), int(far)


def _ascii_before(site: Site) -> int:
    before = site.before
    return len(before) - len(before.rstrip(ASCII))


def _ascii_behind(site: Site) -> int:
    behind = site.behind
    return len(behind) - len(behind.lstrip(ASCII))


def _octet_behind(far: int) -> Callable[[Site], int]:
    return lambda site: site.octets[site.end + far - 1] if site.end + far <= len(site.octets) else NONE


def _lead_before(site: Site) -> int:
    character = site.text.before(site.octets, site.start)
    return character[0] if character else NONE


def _character_before(site: Site) -> int:
    return int.from_bytes(site.text.before(site.octets, site.start) or b"\xff" * 5, "big")


def _size_behind(site: Site) -> int:
    """The octets of the character right behind; 0 if there is none."""
    lead = site.octets[site.end] if site.end < len(site.octets) else NONE
    size = site.text.sizes.get(lead, 0)
    return size if size and site.text.is_well_formed(site.octets[site.end : site.end + size]) else 0


def _only_size(site: Site) -> int:
    """The octets of each character before, if all have as many; 0 if they differ, or there are none."""
    leads = site.octets[: site.start].translate(None, site.text.not_leads)
    sizes = {site.text.sizes[lead] for lead in set(leads)}
    return sizes.pop() if len(sizes) == 1 else 0


def _in_rest(block: int) -> Callable[[Site], int]:
    return lambda site: int(len(site.octets) >= block and site.start >= len(site.octets) // block * block)


def _beyond(bits: int) -> Callable[[Site], int]:
    mask = (1 << bits) - 1
    return lambda site: int(site.start >= len(site.octets) & mask)


def _unfinished(site: Site) -> bytes:
    """The octets of a character within which the call before ended."""
    rest = site.after[site.text.end(site.after) :] if site.after else b""
    automaton = site.text.spoken.automaton
    return rest if automaton.run(rest) != automaton.dead else b""


def _unfinished_before(site: Site) -> int:
    return next(iter(_unfinished(site)), NONE)


def _rest_before(site: Site) -> int:
    rest = _unfinished(site)
    return int.from_bytes(rest, "big") if rest else NONE


def _is_cut_off(site: Site) -> bool:
    """True if a character begins there that the end of the input cuts off."""
    automaton = site.text.spoken.automaton
    return site.end == len(site.octets) and automaton.run(site.octets[site.start : site.end]) != automaton.dead


def _after_error(site: Site) -> int:
    """Whether an error ends where the place begins."""
    return int(site.start > 0 and not site.text.before(site.octets, site.start))


def _chunk_of(site: Site) -> int:
    """The octets of the chunk in which the place begins that stand before it."""
    at = 0
    for length in site.chunks:
        if site.start < at + length:
            return site.start - at
        at += length
    return NONE


def _rest_of_chunk(site: Site) -> int:
    """The octets of the chunk that shows what is here which stand behind those that do."""
    ends = accumulate(site.chunks)
    return NONE if site.known == NONE else next((end - site.known for end in ends if end >= site.known), NONE)


def _there(site: Site) -> bytes:
    """The octets from the place to the end of the chunk that shows what is here."""
    return b"" if site.known == NONE else site.octets[site.start : site.known + max(0, _rest_of_chunk(site))]


def _due(site: Site) -> int:
    """The octets that the lead announces, in forms of up to six, and that come after that chunk."""
    there = _there(site)
    return max(0, _announced(there[0]) - len(there)) if there else 0


@cache
def _announced(lead: int) -> int:
    row = load_layout(WIDEST).announced(lead)
    return 0 if row is None else len(row.templates)


def _only_tails(site: Site) -> int:
    """Whether only tail octets stand behind the first one in that chunk."""
    return int(all(map(load_layout(WIDEST).is_tail, _there(site)[1:])))


def _no_lead(site: Site) -> int:
    """Whether only tail octets and ASCII stand behind the first one in that chunk."""
    is_tail = load_layout(WIDEST).is_tail
    return int(all(is_tail(octet) or _announced(octet) == 1 for octet in _there(site)[1:]))


def _chunks_behind(site: Site) -> int:
    """The chunks after the one that shows what is here; the stream may end with that."""
    return sum(end - length >= site.known for end, length in zip(accumulate(site.chunks), site.chunks, strict=True))


def _number_of_chunk(site: Site) -> int:
    """The chunks that end at the place or before it, or within it."""
    at = found = 0
    for length in site.chunks[:-1]:
        at += length
        found += at <= (site.start + site.cut if site.cut > 0 else site.start)
    return found


_OF_CALLS = (
    Factor("unfinished before", OCTET, _unfinished_before),
    Factor("rest before", OCTET, _rest_before, 1),
    Factor(
        "accepted before", FLAG, lambda site: NONE if site.after is None else int(site.text.is_well_formed(site.after))
    ),
    Factor("length before", NUMBER, lambda site: NONE if site.after is None else len(site.after)),
    Factor(
        "same length before", FLAG, lambda site: int(site.after is not None and len(site.after) == len(site.octets))
    ),
    Factor("longer before", FLAG, lambda site: int(site.after is not None and len(site.after) > len(site.octets))),
)
OF_CALLS = frozenset(factor.name for factor in _OF_CALLS)
"""The names of what an earlier call or stream was like."""
FACTORS: tuple[Factor, ...] = (
    Factor("offset", NUMBER, lambda site: site.start),
    Factor("length", NUMBER, lambda site: len(site.octets)),
    Factor("behind", NUMBER, lambda site: len(site.octets) - site.end),
    Factor("characters", NUMBER, lambda site: len(site.octets[: site.start].translate(None, site.text.not_leads))),
    Factor("wide", NUMBER, lambda site: len(site.octets[: site.start].translate(None, site.text.not_leads + ASCII))),
    Factor("units", NUMBER, _units),
    Factor("errors", NUMBER, lambda site: site.errors),
    Factor("total", NUMBER, lambda site: site.total),
    Factor("size before", NUMBER, lambda site: len(site.text.before(site.octets, site.start))),
    Factor("size behind", NUMBER, _size_behind),
    octet_before(1),
    Factor("lead before", OCTET, _lead_before),
    Factor("character before", OCTET, _character_before, 1),
    *map(octet_before, range(2, FAR_BEFORE + 1)),
    *(Factor(f"octet +{far}", OCTET, _octet_behind(far)) for far in range(1, FAR_BEHIND + 1)),
    Factor("ascii before", NUMBER, _ascii_before, 1),
    Factor("ascii behind", NUMBER, _ascii_behind, 1),
    Factor("size of all before", NUMBER, _only_size, 1),
    *map(across, BLOCKS[2:]),
    Factor("nearest end", NUMBER, lambda site: min(site.start, len(site.octets) - site.end), 1),
    Factor("zeros", NUMBER, lambda site: site.octets.count(0, 0, site.start)),
    *(Factor(f"rest of {block}", FLAG, _in_rest(block)) for block in BLOCKS),
    *(Factor(f"beyond {bits} bits", FLAG, _beyond(bits), 1) for bits in BITS),
    Factor("cut", NUMBER, lambda site: site.cut),
    Factor("after cut", NUMBER, _after_cut),
    Factor("in chunk", NUMBER, _chunk_of, 1),
    Factor("rest of chunk", NUMBER, _rest_of_chunk, 1),
    Factor("chunks behind", NUMBER, _chunks_behind, 1),
    Factor("chunks before", NUMBER, _number_of_chunk, 1),
    Factor("chunks", NUMBER, lambda site: len(site.chunks), 1),
    *_OF_CALLS,
)
AFTER_ERROR = Factor("after error", FLAG, _after_error)
"""Only where the place is an error behind others."""
OF_ERRORS: tuple[Factor, ...] = (
    Factor("lead", OCTET, lambda site: site.octets[site.start]),
    Factor("size", NUMBER, lambda site: site.text.sizes.get(site.octets[site.start], 1)),
    Factor("came", NUMBER, lambda site: site.end - site.start),
    Factor("cut off", FLAG, lambda site: int(_is_cut_off(site))),
)
"""Only where the place is any error, or any character."""
IN_STREAMS: tuple[Factor, ...] = (
    *OF_ERRORS,
    Factor("begun", NUMBER, lambda site: site.begun),
    Factor("due", NUMBER, _due),
    Factor("only tails", FLAG, _only_tails),
    Factor("no lead", FLAG, _no_lead),
    Factor("well-formed", FLAG, lambda site: int(site.text.is_well_formed(site.octets)), 1),
)
"""Only for streams."""
ADDRESSES: tuple[Factor, ...] = (
    Factor("address", NUMBER, lambda site: NONE if site.address is None else (site.address + site.start) % ADDRESS),
    Factor("address of input", NUMBER, lambda site: NONE if site.address is None else site.address % ADDRESS),
)
"""Only for functions whose answer depends on the place in memory: otherwise the length behind says the same."""
_BY_NAME = {factor.name: factor for factor in (*FACTORS, AFTER_ERROR, *IN_STREAMS, *ADDRESSES)}
