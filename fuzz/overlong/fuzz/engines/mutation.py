"""Mutations that keep octets nearly well-formed: they see an input like the reference, as characters and flaws."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.libfuzzer import tokens
from overlong.fuzz.generation.tokens import tokens_of
from overlong.reference import dialect, segments

if TYPE_CHECKING:
    from collections.abc import Callable

_FEW = 64
"""The most segments to see: in a long input, those around one place."""
_BLOCKS = tuple(1 << power for power in range(3, 11))
"""Usual lengths in decoders: words, vectors, buffers."""
_OTHERWISE = 3
"""One mutation in this number ignores the grammar."""


class Mutator:
    """Mutates inputs. The result depends on the input and a number alone, if ``otherwise`` does so."""

    def __init__(self, otherwise: Callable[[bytes, int], bytes]) -> None:
        """``otherwise`` changes octets regardless of their meaning: the fuzzer's own mutation."""
        self._tokens = list(dict.fromkeys((*tokens(), *tokens_of(dialect()).completed, *tokens_of(dialect()).lenient)))
        self._otherwise = otherwise
        self._random = random.Random()  # noqa: S311 (no secret)

    def __call__(self, octets: bytes, longest: int, number: int) -> bytes:
        """The mutated input, of at most ``longest`` octets."""
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
            case 4:  # replace an octet of the segment by a meaningful one
                at = chance.randrange(begin, end) if end > begin else begin
                return octets[:at] + token[:1] + octets[at + 1 :]
            case 5:  # move it to a place near a block's end
                fill = max(chance.choice(_BLOCKS) - begin - chance.randrange(len(token) + 1), 0)
                return octets[:begin] + b"a" * fill + token + octets[begin:]
            case _:
                begun, ended = self._segment(octets)
                return octets[:begin] + octets[begun:ended] + octets[begin:]

    def _segment(self, octets: bytes) -> tuple[int, int]:
        """The start and the end of a segment; at the end of the input, both are the end."""
        start = max(self._random.randrange(len(octets) + 1) - _FEW // 2, 0)
        found = [(each.offset, each.offset + each.length) for each in segments(octets[start : start + _FEW])]
        if start + _FEW >= len(octets):
            found.append((len(octets) - start, len(octets) - start))
        begin, end = self._random.choice(found)
        return start + begin, start + end
