"""Decoders whose UnicodeDecodeError speaks of something else than their input, as those of parsers do."""

from __future__ import annotations

import codecs


def quoted(octets: bytes) -> str:
    """As ``json.loads``, simplejson and rapidjson do: the input stands between quotation marks."""
    return (b'"' + octets + b'"').decode()[1:-1]


def sliced(octets: bytes) -> str:
    """As the codec of ftfy does: what stands before the first octet that is not ASCII is decoded by itself."""
    start = next((place for place, octet in enumerate(octets) if octet >= 0x80), len(octets))
    return octets[:start].decode("ascii") + octets[start:].decode()


def copied(octets: bytes) -> str:
    """A copy says as much as the input itself."""
    return bytearray(octets).decode()


def off_by_one(octets: bytes) -> str:
    """It speaks of its input, and wrongly."""
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("mine", octets, error.start + 1, error.end + 1, "ill-formed") from None


def in_other_words(octets: bytes) -> str:
    """Its reason is no word of CPython's, and does not say whether more octets might help."""
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("mine", octets, error.start, error.end, "ill-formed") from None


def sliced_off_by_one(octets: bytes) -> str:
    """Wrong where it speaks of its input, and mute elsewhere."""
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
    """As simdutf8: its validator says yes or no, its decoder says where as well."""

    operations = {  # noqa: RUF012
        "V": lambda many: list(map(well_formed, many)),
        "D": lambda many: list(map(decoded, many)),
    }


class NoWords(UnicodeDecodeError):
    """An error that was never told what it is about."""

    def __init__(self) -> None:
        pass


def mute(octets: bytes) -> str:
    """As a subclass of the exception that says nothing does."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise NoWords from None


class Quoted:
    """A stream between quotation marks; its offsets are said to count from its start."""

    traits = {"stream_offsets": "stream"}  # noqa: RUF012

    def __init__(self) -> None:
        self._kept, self._out = b'"', 0

    def decode(self, data: bytes, *, final: bool = False) -> str:
        """All octets so far, decoded again."""
        self._kept += data
        text, _ = codecs.utf_8_decode(self._kept, "strict", final)
        out, self._out = text[max(self._out, 1) :], len(text)
        return out
