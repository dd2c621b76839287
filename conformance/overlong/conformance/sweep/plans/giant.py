"""The plan of giant strings: errors and characters behind more text than a number of 24, 31 or 32 bits counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import LETTER, Axis, Grid
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.vectors.pieces import fillers, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton

_LEAST, _MOST = 24, 32
_POWERS = (_LEAST, 31, _MOST)
_SLASH = b"\xc0\xaf"
"""The overlong form that attacks use."""
_REST = 70
"""The octets of a string beyond the power of two: a length of fewer bits is this small."""
_EARLY = 130
"""Where an error stands that such a length hides: behind those octets, and so early that a decoder soon finds it."""
LONGEST = (1 << _MOST) + 4 * _EARLY
"""More octets than any string of the plan."""


def _giant(profile: Profile, most: int) -> Iterator[Grid]:
    """Errors and characters behind so much text; before it, a character; and an error early in it."""
    automaton = profile.dialect.automaton
    *_, longest = fillers(automaton)
    slash = next(error for error in (_SLASH, *pieces(automaton).kinds) if not automaton.accepts(error))
    for power in sorted({each for each in _POWERS if each <= most} | {most}):
        size = 1 << power
        some = _all(automaton) if power == _LEAST else _few(automaton, slash)
        ends = Axis("end", tuple(LETTER + end for end in some))
        yield Grid((Axis("beginning", (b"",)), ends), between=size)
        yield Grid((Axis("beginning", (longest,)), Axis("end", (LETTER,))), between=size - len(longest))
        early = LETTER * _EARLY + slash + LETTER
        yield Grid((Axis("beginning", (early,)), Axis("end", (LETTER,))), between=size + _REST - len(early) - 1)


def _all(automaton: Automaton) -> tuple[bytes, ...]:
    return (*pieces(automaton).kinds, *fillers(automaton))


def _few(automaton: Automaton, slash: bytes) -> tuple[bytes, ...]:
    """An error before text, a truncated character, and characters: a decoder reads the whole text for each."""
    *_, truncated = (error for error in pieces(automaton).kinds if automaton.run(error) != automaton.dead)
    return slash.ljust(_REST, LETTER), truncated, b"".join(fillers(automaton))


GIANT = KindOfPlan(
    "giant",
    "errors and characters after 2^24, 2^31 and 2^32 octets of text, those up to 2^{}",
    *(_giant, _LEAST, _MOST, _MOST),
)
