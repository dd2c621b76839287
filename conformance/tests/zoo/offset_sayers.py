"""Decoders whose UnicodeDecodeError is not about their input, like those of parsers."""

from __future__ import annotations

import codecs


def quoted(octets: bytes) -> str:
    """Like ``json.loads``, simplejson and rapidjson: the input is between quotation marks."""
    return (b'"' + octets + b'"').decode()[1:-1]


def sliced(octets: bytes) -> str:
    """Like the codec of ftfy: it decodes the ASCII octets at the start separately."""
    start = next((place for place, octet in enumerate(octets) if octet >= 0x80), len(octets))
    return octets[:start].decode("ascii") + octets[start:].decode()


def copied(octets: bytes) -> str:
    """An error about a copy is as good as one about the input itself."""
    return bytearray(octets).decode()


def off_by_one(octets: bytes) -> str:
    """An error about the input, with a wrong offset."""
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("mine", octets, error.start + 1, error.end + 1, "ill-formed") from None


def in_other_words(octets: bytes) -> str:
    """Its reason is none of CPython's, and does not tell whether more octets might help."""
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("mine", octets, error.start, error.end, "ill-formed") from None


def sliced_off_by_one(octets: bytes) -> str:
    """Wrong offsets in errors about its input, and none in others."""
    start = next((place for place, octet in enumerate(octets) if octet >= 0x80), len(octets))
    return octets[:start].decode("ascii") + off_by_one(octets[start:])


def well_formed(octets: bytes) -> bool:
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded(octets: bytes) -> str | UnicodeDecodeError:
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        return error


class WithValidator:
    """Like simdutf8: its validator says only yes or no, its decoder also reports offsets."""

    operations = {  # noqa: RUF012
        "V": lambda many: list(map(well_formed, many)),
        "D": lambda many: list(map(decoded, many)),
    }


class NoWords(UnicodeDecodeError):
    """An error without any details."""

    def __init__(self) -> None:
        pass


def mute(octets: bytes) -> str:
    """Raises a subclass of the exception without details."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise NoWords from None


class Quoted:
    """A stream between quotation marks; it declares that its offsets count from its start."""

    traits = {"stream_offsets": "stream"}  # noqa: RUF012

    def __init__(self) -> None:
        self._kept, self._out = b'"', 0

    def decode(self, data: bytes, *, final: bool = False) -> str:
        """Decode all octets so far again."""
        self._kept += data
        text, _ = codecs.utf_8_decode(self._kept, "strict", final)
        out, self._out = text[max(self._out, 1) :], len(text)
        return out
