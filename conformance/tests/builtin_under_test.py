"""Helpers to test a built-in decoder: find it, certify it, ask its adapter frame by frame."""

import struct
import subprocess
from typing import IO, cast

import pytest

from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import Answers
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.suites import QUICK
from waiting import HUNG

SUITES = (*(name for name in QUICK if name not in {"chunking", "complete-0-in-chunks"}), "mixtures-in-chunks")
"""These suites, with a thousand texts in chunks in place of each short string cut in each way, try an adapter."""


def ready(name):
    """The decoder; skips the test if it is missing."""
    if why := BUILTINS[name].missing():
        pytest.skip(f"{name}: {why}")
    return BUILTINS[name]


class Adapter:
    """Its adapter, which must end properly."""

    def __init__(self, name):
        self.process = subprocess.Popen(
            ready(name).command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.requests = cast("IO[bytes]", self.process.stdin)
        self.responses = cast("IO[bytes]", self.process.stdout)
        self.greeting = Greeting.parse(self.responses.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.requests.close()
        assert self.process.wait(HUNG) == 0
        self.responses.close()

    def ask(self, body):
        """The status and payload of the answer to an operation and its payload."""
        self.requests.write(struct.pack(">II", 4 + len(body), 7) + body)
        self.requests.flush()
        length, number = struct.unpack(">II", self.responses.read(8))
        assert number == 7
        return self.responses.read(length - 4)

    def batch(self, operation, payloads):
        """The answers to a batch; streams have two chunks."""
        lengths = struct.pack(f">{len(payloads)}I", *map(len, payloads))
        response = self.ask(b"".join((b"B", operation.encode(), struct.pack(">I", len(payloads)), lengths, *payloads)))
        assert response[:1] == b"A", response
        chunks = [2] * len(payloads) if operation in "STNM" else None
        size, marked = self.greeting.units_of(operation).size, self.greeting.marks_refusals
        return Answers.from_batch(response[1:], len(payloads), chunks, size, marked=marked)

    def assert_that_batches_agree(self, operation, payloads):
        """Check that single answers equal the columns of a batch."""
        greeting = self.greeting
        size, chunks = greeting.units_of(operation).size, 2 if operation in "STNM" else None
        responses = [self.ask(operation.encode() + payload) for payload in payloads]
        together = self.batch(operation, payloads)
        singles = [
            Answers.from_single(each[:1], each[1:], chunks, size, marked=greeting.marks_refusals) for each in responses
        ]
        assert Answers.concatenated(singles) == together, operation
        return together

    def decode(self, operation, *inputs):
        """The observations for inputs in hexadecimal digits."""
        answers = self.batch(operation, [bytes.fromhex(each) for each in inputs])
        return list(answers.observations(self.greeting.units, verdict_only=False))
