"""Mutations that keep octets nearly well-formed: they see an input as the reference does, as characters and flaws."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.libfuzzer import tokens
from overlong.fuzz.generation.tokens import tokens_of
from overlong.reference import dialect, segments

if TYPE_CHECKING:
    from collections.abc import Callable

_FEW = 64
"""Segments that are looked at: of a long input, those around one place."""
_BLOCKS = tuple(1 << power for power in range(3, 11))
"""Lengths that decoders are built around: words, vectors, buffers."""
_OTHERWISE = 3
"""One mutation in so many ignores the grammar."""


class Mutator:
    """Changes inputs; a pure function of the input and a number, if what it leaves to others is."""

    def __init__(self, otherwise: Callable[[bytes, int], bytes]) -> None:
        """``otherwise`` changes octets without regard to what they mean: the fuzzer's own mutation."""
        self._tokens = list(dict.fromkeys((*tokens(), *tokens_of(dialect()).completed, *tokens_of(dialect()).lenient)))
        self._otherwise = otherwise
        self._random = random.Random()  # noqa: S311 (no secret)

    def __call__(self, octets: bytes, longest: int, number: int) -> bytes:
        """The input changed, of at most ``longest`` octets."""
        chance = self._random
        chance.seed(number)
        if chance.randrange(_OTHERWISE) == 0:
            return self._otherwise(octets, longest)
        for _ in range(1 + chance.randrange(3)):
            octets = self._changed(octets)
        return octets[:longest]

    def _changed(self, octets: bytes) -> bytes:
        chance = self._random
        begin, end = self._segment(octets)
        token = chance.choice(self._tokens)
        match chance.randrange(7):
            case 0 | 1:
                return octets[:begin] + token + octets[begin:]
            case 2:
                return octets[:begin] + token + octets[end:]
            case 3:
                return octets[:begin] + octets[end:]
            case 4:  # an octet of the segment, by one that means something
                at = chance.randrange(begin, end) if end > begin else begin
                return octets[:at] + token[:1] + octets[at + 1 :]
            case 5:  # moved to a place around a block's end
                fill = max(chance.choice(_BLOCKS) - begin - chance.randrange(len(token) + 1), 0)
                return octets[:begin] + b"a" * fill + token + octets[begin:]
            case _:
                begun, ended = self._segment(octets)
                return octets[:begin] + octets[begun:ended] + octets[begin:]

    def _segment(self, octets: bytes) -> tuple[int, int]:
        """Where a segment begins and ends; at the end of the input, both."""
        start = max(self._random.randrange(len(octets) + 1) - _FEW // 2, 0)
        found = [(each.offset, each.offset + each.length) for each in segments(octets[start : start + _FEW])]
        if start + _FEW >= len(octets):
            found.append((len(octets) - start, len(octets) - start))
        begin, end = self._random.choice(found)
        return start + begin, start + end
