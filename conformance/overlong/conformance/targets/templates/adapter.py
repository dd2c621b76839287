"""An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.

Certify: overlong certify -- python3 adapter.py        (--subject FILE before -- names a file of your decoder, too)
(A function in a module needs no adapter: overlong certify py:module:function)
"""

from __future__ import annotations

import os
import struct
import sys
from typing import Any


def decode(octets: bytes) -> str:
    """YOUR DECODER HERE: it returns text or raises. Text that it accepted in error is welcome, surrogates and all."""
    return octets.decode("utf-8")


# FUNCTIONS beside it, if any: number and name of a question ('overlong docs functions'), and the answer; None refuses.
QUESTIONS: dict[int, tuple[str, Any]] = {
    # 1: ("count-scalars", lambda text, argument: [len(text.decode())]),
}


def answer(operation: str, octets: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """Status, count of units or offset of the flaw, its length, is it incomplete, output; all as they are sent."""
    try:
        if operation == "Q":
            numbers = QUESTIONS[octets[0]][1](octets[5:], int.from_bytes(octets[1:5], "big"))
            if numbers is None:
                return b"R", b"\xff" * 4, b"\0", b"\xff", b""
            return b"A", struct.pack(">I", len(numbers)), b"\0", b"\0", struct.pack(f">{len(numbers)}I", *numbers)
        text = decode(octets)
    except UnicodeDecodeError as error:  # refused. If yours does not say where: b"R", b"\xff" * 4, b"\0", b"\xff", b""
        place = error.start if error.object == octets else 0xFFFFFFFF  # not said, if it is about other octets
        incomplete = error.reason == "unexpected end of data"
        return b"R", struct.pack(">I", place), bytes([error.end - error.start]), bytes([incomplete]), b""
    except Exception as error:  # noqa: BLE001 (it is no refusal: the decoder is broken)
        words = repr(error).encode("ascii", "backslashreplace")
        return b"X", struct.pack(">I", len(words)), b"\0", b"\0", words
    units = text.encode("utf-32-be", "surrogatepass") if operation == "D" else b""
    return b"A", struct.pack(">I", len(units) // 4), b"\0", b"\0", units


def respond(operation: str, payload: bytes) -> bytes:
    """One response. P echoes, V validates, D decodes, Q asks a function, B does one of these to many inputs."""
    if operation == "P":
        return b"A" + payload
    if operation in ("V", "D", "Q"):
        parts = answer(operation, payload)
        return b"".join(parts) if parts[0] == b"R" else parts[0] + parts[4]
    if operation != "B":
        return b"U"  # not offered
    (count,) = struct.unpack_from(">I", payload, 1)
    place, columns = 5 + 4 * count, tuple(bytearray() for _ in range(5))
    for size in struct.unpack_from(f">{count}I", payload, 5):
        for column, part in zip(columns, answer(chr(payload[0]), payload[place : place + size]), strict=True):
            column.extend(part)
        place += size
    return b"A" + b"".join(columns)


requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what is printed from here on goes to stderr, and is no answer
names = ", ".join(f'"{name}"' for name, _ in QUESTIONS.values())
letters = "PVDBQ" if names else "PVDB"
answers.write(f'{{"overlong": 1, "language": "Python", "operations": "{letters}", "functions": [{names}]}}\n'.encode())
answers.flush()
while len(head := requests.read(9)) == 9:
    size, request, operation = struct.unpack(">IIc", head)
    response = respond(operation.decode("latin-1"), requests.read(size - 5))
    answers.write(struct.pack(">II", 4 + len(response), request) + response)
    answers.flush()
