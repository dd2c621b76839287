#!/usr/bin/env python3
"""CPython's UTF-8 decoder against the reference: strictly, replacing, and in chunks.

No ``from __future__``: for coverage reports lines are put before these.
"""

import codecs
import sys
from random import Random
from zlib import crc32

import atheris

with atheris.instrument_imports(include=["overlong"]):
    from running import RAISES, compared, fuzz

    from overlong.conformance.oracle.compare import compare
    from overlong.conformance.protocol.observation import Accepted, Observation, Refused
    from overlong.conformance.protocol.wire import DECODE, REPLACE
    from overlong.conformance.vectors.vector import Vector, cut

CUT = "unexpected end of data"
"""What CPython says where more octets might help."""
DECODER = codecs.getincrementaldecoder("utf-8")


def one_input(octets: bytes) -> None:
    """Every way to decode some octets."""
    vector = Vector("fuzz", octets)
    strict = observed(octets, "strict")
    whole_strict(vector, strict)
    replaced = observed(octets, "replace")
    whole_replacing(vector, replaced)
    chunks = cut(octets, lengths(octets))
    in_chunks_strict(chunks, strict)
    in_chunks_replacing(chunks, replaced)
    compared()


def whole_strict(vector: Vector, seen: Observation) -> None:
    """The octets at once."""
    judge(vector, DECODE, seen)


def whole_replacing(vector: Vector, seen: Observation) -> None:
    """The same with U+FFFD for each maximal subpart."""
    judge(vector, REPLACE, seen)


def in_chunks_strict(chunks: list[bytes], whole: Observation) -> None:
    """The octets as a stream; where it is refused, offsets count from what the decoder kept, and are not compared."""
    seen = streamed(chunks, "strict")
    same = isinstance(seen, Refused) if isinstance(whole, Refused) else seen == whole
    if not same:
        RAISES["OV501"](f"{chunks!r}: {seen}, and the whole {whole}")


def in_chunks_replacing(chunks: list[bytes], whole: Observation) -> None:
    """The same with U+FFFD for each maximal subpart."""
    seen = streamed(chunks, "replace")
    if seen != whole:
        RAISES["OV501"](f"{chunks!r}: {seen}, and the whole {whole}")


def judge(vector: Vector, operation: str, seen: Observation) -> None:
    """Raise what is wrong with an answer under its own name."""
    finding = compare(vector, operation, seen)
    if finding is not None:
        RAISES[finding.code](f"{vector.octets!r}: expected {finding.expected_words}, observed {finding.observed_words}")


def observed(octets: bytes, errors: str) -> Observation:
    """What CPython makes of the octets."""
    try:
        return Accepted(tuple(map(ord, octets.decode("utf-8", errors))))
    except UnicodeDecodeError as error:
        return Refused(error.start, error.end - error.start, error.reason == CUT)


def streamed(chunks: list[bytes], errors: str) -> Observation:
    """What its incremental decoder makes of them."""
    decoder = DECODER(errors)
    try:
        text = "".join(decoder.decode(chunk, number == len(chunks)) for number, chunk in enumerate(chunks, 1))
    except UnicodeDecodeError:
        return Refused()
    return Accepted(tuple(map(ord, text)))


def lengths(octets: bytes) -> list[int]:
    """Lengths of chunks: they follow from the octets, so that a seed is octets and nothing else."""
    chance, left = Random(crc32(octets)), len(octets)  # noqa: S311 (no secret)
    result = [0] * (chance.random() < 0.5)
    while left:
        result.append(min(left, chance.choice((1, 1, 2, 3, 4, 8, 64))))
        left -= result[-1]
    return result or [0]


if __name__ == "__main__":
    fuzz(one_input, sys.argv)
