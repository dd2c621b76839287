"""Characters cut short by the end of the input."""

from __future__ import annotations

from overlong.conformance.vectors.families.edges import prefixes
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("truncated", "characters cut short by the end of the input")


@FAMILY.cases("prefix", prefixes())
def at_the_end(prefix: bytes) -> bytes:
    """{prefix:hex}, which more octets could complete, at the end"""
    return prefix


@FAMILY.cases("prefix", prefixes())
def behind_ascii(prefix: bytes) -> bytes:
    """{prefix:hex} at the end, behind ASCII"""
    return b"a" + prefix


@FAMILY.cases("prefix", prefixes()[::2])
def behind_a_character(prefix: bytes) -> bytes:
    """{prefix:hex} at the end, behind a three-octet character"""
    return "€".encode() + prefix
