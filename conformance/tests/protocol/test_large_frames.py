"""Frames too large for one read, and columns of large numbers: the code that copies them only once loses nothing."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.protocol.wire import NOT_SAID, UNITS, Answers, ProtocolError, big_endian
from overlong.conformance.targets.process import Ended, Process
from overlong.reference.layout import load_layout

ECHO = r"""
import json, struct, sys
size, cut = map(int, sys.argv[1:])
out = sys.stdout.buffer
out.write(json.dumps({"overlong": 1, "operations": "PV"}).encode() + b"\n")
out.flush()
while len(head := sys.stdin.buffer.read(8)) == 8:
    length, number = struct.unpack(">II", head)
    body = sys.stdin.buffer.read(length - 4)
    frame = (struct.pack(">II", 4 + len(body), number) + b"A" + body[1:])[: cut or None]
    while frame:
        out.write(frame[:size])
        out.flush()
        frame = frame[size:]
    if cut:
        break
"""


def started(size, cut):
    process = Process([sys.executable, "-I", "-S", "-c", ECHO, str(size), str(cut)])
    process.greeting(10)
    return process


@pytest.mark.parametrize("size", [1 << 13, 77_777, 1 << 24])
def test_large_frames_arrive_whole_and_in_order(size):
    process = started(size, 0)
    payloads = [bytes([number]) * length for number, length in enumerate([65_530, 65_532, 300_000, 0, 1, 3_000_001])]
    for number, payload in enumerate(payloads):
        process.send_frames((5 + len(payload)).to_bytes(4, "big") + number.to_bytes(4, "big"), b"P", payload, b"")
    for number, payload in enumerate(payloads):
        assert process.receive(10) == (number, b"A", payload)
    assert process.close() == ""


@pytest.mark.parametrize("cut", [9, 10, 70_000, 500_000])
def test_the_end_in_a_large_frame(cut):
    process = started(1 << 16, cut)
    process.send(0, b"P" + bytes(1_000_000))
    with pytest.raises(Ended) as caught:
        process.receive(10)
    assert caught.value.why == Crashed("exited with status 0 in the middle of a response")


@given(st.lists(st.tuples(st.sampled_from("ARUX"), st.sampled_from([0, 1, 255, 256, 65_537])), max_size=8))
def test_columns_of_large_numbers_are_added_up(items):
    statuses = "".join(status for status, _ in items).encode()
    columns = statuses + big_endian("I", [number for _, number in items]) + bytes(2 * len(items))
    announced = sum({"A": 4, "R": 0, "U": 1, "X": 1}[status] * number for status, number in items)
    assert Answers.from_batch(columns + bytes(announced), len(items), None, 4).units == bytes(announced)
    with pytest.raises(ProtocolError, match=f"add up to {len(columns) + announced}$"):
        Answers.from_batch(columns + bytes(announced + 1), len(items), None, 4)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, NOT_SAID)), min_size=1))
def test_a_missing_offset_agrees_and_a_wrong_one_does_not(items):
    statuses = bytes(82 if refused else 65 for refused, _ in items)
    zeros = bytes(len(items))
    silent = bytes(0xFF * refused for refused, _ in items)
    right = Answers.of(statuses, big_endian("I", [number for _, number in items]), zeros, zeros, b"")
    unsaid = [NOT_SAID if refused else number for refused, number in items]
    assert Answers.of(statuses, big_endian("I", unsaid), zeros, silent, b"").agrees(right)
    for place in range(len(items)):
        wrong = [*unsaid[:place], unsaid[place] ^ 1, *unsaid[place + 1 :]]
        assert (wrong == [number for _, number in items]) or not Answers.of(
            statuses, big_endian("I", wrong), zeros, silent, b""
        ).agrees(right)


@given(st.lists(st.integers(0, NOT_SAID)))
def test_utf_8_is_written_by_the_layout(numbers):
    encode = load_layout("rfc2279").encode
    assert UNITS["utf-8"].write(numbers) == b"".join(encode(number) or b"" for number in numbers)
