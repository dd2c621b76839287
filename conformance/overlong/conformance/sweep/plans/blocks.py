"""Plans for decoders that read many octets at once: addresses, runs of one kind, blocks, and what stands before."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Grid, Scheme
from overlong.conformance.sweep.plans.text import BEHIND, SLASH, class_strings, every_octet, text_of
from overlong.conformance.vectors.pieces import OWN_MEANING, fillers, of_every_lead, pieces
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

_ADDRESSES = 64
"""The octets of a line of the cache, and of the widest vector unit."""
_KINDS_OF_TEXT = "a\u00e9\u0439\u4e2d\ud55c\U0001f600\U00060000"
"""ASCII, Latin, Cyrillic, Chinese, Korean, emoji, and a lead of four octets that no script uses: fast paths are written
for text of one kind."""


def _texts(automaton: Automaton) -> tuple[bytes, ...]:
    """A character of each kind of text, as far as the dialect has it."""
    some = (*(letter.encode() for letter in _KINDS_OF_TEXT), *fillers(automaton))
    return tuple(filter(automaton.accepts, dict.fromkeys(some)))


def _addresses(profile: Profile, last: int) -> Iterator[Grid]:
    """Any octet, and an error of each kind, at each offset of a string that starts at each address."""
    automaton = profile.dialect.automaton
    address = (b"",) * _ADDRESSES
    placed = tuple(dict.fromkeys((*every_octet(), SLASH, *pieces(automaton).kinds)))
    behind = (b"a" * _ADDRESSES,)
    for filler in fillers(automaton):
        yield Grid((address, text_of(filler, range(last + 1)), placed, behind), placed=True)


ADDRESSES = Scheme(
    "addresses",
    "any octet and each kind of error at every offset from 0 to {}, at every address modulo 64",
    *(_addresses, 0, 72, 256),
)


def _octets(profile: Profile, last: int) -> Iterator[Grid]:
    """Any octet at each offset, once, in text of each length of character."""
    for filler in fillers(profile.dialect.automaton):
        yield Grid((text_of(filler, range(last + 1)), every_octet(), (b"a" * BEHIND,)))


OCTETS = Scheme("octets", "any octet at every offset from 0 to {}", _octets, 0, 72, 1024)


def _runs(profile: Profile, most: int) -> Iterator[Grid]:
    """A character of each lead, with any octet at each of its places, among characters of one kind."""
    automaton = profile.dialect.automaton
    leads = of_every_lead(automaton)
    forms = [form[:place] + octet + form[place + 1 :] for form in leads for place in range(len(form))
             for octet in every_octet()]  # fmt: skip
    some = pieces(automaton)
    odd = tuple(dict.fromkeys((*forms, *some.ill_formed, *some.characters)))
    for filler in _texts(automaton):
        yield Grid((text_of(filler, range(0, most * len(filler), len(filler))), odd, (filler * BEHIND,)))


RUNS = Scheme(
    "runs",
    "any octet at each place of a character of each lead, after fewer than {} characters of one kind, and before 16",
    *(_runs, 1, 16, 128),
)

_GAPS = (0, 1, 17, 64)
"""The octets between any character and an error of each lead."""
_LATIN = 0x100
_NOTABLE = "\u2028\ufdd0\ufeff\ufffd"
"""After these and one character of each kind of text, there are errors with any number of octets between."""
_SAME_LENGTH = 3
"""The octets of each error after a scalar value, one for each lead: strings of one length are asked faster."""
_MOST_NUMBERS = 1 << 21
"""The most characters of a form: dialects with five and six octets have thousands of millions."""


def _follows(profile: Profile, most: int) -> Iterator[Grid]:
    """Each scalar value, then an error or none, near and far."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    errors: dict[int, bytes] = {}
    for form in (SLASH, *some.kinds):
        if len(form) <= _SAME_LENGTH and not automaton.accepts(form):
            errors.setdefault(form[0], form.ljust(_SAME_LENGTH, b"a"))
    text = b"a" * _SAME_LENGTH
    gaps = tuple(b"a" * gap for gap in _GAPS if gap <= most)
    for ranges in well_formed_products(automaton):
        if prod(map(len, ranges)) > _MOST_NUMBERS:
            continue
        octets = (tuple(bytes([octet]) for octet in each) for each in ranges)
        yield Grid((*octets, gaps, (*errors.values(), text)))
    short = filter(automaton.accepts, (letter.encode() for letter in (*map(chr, range(_LATIN)), *_NOTABLE)))
    few = tuple(dict.fromkeys((*short, *_texts(automaton))))
    every = tuple(b"a" * gap for gap in range(most + 1))
    yield Grid((few, every, (*dict.fromkeys((SLASH, *some.kinds)), text)))


FOLLOWS = Scheme(
    "follows",
    "an error of each kind after every scalar value, with 0 to {} octets between, or some of these",
    *(_follows, 0, 64, 64),
)

_NEAR = range(-4, 2)
_ROUND = (1_000, 10_000, 100_000)
_EVERY, _MANY_BEHIND = 10, 10
"""The powers of two up to which every piece is asked, and up to which more than one block follows."""


def _blocks(profile: Profile, power: int) -> Iterator[Grid]:
    """Characters and errors across an edge of a block, where whole blocks follow."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    own = tuple(filter(automaton.accepts, OWN_MEANING))
    every = tuple(dict.fromkeys((*some.ill_formed, *some.characters, *own, *class_strings(automaton, 2))))
    few = tuple(dict.fromkeys((*some.kinds, *fillers(automaton), *some.characters[-8:])))
    sizes = sorted({*(1 << each for each in range(4, power + 1)), *(size for size in _ROUND if size < 1 << power)})
    first, *others = fillers(automaton)
    for size in sizes:
        small = size <= 1 << _EVERY
        blocks = (size, 2 * size, 3 * size) if size <= 1 << _MANY_BEHIND else (size + max(map(len, few)),)
        behind = tuple(first * many for many in blocks)
        for filler in (first, *others[:1]) if small else (first,):
            before = text_of(filler, [size + by for by in _NEAR])
            yield Grid((before, every if small else few, behind))


BLOCKS = Scheme(
    "blocks",
    "characters and errors across each power of two up to 2^{} octets and of ten, before as many octets and more",
    *(_blocks, 4, 16, 22),
)
