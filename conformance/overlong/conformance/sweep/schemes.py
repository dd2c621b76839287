"""Schemes of short strings, of what stands around them, and of drawn ones.

Around them are text before and after, other errors, other characters, or an earlier call.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import CONTINUATION, Grid, Scheme
from overlong.conformance.vectors.pieces import (
    GREATEST,
    LEAST,
    OWN_MEANING,
    Dice,
    ends,
    every_class,
    fillers,
    of_every_lead,
    pieces,
    strings_for,
)
from overlong.reference import dialect
from overlong.reference.automaton import access_words, characterising_set
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton, OctetClass

SLASH = b"\xc0\xaf"
"""The overlong form that attacks use."""
BEHIND = 16
"""The octets of text after a possible error, if any."""


def every_octet() -> tuple[bytes, ...]:
    """The 256 octets."""
    return tuple(bytes([octet]) for octet in range(256))


def class_strings(automaton: Automaton, length: int, *, ends: bool = False) -> tuple[bytes, ...]:
    """Every string of that many octet classes, where the least octet represents its class; a letter replaces octet 00.

    Octet 00 has a special meaning to many decoders, and the class of ASCII has other octets. For octets that occur in
    no well-formed string the greatest is used: FF is a special mark to some decoders. With ``ends`` each class is also
    represented by its other end: C0 is a special mark as well.
    """
    names = [_name(automaton, octets) for octets in automaton.classes]
    others = [bytes([octets.octets[end]]) for octets in automaton.classes for end in (LEAST, GREATEST) if ends]
    names += [name for name in dict.fromkeys(others) if name not in names and name != b"\0"]
    return tuple(map(b"".join, product(names, repeat=length)))


def _name(automaton: Automaton, octets: OctetClass) -> bytes:
    if octets.least == 0 and ord("A") in octets.octets:
        return b"A"
    occurs = any(row[octets.least] != automaton.dead for row in automaton.table)
    return bytes([octets.least if occurs else octets.octets[GREATEST]])


def filled(filler: bytes, length: int) -> bytes:
    """``length`` octets of well-formed text: fillers, with as many ASCII letters before them as needed."""
    count, letters = divmod(length, len(filler))
    return b"a" * letters + filler * count


def text_of(filler: bytes, lengths: Iterable[int]) -> tuple[bytes, ...]:
    """Text of each of these lengths, in octets."""
    return tuple(filled(filler, length) for length in dict.fromkeys(lengths))


@cache
def of_all(automaton: Automaton) -> bytes:
    """Well-formed text with a character of every kind and every lead after one of every length."""
    own = filter(automaton.accepts, OWN_MEANING)
    every = dict.fromkeys((*of_every_lead(automaton), *pieces(automaton).characters, *own))
    return b"".join(filler + character for character in every for filler in fillers(automaton))


_LONGEST_FORM = 4
"""The octets of the longest form whose every string is asked."""
_BEFORE, _WITHIN = b"a" * 64, (b"a" * 31, b"a" * 32)
"""Text before a form at the end, and around one: enough for a decoder to begin reading blocks of octets."""


def _exhaustive(_profile: Profile, longest: int) -> Iterator[Grid]:
    """All strings of 1 to ``longest`` octets."""
    for length in range(1, longest + 1):
        yield Grid((every_octet(),) * length)


EXHAUSTIVE = Scheme("exhaustive", "every string of 1 to {} octets", _exhaustive, 1, 3, 6)


def _depth(profile: Profile, depth: int) -> Iterator[Grid]:
    """The complete suite to any depth, made as it is asked: the W-method (Vasilevskii 1973, Chow 1978).

    An access word for every state, then every string of up to ``depth + 1`` octets, then every word of a
    characterising set. Let some deterministic automaton compute a decoder's verdict: one of at most ``n + depth``
    states, or of any number of states, each reached by an access word and at most ``depth`` octets more. Then the
    decoder passes the whole suite if and only if it accepts exactly the well-formed strings (docs/theory.md).
    """
    automaton = profile.dialect.automaton
    for length in range(depth + 2):
        yield Grid((access_words(automaton), *(every_octet(),) * length, characterising_set(automaton)))


def words_within(automaton: Automaton, depth: int) -> int:
    """The number of words of an access word and up to ``depth`` more octets: the most states that ``depth`` reaches.

    Prefixes of access words are access words, so a word longer than ``depth`` is an access word and ``depth`` octets.
    """
    return sum(1 << 8 * more for more in range(depth + 1)) + (len(automaton) - 1 << 8 * depth)


DEPTH = Scheme(
    "depth",
    "no decoder of up to {states} states that differs from {speaks} passes this; nor does one of up to {within}, "
    "if each is reached within {} of the grammar's",
    *(_depth, 0, 1, 4),
)


def _forms() -> Iterator[tuple[tuple[bytes, ...], int]]:
    """The leads of each form of a character that UTF-8 ever had (RFC 2279), and the number of octets that follow.

    No octet follows octets that are no lead.
    """
    leads: set[int] = set()
    for ranges in well_formed_products(dialect("lax-rfc2279").automaton):
        leads.update(ranges[0])
        yield tuple(bytes([octet]) for octet in ranges[0]), len(ranges) - 1
    yield tuple(bytes([octet]) for octet in range(256) if octet not in leads), 0


def _leads(_profile: Profile, _number: int) -> Iterator[Grid]:
    """All 256 octets at each place of each lead, and right after; the others at the ends of their classes."""
    tails = dialect("lax-rfc2279").automaton.table[dialect("lax-rfc2279").automaton.run(b"\xc2")]
    ends = [octets[end] for octets in every_class() for end in (0, -1)]
    second = tuple(bytes([octet]) for octet in dict.fromkeys(ends) if tails[octet] == 0)
    least, greatest = min(second), max(second)
    for leads, many in _forms():
        for place in range(1, many + 2):
            axes = [leads]
            if place > 1:
                axes.append(second)
            if place > 2:
                axes.append((least * (place - 2), greatest * (place - 2)))
            axes.append(every_octet())
            if place < many:
                axes.append((least * (many - place), greatest * (many - place)))
            yield Grid(tuple(axes))
            yield Grid(((_BEFORE,), *axes))
            yield Grid(((_WITHIN[0],), *axes, (_WITHIN[1],)))


LEADS = Scheme("leads", "every octet at each place after every lead, alone, at the end of text and within it", _leads)


def _every_form(_profile: Profile, _number: int) -> Iterator[Grid]:
    """Every string with the form of a character of two to four octets, well-formed or not."""
    tails = tuple(bytes([octet]) for octet in range(0x80, 0xC0))
    for leads, many in _forms():
        if 0 < many < _LONGEST_FORM:
            yield Grid((leads, *(tails,) * many))


FORMS = Scheme("forms", "every lead of two to four octets with all of its tails", _every_form)


LONGEST = 4
"""The octets of a placed string: those of the longest character of RFC 3629."""
BOTH_ENDS = 2
"""The octets of a placed string up to which the least and the greatest octet represent each class."""
WITH_A_TAIL = 3
"""The octets of a placed string with text after it: the text replaces its fourth octet."""
TAIL = 64
"""The octets after a placed string, if any: a block of the widest vector unit."""
_FAR_BEHIND = (256, 1024, 4096)
"""The octets after an error of each kind: some decoders read so many at once, or none."""
NO_OCTET = 0xFF
"""An octet that occurs in no well-formed string."""
BLOCKS = (8, 16, 32, 64, 128)
"""The block sizes, in octets, of decoders that read more than one octet at a time."""
_REACH = 8
"""The most octets before a boundary that a pair of the longest characters can begin and still reach it."""


def _placed(profile: Profile, furthest: int) -> Iterator[Grid]:
    """Errors at an edge of a block: at every offset strings of classes, and characters of every dialect."""
    automaton = profile.dialect.automaton
    strings = [class_strings(automaton, length, ends=length <= BOTH_ENDS) for length in range(1, LONGEST + 1)]
    some = pieces(automaton)
    two = map(b"".join, product(*2 * [[octet for octet in ends(every_class()) if octet != b"\0"]]))
    forms = [form + octet for form in some.ill_formed for octet in (b"", *class_strings(automaton, 1))]
    for filler in fillers(automaton):
        before = text_of(filler, range(furthest + 1))
        placed = dict.fromkeys((*sum(strings, ()), *two, *forms))
        yield Grid((before, tuple(placed)), around=CONTINUATION)
        tail = (filler * (TAIL // len(filler)),)
        placed = dict.fromkeys((*sum(strings[:WITH_A_TAIL], ()), *some.ill_formed))
        yield Grid((before, tuple(placed), tail), around=NO_OCTET)
        long = text_of(filler, _FAR_BEHIND)
        yield Grid((before, some.kinds, long))


PLACED = Scheme(
    "placed",
    "every string of up to four classes of octets at every offset from 0 to {}, between characters of every length",
    *(_placed, 0, 64, 4096),
)


def _pairs(profile: Profile, _number: int) -> Iterator[Grid]:
    """Every two characters across every boundary of a block: tests the state carried from one block to the next."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    few = tuple(dict.fromkeys((*some.characters, *some.kinds, *class_strings(automaton, 1))))
    rest = tuple(piece for piece in some.ill_formed if piece not in few)
    offsets = sorted({block - back for block in BLOCKS for back in range(_REACH + 1)})
    for filler in fillers(automaton):
        before = text_of(filler, offsets)
        tail = (b"", filled(filler, BEHIND))
        for first, second in ((few, few), (few, rest), (rest, few)):
            yield Grid((before, first, second, tail))


PAIRS = Scheme("pairs", "every two characters, whole or cut short, at every boundary of 8 to 128 octets", _pairs)

_BETWEEN = 3
"""The most characters between a relevant one and an error."""


def _of_every_octet(automaton: Automaton) -> tuple[bytes, ...]:
    """Characters with every possible last octet: all of ASCII, and all tails."""
    found = [octet for octet in every_octet() if automaton.accepts(octet)]
    tails = [form[:-1] + octet for form in fillers(automaton)[1:2] for octet in every_octet()]
    return (*found, *filter(automaton.accepts, tails))


def _after(profile: Profile, most: int) -> Iterator[Grid]:
    """Every error after a character of every lead, with up to ``most`` others between."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    between = [filler * many for many in range(1, most + 1) for filler in fillers(automaton)]
    own = tuple(filter(automaton.accepts, OWN_MEANING))
    before, errors = tuple(dict.fromkeys((*of_every_lead(automaton), *own))), (*some.ill_formed, *some.characters)
    yield Grid((before, (b"", *between), errors, (b"", b"a" * BEHIND)))
    yield Grid((errors, tuple(b"a" * many for many in range(_REACH)), (*some.characters, *own)))
    yield Grid((_of_every_octet(automaton), errors))


AFTER = Scheme(
    "after",
    "every error after characters of every lead and last octet, with up to {} others between, and before others",
    *(_after, 0, 3, 4),
)

_AMID = (16, 64)
"""The octets of text before every transition on the first level: whole blocks of decoders that read several at
once."""
_LENGTHS = tuple(1 << power for power in range(1, 11))
"""The octets of text before every transition on the last level."""
_EVERY_LEAD = 2
"""The first level of ``transitions`` that asks them after every lead."""


def _transitions(profile: Profile, level: int) -> Iterator[Grid]:
    """Every transition of the grammar's automaton, then words that distinguish states, after text and characters.

    On the last level, each form of a character that leads to a state reaches it, for a decoder may have a state for
    each form.
    """
    automaton = profile.dialect.automaton
    words, some = access_words(automaton), fillers(automaton)

    def after(before: Iterable[bytes], words: tuple[bytes, ...]) -> Grid:
        return Grid((tuple(before), words, every_octet(), characterising_set(automaton)))

    if level < _EVERY_LEAD:
        yield after((filled(filler, length) for filler in some for length in _AMID), words)
        if level:
            yield after(pieces(automaton).characters, words)
        return
    forms = [bytes(octets[0] for octets in ranges) for ranges in well_formed_products(automaton)]
    begun = tuple(dict.fromkeys(form[:end] for form in forms for end in range(len(form))))
    of_leads = of_every_lead(automaton)
    yield after(dict.fromkeys((*of_leads, *_of_every_octet(automaton))), begun)
    yield after((character + b"a" * by for character in of_leads[1::2] for by in range(1, _BETWEEN + 1)), words)
    yield after((filled(filler, length) for filler in some for length in _LENGTHS), begun)


TRANSITIONS = Scheme(
    "transitions",
    "every transition of the grammar's automaton at level {}: 0 amid text, 1 after characters, 2 after leads, too",
    *(_transitions, 0, 2, 2),
)

_BETWEEN_PARTS = (*range(1, 10), *(1 << power for power in range(4, 9)))
"""The numbers of characters between the two parts of one."""
_FEW, _MANY, _VERY_MANY = (*range(2, 9), 16), (32, 64, 128, 255, 256, 257, 1024), (65536,)
"""The repetitions of every error, of one of each kind, and of one of each kind with nothing between."""


def _parted(automaton: Automaton) -> Iterator[bytes]:
    """Each character in two parts with text between, of which a fast path may take a whole block."""
    for character in pieces(automaton).characters:
        for filler, end, many in product(fillers(automaton), range(1, len(character)), _BETWEEN_PARTS):
            yield character[:end] + filler * many + character[end:]


def _faults(profile: Profile, most: int) -> Iterator[Grid]:
    """Errors after errors: two, three, and enough of one to overflow a counter or a flag; and parts of characters."""
    automaton = profile.dialect.automaton
    before = text_of(b"a", range(_REACH if most == 1 else BEHIND))  # so that a block ends between the parts
    yield Grid((before, tuple(_parted(automaton))))
    some, between, behind = pieces(automaton), (b"", *fillers(automaton)), (b"", b"a" * BEHIND)
    if most > 1:
        yield Grid((some.ill_formed, between, some.ill_formed, behind))
    if most > 2:
        yield Grid((some.kinds, between, some.kinds, between, some.kinds))
    for errors, numbers, texts in (
        (some.ill_formed, _FEW, between),
        (some.kinds, _MANY, between),
        (some.kinds, _VERY_MANY, (b"",)),
    ):
        repeated = [(error + text) * many for many in numbers for error in errors for text in texts]
        yield Grid((tuple(repeated),))


FAULTS = Scheme(
    "faults",
    "up to 65 536 of one error, up to {} of several together, and text between the parts of a character",
    *(_faults, 1, 3, 3),
)


def _order(profile: Profile, _number: int) -> Iterator[Grid]:
    """State left by an earlier call: the complete suite, right after strings that end in every state."""
    automaton = profile.dialect.automaton
    words = (b"", *characterising_set(automaton))
    before = dict.fromkeys(map(b"".join, product(access_words(automaton), words)))
    short = class_strings(automaton, 1) + class_strings(automaton, 2)  # a character, then an error
    strings = dict.fromkeys((*strings_for(profile.dialect), *short))
    yield Grid((tuple(before), tuple(strings)), earlier=1)


ORDER = Scheme("order", "every string of the complete suite, right after one that ends in each state", _order)

_HEADS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 1024)
"""The octets of text with which an earlier and a later string may begin."""


def _history(profile: Profile, _number: int) -> Iterator[Grid]:
    """The beginnings, lengths and ends of the earlier call; one of the two strings is well-formed, the other is not."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    first, *_, last = fillers(automaton)
    heads = tuple(dict.fromkeys(filled(filler, many) for many in _HEADS for filler in (first, last)))
    right = tuple(dict.fromkeys((*some.characters, *(filled(first, many) for many in range(9)))))
    wrong = some.kinds
    for before, now in ((right, wrong), (wrong, right), (wrong, wrong)):
        yield Grid((heads, before, heads, now), earlier=2)


HISTORY = Scheme(
    "history", "right and wrong ends of text of many lengths, right after one that begins like it", _history
)


GRIDS = 64
_TEXTS, _PIECES, _TEXTS_BETWEEN, _TEXTS_BEHIND = 16, 15, 4, 4
"""Choices of text before, of pieces (besides none), of text between and behind: 65 536 strings a grid."""
_MORE_PIECES = 127
"""The choices of pieces for a soak: 4 194 304 strings a grid."""
DRAWN_IN_SOAK = ((1 + _MORE_PIECES) // (1 + _PIECES)) ** 2
"""The number of ``drawn`` plans that have as many strings as a ``soak`` plan."""


_SAMPLE = (2, 3, 1, 2)
"""The same for a sample: 64 strings a grid. Few, so that the slowest target bears them, with new text in each grid."""


def _drawn(
    profile: Profile,
    seed: int,
    many: tuple[int, int, int, int] = (_TEXTS, _PIECES, _TEXTS_BETWEEN, _TEXTS_BEHIND),
    grids: int = GRIDS,
) -> Iterator[Grid]:
    """Two pieces that may be ill-formed, with text before, between and after them: all drawn."""
    dice = Dice(seed, profile.dialect.automaton)
    texts, many_pieces, *others = many
    for _ in range(grids):
        before, between, behind = (tuple(dice.text() for _ in range(each)) for each in (texts, *others))
        first, second = ((b"", *(dice.piece() for _ in range(many_pieces))) for _ in range(2))
        yield Grid((before, first, between, second, behind))


DRAWN = Scheme("drawn", "4 194 304 strings that the seed {} draws from the grammar", *(_drawn, 0, 1, 999_999_999))
SOAK = Scheme(
    "soak",
    "268 435 456 strings that the seed {} draws from the grammar",
    partial(_drawn, many=(_TEXTS, _MORE_PIECES, _TEXTS_BETWEEN, _TEXTS_BEHIND)),
    *(0, 1, 999_999_999),
)
SAMPLE = Scheme(
    "sample",
    "2 048 strings that the seed {} draws from the grammar",
    partial(_drawn, many=_SAMPLE, grids=32),
    *(0, 1, 999_999_999),
)
