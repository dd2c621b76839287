"""Text that every decoder accepts: NUL, signatures and noncharacters are characters; inputs that got past filters."""

from __future__ import annotations

from overlong.conformance.vectors.builders import overlong, surrogate, truncated, well_formed
from overlong.conformance.vectors.families.family import Family

# Text that every decoder accepts.

WELL_FORMED = Family("well-formed", "text that every decoder accepts")
WELL_FORMED.one("nothing", b"", "nothing at all is well-formed")


@WELL_FORMED.case
def not_identical() -> bytes:
    """RFC 3629 section 7: A, not identical to, Alpha, full stop"""
    return well_formed(0x41, 0x2262, 0x391, 0x2E)


WELL_FORMED.one("hangugo", well_formed(0xD55C, 0xAD6D, 0xC5B4), "RFC 3629 section 7: hangugo")
WELL_FORMED.one("nihongo", well_formed(0x65E5, 0x672C, 0x8A9E), "RFC 3629 section 7: nihongo")
WELL_FORMED.one("signature-and-u233b4", well_formed(0xFEFF, 0x233B4), "RFC 3629 section 7: a signature and U+233B4")
WELL_FORMED.one("replacement-character", well_formed(0xFFFD), "U+FFFD itself is well-formed: seeing it is not an error")
WELL_FORMED.one("all-of-printable-ascii", well_formed(*range(0x20, 0x7F)), "all of printable ASCII")


@WELL_FORMED.cases("control", (0x01, 0x09, 0x0A, 0x0D, 0x1B, 0x1F, 0x7F, 0x85, 0x9F))
def control(control: int) -> bytes:
    """U+{control:04X} is a control character, and a scalar value"""
    return well_formed(control)


@WELL_FORMED.case
def line_ends() -> bytes:
    """CR LF, LF, CR and 1A, which a pipe in text mode changes or takes for the end"""
    return b"a\r\nb\nc\rd\x1ae"


# NUL is a character like any other.

NUL = Family("nul", "NUL is a character like any other, and ends nothing")
NUL.one("alone", well_formed(0), "NUL is a character like any other")
NUL.one("inside", well_formed(0x61, 0, 0x62), "NUL inside a text does not end it")
NUL.one("at-the-start", well_formed(0, 0x61), "NUL before a text does not empty it")
NUL.one("at-the-end", well_formed(0x61, 0), "NUL after a text is part of it")
NUL.one("run", well_formed(*[0] * 9), "nine NULs: a word of zeros and one more")
NUL.one("before-an-error", well_formed(0x61, 0) + b"\xff", "what stands after NUL is checked, too: FF")
NUL.one("before-an-unexpected-tail", well_formed(0) + b"\x80", "00 80: the tail octet after NUL is ill-formed")


@NUL.cases("scalar, count", [(0xE9, 1), (0x20AC, 1), (0x20AC, 2), (0x1F600, 1), (0x1F600, 2), (0x1F600, 3)])
def inside_a_sequence(scalar: int, count: int) -> bytes:
    """NUL after {count:octets} of U+{scalar:04X}: a character cut short, then NUL"""
    return truncated(scalar, count) + well_formed(0)


# U+FEFF as the first character may be a signature; anywhere else it is a character (RFC 3629 section 6).

SIGNATURE = Family("signature", "U+FEFF may be a signature at the start; elsewhere it is a character")
BOM = 0xFEFF
SIGNATURE.one("alone", well_formed(BOM), "U+FEFF alone")
SIGNATURE.one("before-text", well_formed(BOM, 0x61, 0xE9), "U+FEFF before a text")
SIGNATURE.one("inside", well_formed(0x61, BOM, 0x62), "U+FEFF inside a text is a character")
SIGNATURE.one("at-the-end", well_formed(0x61, BOM), "U+FEFF at the end is a character")
SIGNATURE.one("twice", well_formed(BOM, BOM), "U+FEFF twice: at most the first is a signature")
SIGNATURE.one("three-times", well_formed(BOM, BOM, BOM, 0x61), "U+FEFF three times, then text")


@SIGNATURE.cases("count", (1, 2))
def cut_short(count: int) -> bytes:
    """the first {count:octets} of U+FEFF, at the end"""
    return truncated(BOM, count)


@SIGNATURE.cases("count", (1, 2))
def interrupted(count: int) -> bytes:
    """the first {count:octets} of U+FEFF, then a letter, which must survive"""
    return truncated(BOM, count) + b"a"


SIGNATURE.one("after-an-error", b"\xff" + well_formed(BOM), "U+FEFF after FF is no signature")
SIGNATURE.one("before-an-error", well_formed(BOM) + b"\xff", "U+FEFF before FF: offsets count its three octets")
SIGNATURE.one("of-utf-16-big-endian", b"\xfe\xff\x00a", "FE FF is UTF-16's signature, and ill-formed here")
SIGNATURE.one("of-utf-16-little-endian", b"\xff\xfea\x00", "FF FE is UTF-16's signature, and ill-formed here")


@SIGNATURE.cases("at", (1, 2))
def split(at: int) -> tuple[bytes, ...]:
    """U+FEFF cut after {at:octets}, then text"""
    octets = well_formed(BOM)
    return octets[:at], octets[at:] + b"a"


@SIGNATURE.case
def octet_by_octet() -> tuple[bytes, ...]:
    """U+FEFF twice, an octet at a time"""
    return tuple(bytes([octet]) for octet in well_formed(BOM, BOM, 0x61))


@SIGNATURE.case
def second_chunk_begins_with_it() -> tuple[bytes, ...]:
    """U+FEFF at the start of the second chunk is a character"""
    return b"a", well_formed(BOM, 0x62)


@SIGNATURE.case
def every_chunk_begins_with_it() -> tuple[bytes, ...]:
    """U+FEFF at the start of every chunk: at most the first is a signature"""
    return well_formed(BOM, 0x61), well_formed(BOM, 0x62), well_formed(BOM)


@SIGNATURE.case
def after_an_empty_chunk() -> tuple[bytes, ...]:
    """U+FEFF after an empty first chunk is still at the start"""
    return b"", well_formed(BOM, 0x61)


# Noncharacters are scalar values: a decoder lets them through (Unicode D14; corrigendum 9).

NONCHARACTER = Family("noncharacter", "noncharacters are scalar values")


@NONCHARACTER.cases("scalar", [plane * 0x10000 + end for plane in range(17) for end in (0xFFFE, 0xFFFF)])
def end_of_plane(scalar: int) -> bytes:
    """U+{scalar:04X} is a noncharacter, and a scalar value"""
    return well_formed(scalar)


@NONCHARACTER.cases("scalar", (0xFDCF, 0xFDD0, 0xFDEF, 0xFDF0))
def arabic_presentation_forms(scalar: int) -> bytes:
    """U+{scalar:04X}, at an end of the 32 noncharacters among Arabic presentation forms"""
    return well_formed(scalar)


NONCHARACTER.one("inside-a-text", well_formed(0x61, 0xFFFE, 0x62), "U+FFFE inside a text is no swapped byte order mark")

# Inputs that got past a filter (RFC 3629 section 10; Unicode Technical Report 36).

SECURITY = Family("security", "inputs that get past a filter")


@SECURITY.case
def parent_folder() -> bytes:
    """RFC 3629 section 10: "/../" with an overlong full stop"""
    return b"/" + overlong(0x2E, 2) + b"./"


@SECURITY.case
def parent_folder_all_overlong() -> bytes:
    """a step to the parent folder with nothing in it that a filter knows"""
    return overlong(0x2E, 2) * 2 + overlong(0x2F, 2)


@SECURITY.case
def parent_folder_in_three() -> bytes:
    """a step to the parent folder with a slash of three octets"""
    return b".." + overlong(0x2F, 3)


SECURITY.one("backslash", b".." + overlong(0x5C, 2) + b"cmd.exe", "an overlong backslash in a path")


@SECURITY.case
def nul_in_two_octets() -> bytes:
    """RFC 3629 section 3: NUL in two octets, as Java's modified UTF-8 writes it"""
    return overlong(0, 2)


@SECURITY.case
def file_name_cut_at_nul() -> bytes:
    """a file name that an overlong NUL cuts before its harmless ending"""
    return b"shell.php" + overlong(0, 2) + b".png"


SECURITY.one("script-tag", overlong(0x3C, 2) + b"script>", "a tag whose less-than sign is overlong")


@SECURITY.case
def quotation_mark_swallowed() -> bytes:
    """a lead octet before the quotation mark that closes an attribute"""
    return b'<a title="' + truncated(0xE9, 1) + b'" href=x>'


SECURITY.one("tag-swallowed", truncated(0x20AC, 2) + b"<script>", "two octets of three before a less-than sign")


@SECURITY.case
def dropped_octet_joins() -> bytes:
    """an octet that must not vanish: without FF this is a tag"""
    return b"<scr" + b"\xff" + b"ipt>"


@SECURITY.case
def dropped_surrogate_joins() -> bytes:
    """a surrogate that must not vanish: without it this is a tag"""
    return b"<scr" + surrogate(0xD800) + b"ipt>"


@SECURITY.case
def line_break() -> bytes:
    """overlong CR and LF, to split a header"""
    return b"x" + overlong(0x0D, 2) + overlong(0x0A, 2) + b"Set-Cookie: y"


@SECURITY.case
def quote_after_lead() -> bytes:
    """a lead octet before a single quote and a comment, as in SQL"""
    return truncated(0xE9, 1) + b"' OR 1=1 --"


SECURITY.one("format-character", overlong(0x25, 2) + b"00", "an overlong percent sign")


@SECURITY.case
def right_to_left_override() -> bytes:
    """U+202E is well-formed: what it does on a screen is not the decoder's affair"""
    return well_formed(0x61, 0x202E, 0x62)
