"""Plans of what stands around: text before and behind, other errors, other characters, lengths and counts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import CONTINUATION, Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.pieces import (
    class_strings,
    ends,
    every_class,
    every_octet,
    filled,
    fillers,
    pieces,
    text_of,
)
from overlong.reference.order import well_formed_products
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

LONGEST = 4
"""Octets of a placed string: those of the longest character of RFC 3629."""
BOTH_ENDS = 2
"""Octets of a placed string up to which each class goes by its least and its greatest octet."""
WITH_A_TAIL = 3
"""Octets of a placed string that has text behind it: the text is what its fourth octet would be."""
TAIL = 64
"""Octets behind a placed string, where there are any: a block of the widest vector unit."""
_FAR_BEHIND = (256, 1024, 4096)
"""Octets behind an error of each kind: some decoders look at so many at once, or not at all."""
NO_OCTET = 0xFF
"""An octet that occurs in no well-formed string."""
_FAR = tuple((1 << power) + by for power in range(10, 17) for by in range(-4, 5))
"""Lengths that are asked besides: around powers of two, where counters and buffers end."""
BLOCKS = (8, 16, 32, 64, 128)
"""Octets in the blocks of decoders that read more than one at a time."""
_REACH = 8
"""Octets before a boundary at which a pair of the longest characters can begin and still reach it."""
_BEHIND = 16
"""Octets of text behind what might be wrong, where there are any."""


def _placed(profile: Profile, furthest: int) -> Iterator[Grid]:
    """What goes wrong at an edge of a block: at every offset strings of classes, and characters of every dialect."""
    automaton = profile.dialect.automaton
    strings = [class_strings(automaton, length, ends=length <= BOTH_ENDS) for length in range(1, LONGEST + 1)]
    some = pieces(automaton)
    two = map(b"".join, product(*2 * [[octet for octet in ends(every_class()) if octet != b"\0"]]))
    forms = [form + octet for form in some.ill_formed for octet in (b"", *class_strings(automaton, 1))]
    for filler in fillers(automaton):
        before = text_of(filler, range(furthest + 1))
        placed = dict.fromkeys((*sum(strings, ()), *two, *forms))
        yield Grid((before, Axis("placed string", tuple(placed))), around=CONTINUATION)
        tail = Axis("text behind it", (filler * (TAIL // len(filler)),))
        placed = dict.fromkeys((*sum(strings[:WITH_A_TAIL], ()), *some.ill_formed))
        yield Grid((before, Axis("placed string", tuple(placed)), tail), around=NO_OCTET)
        long = text_of(filler, _FAR_BEHIND, "text behind it")
        yield Grid((before, Axis("placed string", some.kinds), long))


PLACED = KindOfPlan(
    "placed",
    "every string of up to four classes of octets at every offset from 0 to {}, between characters of every length",
    *(_placed, 0, 64, 4096),
)


def _lengths(profile: Profile, longest: int) -> Iterator[Grid]:
    """Every length: text that is well-formed, or wrong at its very end, or at its very beginning."""
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
                text = text_of(filler, lengths, "text")
                yield Grid((text, Axis("end", behind)))
                yield Grid((Axis("head", heads), text))


LENGTHS = KindOfPlan(
    "lengths",
    "text of every length from 0 to {} octets and around powers of two, and an error at its end or its beginning",
    *(_lengths, 0, 1024, 4096),
)


def _pairs(profile: Profile, _number: int) -> Iterator[Grid]:
    """Every two characters across every boundary of a block: what is carried from one block to the next."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    few = tuple(dict.fromkeys((*some.characters, *some.kinds, *class_strings(automaton, 1))))
    rest = tuple(piece for piece in some.ill_formed if piece not in few)
    offsets = sorted({block - back for block in BLOCKS for back in range(_REACH + 1)})
    for filler in fillers(automaton):
        before = text_of(filler, offsets)
        tail = Axis("text behind it", (b"", filled(filler, _BEHIND)))
        for first, second in ((few, few), (few, rest), (rest, few)):
            yield Grid((before, Axis("first character", first), Axis("second character", second), tail))


PAIRS = KindOfPlan("pairs", "every two characters, whole or cut short, at every boundary of 8 to 128 octets", _pairs)

_OWN_MEANING = tuple(bytes([octet]) for octet in b"\0\t\n\r \"'/<\\")
"""ASCII that ends strings and lines, or has a meaning in the syntax of many formats."""
_BETWEEN = 3
"""Characters that stand between one that may matter and an error, at most."""


def _of_every_lead(automaton: Automaton) -> tuple[bytes, ...]:
    """The first and the last character of every lead."""
    found: dict[bytes, None] = {}
    for leads, *rest in well_formed_products(automaton):
        for lead in leads if rest else (leads[1], leads[-1]):  # of ASCII two are enough; octet 00 is no letter to some
            for end in (0, -1):
                found.setdefault(bytes([lead, *(octets[end] for octets in rest)]))
    return tuple(found)


def _of_every_octet(automaton: Automaton) -> tuple[bytes, ...]:
    """A character that ends in each octet that one can end in: all of ASCII, and all tails."""
    found = [octet for octet in every_octet() if automaton.accepts(octet)]
    tails = [form[:-1] + octet for form in fillers(automaton)[1:2] for octet in every_octet()]
    return (*found, *filter(automaton.accepts, tails))


def _of_all(automaton: Automaton) -> bytes:
    """Well-formed text with a character of every kind and every lead behind one of every length."""
    own = filter(automaton.accepts, _OWN_MEANING)
    every = dict.fromkeys((*_of_every_lead(automaton), *pieces(automaton).characters, *own))
    return b"".join(filler + character for character in every for filler in fillers(automaton))


def _after(profile: Profile, _number: int) -> Iterator[Grid]:
    """Every error after a character of every lead, and up to three others between."""
    automaton = profile.dialect.automaton
    some = pieces(automaton)
    between = [filler * many for many in range(1, _BETWEEN + 1) for filler in fillers(automaton)]
    own = filter(automaton.accepts, _OWN_MEANING)
    yield Grid(
        (
            Axis("character before it", tuple(dict.fromkeys((*_of_every_lead(automaton), *own)))),
            Axis("text between", (b"", *between)),
            Axis("error, or none", (*some.ill_formed, *some.characters)),
            Axis("text behind it", (b"", b"a" * _BEHIND)),
        )
    )
    yield Grid(
        (
            Axis("error, or none", (*some.ill_formed, *some.characters)),
            Axis("text between", tuple(b"a" * many for many in range(_REACH))),
            Axis("character behind it", (*some.characters, *filter(automaton.accepts, _OWN_MEANING))),
        )
    )
    before = Axis("character before it", _of_every_octet(automaton))
    yield Grid((before, Axis("error, or none", (*some.ill_formed, *some.characters))))


AFTER = KindOfPlan(
    "after",
    "every error after characters of every lead and last octet, with up to three others between, and before others",
    _after,
)

_LENGTHS = tuple(1 << power for power in range(1, 11))
"""Octets of text after which every transition is asked."""


def _transitions(profile: Profile, _number: int) -> Iterator[Grid]:
    """Every transition of the grammar's automaton, with what tells states apart, after characters and after text.

    A state is reached by each form of a character that leads there, for a decoder may have a state for each.
    """
    automaton = profile.dialect.automaton
    forms = [bytes(octets[0] for octets in ranges) for ranges in well_formed_products(automaton)]
    begun = tuple(dict.fromkeys(form[:end] for form in forms for end in range(len(form))))
    of_leads, some = _of_every_lead(automaton), fillers(automaton)
    alone = dict.fromkeys((*of_leads, *_of_every_octet(automaton)))
    parted = [character + b"a" * by for character in of_leads[1::2] for by in range(1, _BETWEEN + 1)]
    texts = [filled(filler, length) for filler in some for length in _LENGTHS]
    for before, words in ((alone, begun), (parted, access_words(automaton)), (texts, begun)):
        yield Grid(
            (
                Axis("text before it", tuple(before)),
                Axis("access word", words),
                Axis("any octet", every_octet()),
                Axis("suffix", characterising_set(automaton)),
            )
        )


TRANSITIONS = KindOfPlan(
    "transitions",
    "every transition of the grammar's automaton, after every kind of character and of text",
    _transitions,
)

_FEW, _MANY, _VERY_MANY = (*range(2, 9), 16), (32, 64, 128, 255, 256, 257, 1024), (65536,)
"""How often an error is repeated: every one, one of each kind, one of each kind with nothing between."""


def _faults(profile: Profile, _number: int) -> Iterator[Grid]:
    """Errors after errors: two, three, and as many as a counter or a flag may forget."""
    automaton = profile.dialect.automaton
    some, between = pieces(automaton), Axis("text between", (b"", *fillers(automaton)))
    behind = Axis("text behind it", (b"", b"a" * _BEHIND))
    every, kinds = Axis("first error", some.ill_formed), Axis("first error", some.kinds)
    yield Grid((every, between, Axis("second error", some.ill_formed), behind))
    second, third = (Axis(name, some.kinds) for name in ("second error", "third error"))
    yield Grid((kinds, between, second, Axis("text between these", between.choices), third))
    for errors, numbers, texts in (
        (some.ill_formed, _FEW, between.choices),
        (some.kinds, _MANY, between.choices),
        (some.kinds, _VERY_MANY, (b"",)),
    ):
        repeated = [(error + text) * many for many in numbers for error in errors for text in texts]
        yield Grid((Axis("errors", tuple(repeated)),))


FAULTS = KindOfPlan("faults", "every two errors, every three kinds of them, and up to 65 536 of one", _faults)

_NEAR = tuple(range(-4, 5))
_ROUND = (100, 1_000, 10_000, 100_000)
_ALL_ERRORS, _ALL_FILLERS = 12, 16
"""Up to these powers of two all is asked everywhere near, and every filler; beyond, the kinds of errors, the others of
them at fewer places, and few fillers."""


def _numbers_near(least: int, most: int, near: Iterable[int]) -> list[int]:
    """Numbers around powers of two and of ten, between these powers of two."""
    around = [1 << power for power in range(least, most + 1)]
    around += [number for number in _ROUND if 1 << least - 1 < number <= 1 << most]
    return sorted({number + by for number in around for by in near})


def _thresholds(profile: Profile, power: int) -> Iterator[Grid]:
    """An error at, before and behind offsets, lengths and counts of characters where counters and buffers end."""
    automaton = profile.dialect.automaton
    some, every_filler = pieces(automaton), fillers(automaton)
    few, all_well = (every_filler[0], every_filler[-1]), _of_all(automaton)
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
            text, error = text_of(filler, lengths), Axis("error, or a character", errors)
            yield Grid((text, error, Axis("text behind it", (b"", b"a" * _BEHIND))))
            yield Grid((error, text_of(filler, lengths, "text behind it")))


THRESHOLDS = KindOfPlan(
    "thresholds",
    "every kind of error before and behind 2^3 to 2^{} octets and characters, and 100 to 100 000",
    *(_thresholds, 3, 16, 22),
)
