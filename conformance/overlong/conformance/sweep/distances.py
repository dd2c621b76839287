"""Schemes of distance: offsets, addresses, lengths, counts of characters, blocks, and the length after an error.

The last one's strings are so long that nobody makes them (``giants.py``).
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import LETTER, Grid, Scheme
from overlong.conformance.sweep.schemes import BEHIND, SLASH, class_strings, every_octet, filled, of_all, text_of
from overlong.conformance.vectors.pieces import OWN_MEANING, every_class, fillers, of_every_lead, pieces
from overlong.reference import DIALECTS, dialect
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, SURROGATES, TRAIL_SURROGATES, well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

_FAR = tuple((1 << power) + by for power in range(10, 17) for by in range(-4, 5))
"""Further lengths: around powers of two, where counters and buffers end."""


def _lengths(profile: Profile, longest: int) -> Iterator[Grid]:
    """Every length: text that is well-formed, or has an error at its very end or its very beginning."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    last = tuple(
        dict.fromkeys(
            (b"", *some.ill_formed, *some.characters, *class_strings(automaton, 1), *class_strings(automaton, 2))
        )
    )
    heads = tuple(dict.fromkeys((*some.kinds, *class_strings(automaton, 1))))
    for filler in fillers(automaton):
        for lengths, behind in (
            (range(longest + 1), last),
            ([length for length in _FAR if length > longest], (b"", *heads)),
        ):
            if lengths:
                text = text_of(filler, lengths)
                yield Grid((text, behind))
                yield Grid((heads, text))


LENGTHS = Scheme(
    "lengths",
    "text of every length from 0 to {} octets and around powers of two, and an error at its end or its beginning",
    *(_lengths, 0, 1024, 4096),
)

_NEAR = tuple(range(-4, 5))
_ROUND = (100, 1_000, 10_000, 100_000)
_ALL_ERRORS, _ALL_FILLERS = 12, 16
"""The powers of two up to which all errors are asked at all near places, and all fillers. Beyond, only one error of
each kind is asked there, the others at fewer places, and with few fillers."""


def _numbers_near(least: int, most: int, near: Iterable[int]) -> list[int]:
    """Numbers around powers of two and of ten, between these powers of two."""
    around = [1 << power for power in range(least, most + 1)]
    around += [number for number in _ROUND if 1 << least < 2 * number <= 2 << most]
    return sorted({number + by for number in around for by in near})


def _thresholds(profile: Profile, power: int) -> Iterator[Grid]:
    """An error at, before and after offsets, lengths and counts of characters where counters and buffers end."""
    automaton = profile.dialect.automaton
    some, every_filler = pieces(automaton), fillers(automaton)
    few, all_well = (every_filler[0], every_filler[-1]), of_all(automaton)
    kinds = (*some.kinds, all_well)
    every = tuple(dict.fromkeys((*some.ill_formed, *some.characters, all_well)))
    rest = tuple(piece for piece in every if piece not in kinds)
    for least, most, errors, texts, near in (
        (3, _ALL_ERRORS, every, every_filler, _NEAR),
        (_ALL_ERRORS + 1, _ALL_FILLERS, kinds, every_filler, _NEAR),
        (_ALL_ERRORS + 1, _ALL_FILLERS, rest, few, (0, 1)),
        (_ALL_FILLERS + 1, _ALL_FILLERS + 1, rest, every_filler[:1], (0, 1)),
        (_ALL_FILLERS + 1, power, kinds, few, (-1, 0, 1)),
    ):
        if least > power:
            continue
        numbers = _numbers_near(least, min(most, power), near)
        for filler in texts:
            characters = [len(filler) * number for number in numbers]
            lengths = (*numbers, *(length for length in characters if length <= 1 << most))
            text = text_of(filler, lengths)
            yield Grid((text, errors, (b"", b"a" * BEHIND)))
            yield Grid((errors, text))


THRESHOLDS = Scheme(
    "thresholds",
    "every kind of error before and after 2^3 to 2^{} octets and characters, and 100 to 100 000",
    *(_thresholds, 3, 16, 22),
)

_BLOCK = 64
"""The offsets in the widest word that decoders test for ASCII at once."""
_AHEAD = 4096
"""The remaining octets that some decoders require before they read so wide a word."""
_TIMES = 5
"""Beyond the plan's number, offsets near powers of two are asked up to 2^5 times that number."""


def _offsets(profile: Profile, last: int) -> Iterator[Grid]:
    """An error at each offset and each distance from the end; beyond, near powers of two, in ASCII."""
    automaton = profile.dialect.automaton
    some, (ascii_filler, other, *_) = pieces(automaton), fillers(automaton)
    every = (*some.ill_formed, *some.characters)
    tail = (b"", b"a" * BEHIND)
    far = _numbers_near(last.bit_length(), last.bit_length() + _TIMES - 1, _NEAR)
    for filler, more in ((ascii_filler, far), (other, ())):
        text = text_of(filler, (*range(last + 1), *more))
        yield Grid((text, every, tail))
        yield Grid((every, text))
    yield Grid((text_of(ascii_filler, range(min(last, _BLOCK) + 1)), some.kinds, (b"a" * _AHEAD,)))


OFFSETS = Scheme(
    "offsets",
    "every kind of error at every offset from 0 to {}, as far from the end, and around greater powers of two",
    *(_offsets, 0, 128, 4096),
)


def _far(profile: Profile, power: int) -> Iterator[Grid]:
    """An error after more text than most counters and buffers hold, and before as much."""
    automaton = profile.dialect.automaton
    some, (ascii_filler, other, *others) = pieces(automaton), fillers(automaton)
    every = (*some.ill_formed, *some.characters, of_all(automaton))
    length = (1 << power) + BEHIND
    letters, wide = (text_of(filler, [length]) for filler in (ascii_filler, other))
    yield Grid((letters, every))
    yield Grid((wide, every))
    yield Grid((every, letters))
    yield Grid((some.kinds, wide))
    yield Grid((wide, (ascii_filler, *others), some.kinds))


FAR = Scheme("far", "every kind of error after 2^{} octets, and before as many", *(_far, 8, 17, 22))

_AROUND = range(-5, 2)
"""The offsets around the number: a piece of up to four octets ends right before it, across it and right behind it."""
_AT = range(-1, 2)
_LONGEST_FILLER = 3
"""The most octets of a filler: in text of two or three octets a character, the number counts octets or characters."""


def _constant(profile: Profile, number: int) -> Iterator[Grid]:
    """Errors and characters around one offset, length and count of characters."""
    automaton = profile.dialect.automaton
    (letter, *others), octets = fillers(automaton), class_strings(automaton, 1, ends=True)
    some = (*pieces(automaton).kinds, *octets, letter, *others, of_all(automaton))
    placed = tuple(dict.fromkeys(some))
    near = [number + by for by in _AROUND if number + by >= 0]
    behind = tuple(filled(letter, many) for many in (0, BEHIND, number))
    yield Grid((text_of(letter, [number // 2, *near]), placed, behind))
    yield Grid((placed, text_of(letter, near)))
    for filler in others[: _LONGEST_FILLER - 1]:
        lengths = [each * (number + by) for each in (1, len(filler)) for by in _AT]
        yield Grid((text_of(filler, lengths), placed, (b"", filler * BEHIND)))
        yield Grid((placed, text_of(filler, lengths)))


CONSTANT = Scheme(
    "constant",
    "every kind of error around {0} octets and {0} characters, a number that the decoder's code or the user names",
    *(_constant, 3, 1_000, 1 << 20),
)


@cache
def numbers_of_utf8() -> frozenset[int]:
    """The numbers that any decoder's code may name because they belong to UTF-8 or UTF-16.

    These are the ends of ranges of octets and characters of every dialect with their neighbours, surrogates, and the
    masks of octets.
    """
    ends = {octets[end] for octets in every_class() for end in (0, -1)}
    for name in DIALECTS:
        for ranges in well_formed_products(dialect(name).automaton):
            ends |= {dialect(name).layout.number(bytes(each[end] for each in ranges)) for end in (0, -1)}
    for some in (SURROGATES, LEAD_SURROGATES, TRAIL_SURROGATES):
        ends |= {some.start, some.stop, (1 << 16) - len(some)}
    ends |= {SIGNATURE, REPLACEMENT_CHARACTER}
    masks = {mask for bits in range(9) for mask in (1 << bits, (1 << bits) - 1, (1 << 8) - (1 << bits))}
    return frozenset(masks | {end + by for end in ends for by in _AT})


_LEAST_POWER, _MOST_POWER = 24, 32
_POWERS = (_LEAST_POWER, 31, _MOST_POWER)
_REST = 70
"""The octets of a string beyond the power of two: a length of fewer bits is this small."""
_EARLY = 130
"""Where an error stands that such a length hides: behind those octets, and so early that a decoder soon finds it."""
LONGEST = (1 << _MOST_POWER) + 4 * _EARLY
"""More octets than any string of the plan."""


def _giant(profile: Profile, most: int) -> Iterator[Grid]:
    """Errors and characters behind so much text; before it, a character; and an error early in it."""
    automaton = profile.dialect.automaton
    *_, longest = fillers(automaton)
    slash = next(error for error in (SLASH, *pieces(automaton).kinds) if not automaton.accepts(error))
    for power in sorted({each for each in _POWERS if each <= most} | {most}):
        size = 1 << power
        some = _all(automaton) if power == _LEAST_POWER else _few(automaton, slash)
        yield Grid(((b"",), tuple(LETTER + end for end in some)), between=size)
        yield Grid(((longest,), (LETTER,)), between=size - len(longest))
        early = LETTER * _EARLY + slash + LETTER
        yield Grid(((early,), (LETTER,)), between=size + _REST - len(early) - 1)


def _all(automaton: Automaton) -> tuple[bytes, ...]:
    return (*pieces(automaton).kinds, *fillers(automaton))


def _few(automaton: Automaton, slash: bytes) -> tuple[bytes, ...]:
    """An error before text, a truncated character, and characters: a decoder reads the whole text for each."""
    *_, truncated = (error for error in pieces(automaton).kinds if automaton.run(error) != automaton.dead)
    return slash.ljust(_REST, LETTER), truncated, b"".join(fillers(automaton))


GIANT = Scheme(
    "giant",
    "errors and characters after 2^24, 2^31 and 2^32 octets of text, those up to 2^{}",
    *(_giant, _LEAST_POWER, _MOST_POWER, _MOST_POWER),
)


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

_AT_AN_EDGE = range(-4, 2)
_EVERY, _MANY_BEHIND = 10, 10
"""The powers of two up to which every piece is asked, and up to which more than one block follows."""


def _blocks(profile: Profile, power: int) -> Iterator[Grid]:
    """Characters and errors across an edge of a block, where whole blocks follow."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    own = tuple(filter(automaton.accepts, OWN_MEANING))
    every = tuple(dict.fromkeys((*some.ill_formed, *some.characters, *own, *class_strings(automaton, 2))))
    few = tuple(dict.fromkeys((*some.kinds, *fillers(automaton), *some.characters[-8:])))
    sizes = sorted({*(1 << each for each in range(4, power + 1)), *(size for size in _ROUND[1:] if size < 1 << power)})
    first, *others = fillers(automaton)
    for size in sizes:
        small = size <= 1 << _EVERY
        blocks = (size, 2 * size, 3 * size) if size <= 1 << _MANY_BEHIND else (size + max(map(len, few)),)
        behind = tuple(first * many for many in blocks)
        for filler in (first, *others[:1]) if small else (first,):
            before = text_of(filler, [size + by for by in _AT_AN_EDGE])
            yield Grid((before, every if small else few, behind))


BLOCKS = Scheme(
    "blocks",
    "characters and errors across each power of two up to 2^{} octets and of ten, before as many octets and more",
    *(_blocks, 4, 16, 22),
)
