"""Plans of distance: offsets, lengths, counts of characters, and the length after an error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.text import BEHIND, class_strings, of_all, text_of
from overlong.conformance.vectors.pieces import fillers, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.profile import Profile

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
                text = text_of(filler, lengths, "text")
                yield Grid((text, Axis("end", behind)))
                yield Grid((Axis("head", heads), text))


LENGTHS = KindOfPlan(
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
    around += [number for number in _ROUND if 1 << least - 1 < number <= 1 << most]
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
            text, error = text_of(filler, lengths), Axis("error, or a character", errors)
            yield Grid((text, error, Axis("text after it", (b"", b"a" * BEHIND))))
            yield Grid((error, text_of(filler, lengths, "text after it")))


THRESHOLDS = KindOfPlan(
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
    every = Axis("error, or a character", (*some.ill_formed, *some.characters))
    tail = Axis("text after it", (b"", b"a" * BEHIND))
    far = _numbers_near(last.bit_length(), last.bit_length() + _TIMES - 1, _NEAR)
    for filler, more in ((ascii_filler, far), (other, ())):
        offsets = (*range(last + 1), *more)
        yield Grid((text_of(filler, offsets), every, tail))
        yield Grid((every, text_of(filler, offsets, "text after it")))
    kinds, ahead = Axis("error", some.kinds), Axis("text after it", (b"a" * _AHEAD,))
    yield Grid((text_of(ascii_filler, range(min(last, _BLOCK) + 1)), kinds, ahead))


OFFSETS = KindOfPlan(
    "offsets",
    "every kind of error at every offset from 0 to {}, as far from the end, and around greater powers of two",
    *(_offsets, 0, 128, 4096),
)


def _far(profile: Profile, power: int) -> Iterator[Grid]:
    """An error after more text than most counters and buffers hold, and before as much."""
    automaton = profile.dialect.automaton
    some, (ascii_filler, other, *others) = pieces(automaton), fillers(automaton)
    every = Axis("error, or a character", (*some.ill_formed, *some.characters, of_all(automaton)))
    kinds = Axis("error", some.kinds)
    length = (1 << power) + BEHIND
    letters, wide = (text_of(filler, [length]) for filler in (ascii_filler, other))
    yield Grid((letters, every))
    yield Grid((wide, every))
    yield Grid((every, replace(letters, name="text after it")))
    yield Grid((kinds, replace(wide, name="text after it")))
    yield Grid((wide, Axis("last character before it", (ascii_filler, *others)), kinds))


FAR = KindOfPlan("far", "every kind of error after 2^{} octets, and before as many", *(_far, 8, 17, 22))
