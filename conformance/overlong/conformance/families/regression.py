"""What real decoders got wrong, each with the decoder and the public record of it."""

from __future__ import annotations

from overlong.conformance.families.family import Family

FAMILY = Family("regression", "real decoders got these wrong")


@FAMILY.bug("simdjson", "https://github.com/simdjson/simdjson/issues/1169")
def simdjson_1169() -> bytes:
    """FF as the last octet of a block of 64, accepted"""
    return b" " * 63 + b"\xff"
