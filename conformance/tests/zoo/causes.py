"""Wrong decoders whose one cause has many consequences, or that have two causes."""

from __future__ import annotations

import codecs
import random
import re

E_ACUTE = b"\xc3\xa9"


def refuses_it_and_counts_from_one(octets: bytes) -> str:
    """Two faults: each offset is one too large, too."""
    place = octets.find(E_ACUTE)
    try:
        text = octets.decode()
    except UnicodeDecodeError as error:
        if not 0 <= place < error.start:
            raise UnicodeDecodeError("utf-8", octets, error.start + 1, error.end + 1, error.reason) from None
    if place >= 0:
        raise UnicodeDecodeError("utf-8", octets, place, place + 2, "refused")
    return text


def _read(found: re.Match[bytes]) -> bytes:
    return chr(found[0][1] % 64 * 64 + found[0][2] % 64).encode()


def takes_longer_forms(octets: bytes) -> str:
    """E0 80-9F is read as what the octets stand for."""
    longer = re.sub(b"\xe0[\x80-\x9f][\x80-\xbf]", _read, octets)
    try:
        return longer.decode()
    except UnicodeDecodeError as error:
        raise ValueError from error


def takes_numbers_beyond(octets: bytes) -> str:
    """F5-F7 80-BF 80-BF 80-BF is a character: of less than that, the rest is missing."""
    beyond = re.compile(b"[\xf5-\xf7][\x80-\xbf]{3}")
    plain = beyond.sub(b"aaaa", octets)
    try:
        return plain.decode()
    except UnicodeDecodeError as error:
        begun = re.compile(b"[\xf5-\xf7][\x80-\xbf]{0,2}").match(plain, error.start)
        if begun is None:
            raise
        reason = "unexpected end of data" if begun.end() == len(plain) else "invalid continuation byte"
        raise UnicodeDecodeError("utf-8", octets, begun.start(), begun.end(), reason) from None


class LosesText:
    """After an error it goes on behind the next ASCII character."""

    traits = {"error_mode": "replacement"}  # noqa: RUF012

    @staticmethod
    def _decode(octets: bytes) -> str:
        text = octets.decode("utf-8", "replace")
        return text if b"\xef\xbf\xbd" in octets else re.sub("\ufffd[^\x00-\x7f\ufffd]*[\x00-\x7f]", "\ufffd", text)

    operations = {"L": lambda many: [LosesText._decode(octets) for octets in many]}  # noqa: RUF012


def latin_1(octets: bytes) -> str:
    return octets.decode("latin-1")


def strips(octets: bytes) -> str:
    return octets.decode().strip()


def overlooks_the_ends_of_ascii(octets: bytes) -> str:
    """Blocks of 32 begin wherever the text before them ended, and their last octet is not looked at."""
    text, place = "", 0
    while place < len(octets):
        block = octets[place : place + 32]
        if block[:31].isascii():
            text += block.decode("ascii", "replace")
        else:
            while len(block) > 1 and octets[place + len(block) : place + len(block) + 1] > b"\x7f":
                block = block[:-1]
            text += block.decode()
        place += len(block)
    return text


def has_a_buffer(octets: bytes) -> bool:
    try:
        return bool(octets[:60].decode() or True)
    except UnicodeDecodeError:
        return False


_DICE = random.Random(0)


def now_and_then(octets: bytes) -> str:
    """Accepts half of what is ill-formed, whatever it is."""
    return octets.decode(errors="replace" if _DICE.random() < 0.5 else "strict")


def refuses_it(octets: bytes) -> str:
    try:
        text, end = octets.decode(), len(octets)
    except UnicodeDecodeError as error:
        text, end = "", error.start
        right = error
    place = octets.find(E_ACUTE, 0, end)
    if place >= 0:
        raise UnicodeDecodeError("utf-8", octets, place, place + 2, "refused")
    if end < len(octets):
        raise right
    return text


class ReplacesIt:
    traits = {"error_mode": "replacement"}  # noqa: RUF012

    @staticmethod
    def _decode(octets: bytes) -> str:
        return octets.replace(E_ACUTE, b"\xff\xff").decode("utf-8", "replace")

    operations = {"L": lambda many: [ReplacesIt._decode(octets) for octets in many]}  # noqa: RUF012


class RefusesItInStreams:
    """It says places, counted from the first octet that it had kept."""

    traits = {"stream_offsets": "kept"}  # noqa: RUF012

    def __init__(self) -> None:
        self.kept = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        octets = self.kept + data
        place = octets.find(E_ACUTE)
        text, used = codecs.utf_8_decode(octets[: place if place >= 0 else None], "strict", final or place >= 0)
        if place >= 0:
            raise UnicodeDecodeError("utf-8", octets, place, place + 2, "refused")
        self.kept = octets[used:]
        if self.kept[:1] == b"\xed" and self.kept[1:] >= b"\xa0":  # python/cpython#154520
            raise UnicodeDecodeError("utf-8", octets, used, used + 1, "invalid")
        return text
