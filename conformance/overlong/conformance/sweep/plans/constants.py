"""Plans for one number each: errors and characters around it, where the code of a decoder names it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.text import BEHIND, class_strings, filled, of_all, text_of
from overlong.conformance.vectors.pieces import every_class, fillers, pieces
from overlong.reference import DIALECTS, dialect
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, SURROGATES, TRAIL_SURROGATES, well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

_NEAR = range(-5, 2)
"""The offsets around the number: a piece of up to four octets ends right before it, across it and right behind it."""
_AT = range(-1, 2)
_KINDS_OF_TEXT = 3
"""The most octets of a filler: in text of two or three octets a character, the number counts octets or characters."""


def _constant(profile: Profile, number: int) -> Iterator[Grid]:
    """Errors and characters around one offset, length and count of characters."""
    automaton = profile.dialect.automaton
    (letter, *others), octets = fillers(automaton), class_strings(automaton, 1, ends=True)
    some = (*pieces(automaton).kinds, *octets, letter, *others, of_all(automaton))
    placed = Axis("error, or characters", tuple(dict.fromkeys(some)))
    near = [number + by for by in _NEAR if number + by >= 0]
    behind = Axis("text after it", tuple(filled(letter, many) for many in (0, BEHIND, number)))
    yield Grid((text_of(letter, [number // 2, *near]), placed, behind))
    yield Grid((placed, text_of(letter, near, "text after it")))
    for filler in others[: _KINDS_OF_TEXT - 1]:
        lengths = [each * (number + by) for each in (1, len(filler)) for by in _AT]
        yield Grid((text_of(filler, lengths), placed, Axis("text after it", (b"", filler * BEHIND))))
        yield Grid((placed, text_of(filler, lengths, "text after it")))


CONSTANT = KindOfPlan(
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
