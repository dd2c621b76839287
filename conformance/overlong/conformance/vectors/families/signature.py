"""U+FEFF as the first character may be a signature; anywhere else it is a character (RFC 3629 section 6)."""

from __future__ import annotations

from overlong.conformance.vectors.builders import truncated, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("signature", "U+FEFF: a signature at the start at most, a character elsewhere")

BOM = 0xFEFF


@FAMILY.case
def alone() -> bytes:
    """U+FEFF alone"""
    return well_formed(BOM)


@FAMILY.case
def before_text() -> bytes:
    """U+FEFF before a text"""
    return well_formed(BOM, 0x61, 0xE9)


@FAMILY.case
def inside() -> bytes:
    """U+FEFF inside a text is a character"""
    return well_formed(0x61, BOM, 0x62)


@FAMILY.case
def at_the_end() -> bytes:
    """U+FEFF at the end is a character"""
    return well_formed(0x61, BOM)


@FAMILY.case
def twice() -> bytes:
    """U+FEFF twice: at most the first is a signature"""
    return well_formed(BOM, BOM)


@FAMILY.case
def three_times() -> bytes:
    """U+FEFF three times, then text"""
    return well_formed(BOM, BOM, BOM, 0x61)


@FAMILY.cases("count", (1, 2))
def cut_short(count: int) -> bytes:
    """the first {count:octets} of U+FEFF, at the end"""
    return truncated(BOM, count)


@FAMILY.cases("count", (1, 2))
def interrupted(count: int) -> bytes:
    """the first {count:octets} of U+FEFF, then a letter, which must survive"""
    return truncated(BOM, count) + b"a"


@FAMILY.case
def after_an_error() -> bytes:
    """U+FEFF after FF is no signature"""
    return b"\xff" + well_formed(BOM)


@FAMILY.case
def before_an_error() -> bytes:
    """U+FEFF before FF: offsets count its three octets"""
    return well_formed(BOM) + b"\xff"


@FAMILY.case
def of_utf_16_big_endian() -> bytes:
    """FE FF is UTF-16's signature, and ill-formed here"""
    return b"\xfe\xff\x00a"


@FAMILY.case
def of_utf_16_little_endian() -> bytes:
    """FF FE is UTF-16's signature, and ill-formed here"""
    return b"\xff\xfea\x00"


@FAMILY.cases("at", (1, 2))
def split(at: int) -> tuple[bytes, ...]:
    """U+FEFF cut after {at:octets}, then text"""
    octets = well_formed(BOM)
    return octets[:at], octets[at:] + b"a"


@FAMILY.case
def octet_by_octet() -> tuple[bytes, ...]:
    """U+FEFF twice, an octet at a time"""
    return tuple(bytes([octet]) for octet in well_formed(BOM, BOM, 0x61))


@FAMILY.case
def second_chunk_begins_with_it() -> tuple[bytes, ...]:
    """U+FEFF at the start of the second chunk is a character"""
    return b"a", well_formed(BOM, 0x62)


@FAMILY.case
def every_chunk_begins_with_it() -> tuple[bytes, ...]:
    """U+FEFF at the start of every chunk: at most the first is a signature"""
    return well_formed(BOM, 0x61), well_formed(BOM, 0x62), well_formed(BOM)


@FAMILY.case
def after_an_empty_chunk() -> tuple[bytes, ...]:
    """U+FEFF after an empty first chunk is still at the start"""
    return b"", well_formed(BOM, 0x61)
