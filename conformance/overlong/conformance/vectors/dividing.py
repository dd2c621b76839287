"""Output in bulk: a regular expression that the automaton gives cuts text into segments, and each is decoded once.

The readable decoder says what a segment stands for; this module remembers it. So long text costs a tenth, and dialects
that give a segment a meaning by its place (a signature, pairs, wtf-8's lead surrogates) are left to that decoder.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from overlong.reference import ERROR_MODES, MaximalSubpart, segments
from overlong.reference.decoder import taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.reference import Dialect, ErrorMode
    from overlong.reference.automaton import Automaton

_REMEMBERED = 1 << 16
"""The segments that are remembered for a mode."""
_ANY = ERROR_MODES["replacement"]
"""A mode for text without errors, of which all modes make the same."""


class _Outputs(dict[bytes, tuple[int, ...]]):
    """The output of a mode for each segment met so far."""

    def __init__(self, mode: ErrorMode, spoken: Dialect) -> None:
        super().__init__()
        self._mode, self._spoken = mode, spoken

    def __missing__(self, octets: bytes) -> tuple[int, ...]:
        made = tuple(self._mode.output(segments(octets, spoken=self._spoken), octets))
        if len(self) < _REMEMBERED:
            self[octets] = made
        return made


def replaced(octets: bytes, mode: ErrorMode, spoken: Dialect) -> Iterable[int]:
    """The scalar values of octets in an error mode that refuses none."""
    if mode.each_alone is None or not _is_plain(spoken):
        return mode.output(taken(octets, mode, spoken), octets)
    return chain.from_iterable(map(_outputs(mode, spoken).__getitem__, _segment(spoken.automaton).findall(octets)))


def first_flaw(octets: bytes, spoken: Dialect) -> MaximalSubpart | tuple[int, ...]:
    """The first maximal subpart of octets; or their scalar values, if they are well-formed."""
    start = 0
    if _is_plain(spoken):
        text = _text(spoken.automaton).match(octets)
        start = text.end() if text else 0
        if start == len(octets):
            characters = _segment(spoken.automaton).findall(octets)
            return tuple(chain.from_iterable(map(_outputs(_ANY, spoken).__getitem__, characters)))
    scalars = list[int]()
    for found in segments(octets, start, spoken):
        if isinstance(found, MaximalSubpart):
            return found
        scalars += found.scalars
    return tuple(scalars)


@cache
def _outputs(mode: ErrorMode, spoken: Dialect) -> _Outputs:
    return _Outputs(mode, spoken)


@cache
def _is_plain(spoken: Dialect) -> bool:
    """True if a segment has one meaning: no rule joins some, and all characters end in the start state."""
    automaton = spoken.automaton
    return spoken.rule == type(spoken.rule)() and automaton.accepting == (True, *[False] * (len(automaton) - 1))


@cache
def _segment(automaton: Automaton) -> re.Pattern[bytes]:
    """Matches a segment: a character, as much of one as is there, or else one octet."""
    return re.compile(_from(automaton, 0, b"?") + b"|[\\x00-\\xff]")


@cache
def _text(automaton: Automaton) -> re.Pattern[bytes]:
    """Matches all characters at the start."""
    return re.compile(b"(?:" + _from(automaton, 0, b"") + b")*")


def _from(automaton: Automaton, state: int, often: bytes) -> bytes:
    """The alternatives from a state on; ``?`` after what follows an octet lets it be missing."""
    following: dict[int, list[bytes]] = {}
    for octet, after in enumerate(automaton.table[state]):
        if after != automaton.dead:
            following.setdefault(after, []).append(b"\\x%02x" % octet)
    return b"|".join(
        b"["
        + b"".join(octets)
        + b"]"
        + (b"" if automaton.accepting[after] else b"(?:" + _from(automaton, after, often) + b")" + often)
        for after, octets in following.items()
    )
