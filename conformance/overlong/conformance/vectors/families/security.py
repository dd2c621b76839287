"""Inputs with which somebody got past a filter (RFC 3629 section 10; Unicode Technical Report 36)."""

from __future__ import annotations

from overlong.conformance.vectors.builders import overlong, surrogate, truncated, well_formed
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("security", "inputs that get past a filter")


@FAMILY.case
def parent_folder() -> bytes:
    """RFC 3629 section 10: "/../" with an overlong full stop"""
    return b"/" + overlong(0x2E, 2) + b"./"


@FAMILY.case
def parent_folder_all_overlong() -> bytes:
    """a step to the parent folder with nothing in it that a filter knows"""
    return overlong(0x2E, 2) * 2 + overlong(0x2F, 2)


@FAMILY.case
def parent_folder_in_three() -> bytes:
    """a step to the parent folder with a slash of three octets"""
    return b".." + overlong(0x2F, 3)


@FAMILY.case
def backslash() -> bytes:
    """an overlong backslash in a path"""
    return b".." + overlong(0x5C, 2) + b"cmd.exe"


@FAMILY.case
def nul_in_two_octets() -> bytes:
    """RFC 3629 section 3: NUL in two octets, as Java's modified UTF-8 writes it"""
    return overlong(0, 2)


@FAMILY.case
def file_name_cut_at_nul() -> bytes:
    """a file name that an overlong NUL cuts before its harmless ending"""
    return b"shell.php" + overlong(0, 2) + b".png"


@FAMILY.case
def script_tag() -> bytes:
    """a tag whose less-than sign is overlong"""
    return overlong(0x3C, 2) + b"script>"


@FAMILY.case
def quotation_mark_swallowed() -> bytes:
    """a lead octet before the quotation mark that closes an attribute"""
    return b'<a title="' + truncated(0xE9, 1) + b'" href=x>'


@FAMILY.case
def tag_swallowed() -> bytes:
    """two octets of three before a less-than sign"""
    return truncated(0x20AC, 2) + b"<script>"


@FAMILY.case
def dropped_octet_joins() -> bytes:
    """an octet that must not vanish: without FF this is a tag"""
    return b"<scr" + b"\xff" + b"ipt>"


@FAMILY.case
def dropped_surrogate_joins() -> bytes:
    """a surrogate that must not vanish: without it this is a tag"""
    return b"<scr" + surrogate(0xD800) + b"ipt>"


@FAMILY.case
def line_break() -> bytes:
    """overlong CR and LF, to split a header"""
    return b"x" + overlong(0x0D, 2) + overlong(0x0A, 2) + b"Set-Cookie: y"


@FAMILY.case
def quote_after_lead() -> bytes:
    """a lead octet before a single quote and a comment, as in SQL"""
    return truncated(0xE9, 1) + b"' OR 1=1 --"


@FAMILY.case
def format_character() -> bytes:
    """an overlong percent sign"""
    return overlong(0x25, 2) + b"00"


@FAMILY.case
def right_to_left_override() -> bytes:
    """U+202E is well-formed: what it does on a screen is not the decoder's affair"""
    return well_formed(0x61, 0x202E, 0x62)
