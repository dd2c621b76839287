"""Decoders that are wrong about nearly every string, and right ones to compare. ``same_answers.py`` certifies them.

Each is a target, ``py:wrong_everywhere.py:NAME``. They answer without work on purpose, so that nearly
all measured time is the judge's.
"""

from __future__ import annotations

import codecs


def right_validator(octets: bytes) -> bool:
    """The right validator."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


def right_decoder(octets: bytes) -> str:
    """The right decoder."""
    return octets.decode()


def refuses_all(_octets: bytes) -> bool:
    """Every string is ill-formed."""
    return False


def accepts_all(_octets: bytes) -> bool:
    """Every string is well-formed."""
    return True


def refuses_all_at_0(octets: bytes) -> str:
    """Every string is ill-formed at the first octet."""
    raise UnicodeDecodeError("utf-8", octets, 0, min(1, len(octets)), "invalid start byte")


def refuses_all_but_ascii(octets: bytes) -> str:
    """Its offsets are right if only ASCII stands before the first flaw."""
    return octets.decode("ascii")


def latin_1(octets: bytes) -> str:
    """Every octet is a character."""
    return octets.decode("latin-1")


def always_empty(_octets: bytes) -> str:
    """Every string is well-formed and decodes to the empty text."""
    return ""


def one_octet_late(octets: bytes) -> str:
    """Every offset is one too large."""
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("utf-8", octets, error.start + 1, error.end + 1, error.reason) from None


def no_replacement_character(octets: bytes) -> str:
    """It refuses U+FFFD, as if each came from a replaced flaw."""
    if "\ufffd" in (text := octets.decode()):
        raise ValueError
    return text


class EachChunkLatin1:
    """A stream decoder for which every octet is a character."""

    def decode(self, data: bytes, *, final: bool = False) -> str:
        """The characters of a chunk."""
        return codecs.latin_1_decode(data, "strict" if final else "ignore")[0]
