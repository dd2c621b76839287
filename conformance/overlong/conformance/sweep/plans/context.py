"""Plans of contexts: text before and after, other errors, other characters, an earlier call."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import CONTINUATION, Grid, Scheme
from overlong.conformance.sweep.plans.text import BEHIND, class_strings, every_octet, filled, text_of
from overlong.conformance.vectors.complete import strings_for
from overlong.conformance.vectors.pieces import OWN_MEANING, ends, every_class, fillers, of_every_lead, pieces
from overlong.reference.automaton import access_words, characterising_set
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

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
