"""Characters with a meaning of their own, at the ends of ranges and in long runs; and text beside faults."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

from overlong.conformance.vectors.families.family import (
    Family,
    first_and_last,
    out_of_range,
    overlong,
    products,
    spelt,
    surrogate,
    truncated,
    well_formed,
)
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterator


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
def signature_cut_short(count: int) -> bytes:
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


# Characters of all lengths, one after another.

CONCATENATION = Family("concatenation", "faults and characters in a row: each is judged separately")
_OF_EACH_LENGTH = (0x7A, 0xE9, 0x20AC, 0x1F600)


@CONCATENATION.cases("left, right", product(_OF_EACH_LENGTH, repeat=2))
def two(left: int, right: int) -> bytes:
    """U+{left:04X}, then U+{right:04X}"""
    return well_formed(left, right)


@CONCATENATION.cases("first, second, third, fourth", permutations(_OF_EACH_LENGTH))
def every_order(first: int, second: int, third: int, fourth: int) -> bytes:
    """U+{first:04X}, U+{second:04X}, U+{third:04X}, U+{fourth:04X}"""
    return well_formed(first, second, third, fourth)


CONCATENATION.one("all-ends", b"".join(first_and_last()), "the first and the last character of every range, in order")


@CONCATENATION.case
def all_ends_reversed() -> bytes:
    """the last and the first character of every range, in reverse order"""
    return b"".join(reversed(first_and_last()))


@CONCATENATION.case
def every_fault() -> bytes:
    """one of each kind of fault, one after another"""
    return b"".join(
        (
            overlong(0x2F, 2),
            surrogate(0xD800),
            out_of_range(0x110000),
            out_of_range(0x200000),
            b"\xff",
            b"\x80",
            truncated(0x20AC, 2),
        )
    )


@CONCATENATION.case
def every_fault_between_letters() -> bytes:
    """one of each kind of fault, with a letter after each"""
    return b"a".join(
        (b"", overlong(0x2F, 2), surrogate(0xD800), out_of_range(0x110000), b"\xff", b"\x80", truncated(0x20AC, 2), b"")
    )


# A decoder must read the octets after a fault as if the fault were not there.

RESYNCHRONISATION = Family("resynchronisation", "text after a fault decodes as usual")
FAULTS = {
    "an unexpected tail": b"\x80",
    "C0": b"\xc0",
    "F5": b"\xf5",
    "FF": b"\xff",
    "an overlong slash": overlong(0x2F, 3),
    "a surrogate": surrogate(0xD800),
    "a number out of range": out_of_range(0x110000),
    "a number of six octets": out_of_range(0x7FFFFFFF),
    "one octet of two": truncated(0xE9, 1),
    "two octets of three": truncated(0x20AC, 2),
    "three octets of four": truncated(0x1F600, 3),
}


@RESYNCHRONISATION.cases(
    "name, fault, scalar",
    [(*fault, scalar) for fault, scalar in product(FAULTS.items(), (0x61, 0xE9, 0x20AC, 0x1F600))],
)
def a_character_after(name: str, fault: bytes, scalar: int) -> bytes:  # noqa: ARG001 (for the sentence)
    """{name}, then U+{scalar:04X} twice, which must survive"""
    return fault + well_formed(scalar, scalar)


RESYNCHRONISATION.one("in-the-middle-of-ascii", b"a" * 20 + b"\xff" + b"b" * 20, "FF in the middle of ASCII")


@RESYNCHRONISATION.cases("count", (1, 2, 3))
def alternating(count: int) -> bytes:
    """a letter and {count:octets} of U+1F600, eight times"""
    return (b"a" + truncated(0x1F600, count)) * 8


@RESYNCHRONISATION.cases("place", (15, 31, 63))
def at_the_edge_of_a_block(place: int) -> bytes:
    """a number out of range that begins at offset {place}"""
    return b"a" * place + out_of_range(0x110000)


@RESYNCHRONISATION.cases("place", (15, 31, 63))
def lead_as_the_last_octet_of_a_block(place: int) -> bytes:
    """a lead octet as the last octet of a block of {place} and one"""
    return b"a" * place + truncated(0xE9, 1)


@RESYNCHRONISATION.cases("place", (16, 32, 64))
def first_octet_of_a_block(place: int) -> bytes:
    """FF as the first octet after a block of {place}"""
    return b"a" * place + b"\xff"


@RESYNCHRONISATION.case
def one_tail_too_many_after_fifty_characters() -> bytes:
    """one tail octet too many after 150 octets of three-octet characters"""
    return well_formed(*[0x20AC] * 50) + b"\x80"


# Runs longer than any vector unit: sequences of one length throughout, or with a single fault.

LONG_RUN = Family("long-run", "runs longer than any vector unit, with at most one fault")
_LETTERS = (0x61, 0xE9, 0x20AC, 0x1F600)
_OCTETS = 256


def _run(scalar: int) -> bytes:
    character = well_formed(scalar)
    return character * (_OCTETS // len(character) + 1)


@LONG_RUN.cases("scalar", _LETTERS)
def of_one_length(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, over more than 256 octets"""
    return _run(scalar)


@LONG_RUN.cases("scalar", _LETTERS)
def with_a_tail_too_many(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, then a tail octet"""
    return _run(scalar) + b"\x80"


@LONG_RUN.cases("scalar", _LETTERS[1:])
def long_run_cut_short(scalar: int) -> bytes:
    """U+{scalar:04X} again and again, the last one without its last octet"""
    return _run(scalar)[:-1]


@LONG_RUN.cases("place, octet", product((15, 16, 31, 32, 63, 64, 127, 128), (0x80, 0xC3, 0xFF)))
def one_fault(place: int, octet: int) -> bytes:
    """{octet:02X} at offset {place} of 160 letters"""
    return b"a" * place + bytes([octet]) + b"a" * (159 - place)


@LONG_RUN.cases("place", (13, 14, 15, 29, 30, 31, 61, 62, 63))
def a_character_across_a_block(place: int) -> bytes:
    """U+1F600 at offset {place}, across the edge of a block"""
    return b"a" * place + well_formed(0x1F600) + b"a" * 16


@LONG_RUN.cases("length", (1000, 4097))
def letters(length: int) -> bytes:
    """{length} letters"""
    return b"a" * length


# Every grammar range: its first and last octet, in each place, and the neighbours just outside.

BOUNDARY = Family("boundary", "the ends of every range of the grammar, and both neighbours")
_ENDS = [
    (octets, spelt(ranges), which)
    for ranges, pair in zip(products(), zip(first_and_last()[::2], first_and_last()[1::2], strict=True), strict=True)
    for which, octets in zip(("first", "last"), pair, strict=True)
]


def _neighbours() -> Iterator[tuple[bytes, int, str, int, str]]:
    """Octets, the octet just outside a range, the side and the place of that octet, and the ranges."""
    for ranges in products():
        for end in (0, -1):
            character = bytes(octets[end] for octets in ranges)
            for place, octets in enumerate(ranges):
                beyond = octets[end] + (-1 if end == 0 else 1)
                if 0 <= beyond < 0x100:
                    outside = character[:place] + bytes([beyond]) + character[place + 1 :]
                    yield outside, beyond, "before" if end == 0 else "after", place, spelt(ranges)


@BOUNDARY.cases("octets, ranges, which", _ENDS)
def end_of_a_range(octets: bytes, ranges: str, which: str) -> bytes:  # noqa: ARG001 (for the sentence)
    """the {which} character of {ranges}"""
    return octets


@BOUNDARY.cases("octets, beyond, side, place, ranges", _neighbours())
def neighbour(octets: bytes, beyond: int, side: str, place: int, ranges: str) -> bytes:  # noqa: ARG001
    """{beyond:02X}, the octet just {side} the range at place {place} of {ranges}"""
    return octets


@BOUNDARY.cases("first", (0x0, 0x80, 0x800, 0x10000))
def first_of_a_length(first: int) -> bytes:
    """U+{first:04X}, the first scalar value of its length, between ASCII letters"""
    return well_formed(0x41, first, 0x5A)


@BOUNDARY.cases("last", (0x7F, 0x7FF, 0xFFFF, CODE_POINTS.stop - 1))
def last_of_a_length(last: int) -> bytes:
    """U+{last:04X}, the last scalar value of its length, between ASCII letters"""
    return well_formed(0x41, last, 0x5A)


@BOUNDARY.cases("scalar", (SURROGATES.start - 1, SURROGATES.stop))
def beside_the_surrogates(scalar: int) -> bytes:
    """U+{scalar:04X}, next to the surrogates, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)


@BOUNDARY.cases("scalar", [plane * 0x10000 + end for plane in (3, 4, 15, 16) for end in (0, 0xFFFD)])
def end_of_a_plane(scalar: int) -> bytes:
    """U+{scalar:04X}, at the edge of a plane, between ASCII letters"""
    return well_formed(0x41, scalar, 0x5A)
