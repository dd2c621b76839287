"""Target protocol, version 1: its operations, sizes and frames. ``docs/protocol.md`` explains it.

All integers are big-endian. This room neither starts processes nor judges answers.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1

ECHO, VALIDATE, DECODE, REPLACE = "P", "V", "D", "L"
STREAM_DECODE, STREAM_REPLACE, BATCH = "S", "T", "B"
AGAIN_DECODE, AGAIN_REPLACE = "N", "M"
ENCODE, ENCODE_UTF16, ANNOUNCE = "E", "F", "Z"
GUARDED = "G"
SEPARATE = "I"
ASK = "Q"
GUARDED_ASK = "K"
SHARED_BATCH = "C"
"""A batch whose items and answers are in shared memory. It is not in the list of operations: see ``shared_memory``."""
TOGETHER = "H"
"""A batch that several threads of the target answer at once. Not in that list, either: see ``threads``."""
OPERATIONS = {
    ECHO: "echo",
    VALIDATE: "validate",
    DECODE: "decode strictly",
    REPLACE: "decode and replace",
    STREAM_DECODE: "decode a stream strictly",
    STREAM_REPLACE: "decode and replace a stream",
    AGAIN_DECODE: "decode a stream strictly with a decoder used before",
    AGAIN_REPLACE: "decode and replace a stream with a decoder used before",
    ENCODE: "encode code points",
    ENCODE_UTF16: "encode UTF-16",
    ANNOUNCE: "announce the size of what is encoded",
    GUARDED: "examine what it does to memory",
    SEPARATE: "validate a list of values",
    ASK: "answer a question about a text",
    GUARDED_ASK: "examine what a question does to memory",
    BATCH: "batch",
}
STREAMING = STREAM_DECODE + STREAM_REPLACE
AGAIN = AGAIN_DECODE + AGAIN_REPLACE
REPLACING = REPLACE + STREAM_REPLACE + AGAIN_REPLACE
ENCODING = ENCODE + ENCODE_UTF16 + ANNOUNCE
MEASURED = VALIDATE + DECODE + REPLACE + STREAMING + AGAIN + ENCODING + GUARDED + SEPARATE + ASK + GUARDED_ASK
"""The operations, in the order of the requests."""
ASKING = ASK + GUARDED_ASK
"""The operations whose vectors hold a question and a text."""
IN_MEMORY = GUARDED + GUARDED_ASK
"""The operations whose answers tell what a function does to memory."""
OTHER_INPUT = ENCODING + ASKING
"""The operations whose vectors do not hold a text to decode, but numbers, or a question and a text."""

ACCEPTED, REFUSED, UNSUPPORTED, FAILED = b"A", b"R", b"U", b"X"
NOT_SAID = 0xFFFFFFFF
INCOMPLETE_NOT_SAID = 0xFF
BREACH = 1
"""``incomplete`` of a failure in a batch: the decoder gave its adapter an answer that breaks what the two agreed on."""

ECHO_PROBE = bytes.fromhex("0D0A0A1A0080FF")
"""Octets that reveal pipes in text mode, an effect of Ctrl-Z, and streams that pass through a charset decoder."""

LARGEST_FRAME = 1 << 26
LARGEST_GREETING = 1 << 16

HEAD = struct.Struct(">II")  # length of the rest, request id
QUESTION = struct.Struct(">BI")
"""The number of a question and its argument: a text follows."""


class ProtocolError(Exception):
    """A target broke the protocol; the message says how, and is safe to show."""


def frame(request: int, body: bytes) -> bytes:
    """One frame: length, id and payload."""
    return HEAD.pack(4 + len(body), request) + body


def stream_payload(octets: bytes, chunks: Sequence[int]) -> bytes:
    """The payload of a streaming operation: the number of chunks, their lengths, all octets."""
    return stream_head(tuple(chunks)) + octets


@lru_cache(maxsize=1 << 12)
def stream_head(chunks: tuple[int, ...]) -> bytes:
    """The part of a stream before its octets: number and lengths of its chunks."""
    return struct.pack(f">H{len(chunks)}I", len(chunks), *chunks)


def again_payload(first: bytes, second: bytes) -> bytes:
    """The payload for a reused decoder: the length of the first stream, and both streams."""
    return struct.pack(">I", len(first)) + first + second
