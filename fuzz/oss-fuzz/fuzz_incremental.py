#!/usr/bin/env python3
"""The reference against itself: a stream gives the text of the whole, in every error mode, however it is cut.

No ``from __future__``: for coverage reports lines are put before these.
"""

import sys
from random import Random
from zlib import crc32

import atheris

with atheris.instrument_imports(include=["overlong"]):
    from running import RAISES, compared, fuzz

    from overlong.reference import ERROR_MODES, IllFormed, IncrementalDecoder, decode


def one_input(octets: bytes) -> None:
    """The whole and the stream, one error mode after the other."""
    chance = Random(crc32(octets))  # noqa: S311 (no secret)
    for error_mode in ERROR_MODES:
        in_chunks(octets, error_mode, chance)
        compared()


def in_chunks(octets: bytes, error_mode: str, chance: Random) -> None:
    """The stream, by decoders that hand their state to each other now and then."""
    seen, whole = streamed(octets, error_mode, chance), at_once(octets, error_mode)
    if seen != whole:
        RAISES["OV501"](f"{octets!r}, {error_mode}: {seen!r}, and the whole {whole!r}")


def at_once(octets: bytes, error_mode: str) -> str | tuple[int, int, bool]:
    """The text, or the refusal."""
    try:
        return decode(octets, error_mode)
    except IllFormed as error:
        return error.offset, error.length, error.incomplete


def streamed(octets: bytes, error_mode: str, chance: Random) -> str | tuple[int, int, bool]:
    """The same of a stream, cut by chance."""
    decoder, text, place = IncrementalDecoder(error_mode), "", 0
    try:
        while place < len(octets):
            length = chance.choice((0, 1, 1, 2, 3, 4, 8, 64))
            text += decoder.decode(octets[place : place + length])
            place += length
            if chance.random() < 0.25:
                other = IncrementalDecoder(error_mode)
                other.setstate(decoder.getstate())
                decoder = other
        return text + decoder.decode(b"", final=True)
    except IllFormed as error:
        return error.offset, error.length, error.incomplete


if __name__ == "__main__":
    fuzz(one_input, sys.argv)
