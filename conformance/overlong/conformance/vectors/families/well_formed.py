"""Text that every decoder accepts."""

from __future__ import annotations

from overlong.conformance.vectors.builders import well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("well-formed", "text that every decoder accepts")


@FAMILY.case
def nothing() -> bytes:
    """nothing at all is well-formed"""
    return b""


@FAMILY.case
def not_identical() -> bytes:
    """RFC 3629 section 7: A, not identical to, Alpha, full stop"""
    return well_formed(0x41, 0x2262, 0x391, 0x2E)


@FAMILY.case
def hangugo() -> bytes:
    """RFC 3629 section 7: hangugo"""
    return well_formed(0xD55C, 0xAD6D, 0xC5B4)


@FAMILY.case
def nihongo() -> bytes:
    """RFC 3629 section 7: nihongo"""
    return well_formed(0x65E5, 0x672C, 0x8A9E)


@FAMILY.case
def signature_and_u233b4() -> bytes:
    """RFC 3629 section 7: a signature and U+233B4"""
    return well_formed(0xFEFF, 0x233B4)


@FAMILY.case
def replacement_character() -> bytes:
    """U+FFFD itself is well-formed: seeing it is not an error"""
    return well_formed(0xFFFD)


@FAMILY.case
def all_of_printable_ascii() -> bytes:
    """all of printable ASCII"""
    return well_formed(*range(0x20, 0x7F))


@FAMILY.cases("control", (0x01, 0x09, 0x0A, 0x0D, 0x1B, 0x1F, 0x7F, 0x85, 0x9F))
def control(control: int) -> bytes:
    """U+{control:04X} is a control character, and a scalar value"""
    return well_formed(control)


@FAMILY.case
def line_ends() -> bytes:
    """CR LF, LF, CR and 1A, which a pipe in text mode changes or takes for the end"""
    return b"a\r\nb\nc\rd\x1ae"
