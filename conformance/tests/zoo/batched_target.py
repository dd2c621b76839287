"""Decoders that answer a column differently from a single string: ``batched_target.py FAULT`` speaks the protocol.

``none`` is right. ``alone`` accepts surrogates if a request has a single string. ``few`` takes another path for up to
99 strings, which checks no tail after F0. ``neighbours`` decodes all strings of a column as one, so that a character
can begin in one string and end in the next. ``dies`` ends if a request has only the octet FF.
"""

from __future__ import annotations

import json
import os
import re
import struct
import sys

FAULT = next(iter(sys.argv[1:]), "none")
FAULTS = ("alone", "few", "neighbours")
Row = tuple[bytes, int, bytes]


def decode(octets: bytes) -> Row:
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError as error:
        return b"R", error.start, b""
    return b"A", len(text), text.encode("utf-32-be")


def column(items: list[bytes]) -> list[Row]:
    rows = list(map(decode, items))
    for place, octets in enumerate(items):
        wrong = octets
        if FAULT == "dies" and items == [b"\xff"]:
            os._exit(7)
        if FAULT == "alone" and len(items) == 1:
            wrong = re.sub(b"\xed[\xa0-\xbf][\x80-\xbf]", b"\xef\xbf\xbd", octets)
        elif FAULT == "few" and len(items) < 100:
            wrong = re.sub(b"\xf0.{3}", b"\xef\xbf\xbd", octets, flags=re.DOTALL)
        elif FAULT == "neighbours" and octets[-1:] >= b"\xc3":
            following = b"".join(items[place + 1 : place + 2])[:1]
            wrong = octets[:-1] if decode(octets[-1:] + following)[0] == b"A" else octets
        if wrong != octets:
            rows[place] = decode(wrong)
    return rows


def split(payload: bytes) -> list[bytes]:
    (count,) = struct.unpack_from(">I", payload)
    items, place = list[bytes](), 4 + 4 * count
    for length in struct.unpack_from(f">{count}I", payload, 4):
        items.append(payload[place : place + length])
        place += length
    return items


def main() -> None:
    greeting = {"overlong": 1, "name": "batched", "version": "1", "language": "Python", "operations": "PDB"}
    sys.stdout.buffer.write(json.dumps({**greeting, "units": "utf-32"}).encode() + b"\n")
    sys.stdout.flush()
    while head := sys.stdin.buffer.read(9):
        length, request, operation = struct.unpack(">IIc", head)
        payload = sys.stdin.buffer.read(length - 5)
        if operation == b"P":
            body = b"A" + payload
        elif operation == b"B":
            statuses, numbers, outputs = zip(*column(split(payload[1:])), strict=True)
            silent = bytes(len(statuses)) + b"\xff" * len(statuses)
            body = b"".join((b"A", *statuses, struct.pack(f">{len(numbers)}I", *numbers), silent, *outputs))
        else:
            ((status, number, output),) = column([payload])
            body = status + (output if status == b"A" else struct.pack(">I", number))
        sys.stdout.buffer.write(struct.pack(">II", 4 + len(body), request) + body)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
