"""Encoders that are wrong in long text only, each with one planted fault, and what the examiner must say of each.

Each class is a target: ``py:wrong_on_long_text.py:NAME``. They encode by Python's codec, and so fast.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

SAID: dict[str, tuple[str, str]] = {}
"""For each the code of its fault, and the sentence."""
Encode = Callable[[str], bytes]


def refusal(index: int) -> Any:
    """A refusal in the form of the adapter, which loads this file."""
    return sys.modules["__main__"].Refusal(index)


def utf8(text: str) -> bytes:
    return text.encode()


def size(encode: Encode, text: str) -> bytes:
    return len(encode(text)).to_bytes(4, "big")


def of_points(encode: Encode, payload: bytes) -> Any:
    """The answer for code points; the first that no string holds is refused, if nothing before it is."""
    numbers = struct.unpack(f">{len(payload) // 4}I", payload)
    end = next((place for place, number in enumerate(numbers) if number > 0x10FFFF), None)
    try:
        octets = encode("".join(map(chr, numbers[:end])))
    except UnicodeEncodeError as error:
        return refusal(error.start)
    return octets if end is None else refusal(end)


def of_units(block: int, payload: bytes) -> Any:
    """The answer for code units, which are read in blocks."""
    blocks = (payload[start : start + 2 * block] for start in range(0, len(payload), 2 * block))
    text = "".join(each.decode("utf-16-be", "surrogatepass") for each in blocks)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        return refusal(len(text[: error.start].encode("utf-16-be", "surrogatepass")) // 2)


def target(points: Encode = utf8, announced: Encode = utf8, block: int = 1 << 20) -> Any:
    """An object for the adapter that encodes and announces so."""

    class Target:
        operations = {  # noqa: RUF012
            "E": lambda many: [of_points(points, each) for each in many],
            "F": lambda many: [of_units(block, each) for each in many],
            "Z": lambda many: [of_points(lambda text: size(announced, text), each) for each in many],
        }

    return Target


right = target()


def _unchecked(text: str) -> bytes:
    return text[:32].encode() + text[32:].encode("utf-8", "surrogatepass")


unchecked_from_32 = target(_unchecked)
SAID["unchecked_from_32"] = "OV703", "writes surrogates for U+D800 to U+DFFF at index 32 or more"


def _short(text: str) -> bytes:
    return text.encode()[:-1] if len(text) >= 64 and text.isascii() else text.encode()


loses_the_last_of_64 = target(_short)
SAID["loses_the_last_of_64"] = (
    "OV702",
    "writes other octets for text of characters of 1 octet and of 64 or more code points",
)


def _small(text: str) -> bytes:
    return text.encode()[: 1 << 10]


announces_1024_at_most = target(announced=_small)
SAID["announces_1024_at_most"] = "OV706", "announces another size for text of 1 025 or more octets"


splits_pairs = target(block=1024)
SAID["splits_pairs"] = "OV701", "refuses to encode U+10000 to U+10FFFF at index 1023 modulo 1024"


def _with_blind_lane(text: str) -> bytes:
    if len(text) >= 64:
        "".join("a" if place % 16 == 5 else each for place, each in enumerate(text)).encode()  # all that is checked
    return text.encode("utf-8", "strict" if len(text) < 64 else "surrogatepass")


blind_lane = target(_with_blind_lane)
SAID["blind_lane"] = (
    "OV703",
    "writes surrogates for U+D800 to U+DFFF in text of 64 or more code points and at index 5 modulo 16",
)


def _in_whole_blocks(text: str) -> bytes:
    whole = len(text) // 32 * 32
    return text[:whole].encode() + text[whole:].encode("utf-8", "surrogatepass" if whole else "strict")


unchecked_rest = target(_in_whole_blocks)
SAID["unchecked_rest"] = "OV703", "writes surrogates for U+D800 to U+DFFF in the rest after blocks of 32"
