"""A whole adapter. It puts bytes.decode under test: put your own decoder in its place."""

import json, os, struct, sys


def answer(operation, payload):
    if operation == "P":
        return b"A" + payload
    if operation not in ("V", "D"):
        return b"U"
    try:
        text = payload.decode("utf-8")  # the decoder under test
    except UnicodeDecodeError as error:
        incomplete = error.reason == "unexpected end of data"
        return b"R" + struct.pack(">IBB", error.start, error.end - error.start, incomplete)
    except Exception as error:  # not a refusal: the decoder is broken
        return b"X" + repr(error).encode("ascii", "backslashreplace")
    return b"A" + (text.encode("utf-32-be", "surrogatepass") if operation == "D" else b"")


requests, responses = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # from here on, all that is printed goes to stderr
greeting = {"overlong": 1, "language": "Python", "operations": "PVD"}
responses.write(json.dumps(greeting).encode() + b"\n")
responses.flush()
while len(head := requests.read(8)) == 8:
    length, number = struct.unpack(">II", head)
    body = requests.read(length - 4)
    response = answer(chr(body[0]), body[1:])
    responses.write(struct.pack(">II", 4 + len(response), number) + response)
    responses.flush()
