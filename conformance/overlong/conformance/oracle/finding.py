"""Findings: one for each divergence; and buckets: one for each cause, as far as octets distinguish causes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.function_fault import TOLD, answer_in_words, fault_in_words
from overlong.conformance.protocol.kind import ENCODER, FUNCTIONS, KINDS, MEMORY, VERDICT, Code
from overlong.conformance.protocol.observation import (
    EXPECTED_IN_MEMORY,
    Accepted,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
    memory_words,
)
from overlong.conformance.protocol.units import big_endian
from overlong.conformance.protocol.wire import ANNOUNCE, ASK, ASKING, DECODE, ENCODING, IN_MEMORY, SEPARATE
from overlong.conformance.support.printable import code_points, counted, printable, spaced_hex
from overlong.reference import DEFECTS, Decoded
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Outcome


ID = re.compile(r"D-[0-9a-f]{8}")
"""The ids of findings, which name files, functions and causes; the schemas of results say the same."""
BESIDE = "beside "
"""The place of a finding of threads: this, and the id of the vector that another thread had."""


def id_of(text: str) -> str:
    """``D-`` and eight digits of a hash of the text."""
    return f"D-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def claim_of(code: str, operation: str) -> str:
    """The claim that a divergence of this code refutes, in an answer to this operation."""
    if operation in ENCODING:  # also for a crash
        return ENCODER
    if operation in ASKING and (code not in KINDS or KINDS[code].claim != MEMORY):
        return FUNCTIONS
    return KINDS[code].claim if code in KINDS else VERDICT


@dataclass(frozen=True)
class Finding:
    """One vector, one operation, and two different answers."""

    vector: Vector
    operation: str
    code: str
    """An accepted defect (OV2xx), or a kind of divergence."""
    expected: Outcome
    observed: Observation
    place: str = ""
    """The place in the grammar or the defect at which it shows; part of the bucket."""
    detail: tuple[str, str] = ("", "")
    """A further expectation and observation: in a stream, the time."""
    refutes: str = ""
    """The refuted claim, if it is not that of the code."""

    @property
    def claim(self) -> str:
        return self.refutes or claim_of(self.code, self.operation)

    @property
    def title(self) -> str:
        if self.operation == ASK and self.code in TOLD:
            return fault_in_words(self.vector, self.code, self.observed)
        return KINDS[self.code].title if self.code in KINDS else f"{DEFECTS[self.code].title} accepted"

    @property
    def section(self) -> str:
        return KINDS[self.code].section if self.code in KINDS else DEFECTS[self.code].section

    @property
    def expected_words(self) -> str:
        return _joined(expected_in_words(self.expected, self.operation, self.vector.octets), self.detail[0])

    @property
    def observed_words(self) -> str:
        return _joined(observed_in_words(self.observed, self.operation, self.vector.octets), self.detail[1])

    @property
    def bucket(self) -> tuple[str, str]:
        """The bucket, which this finding shares with others of its cause."""
        return self.code, self.place

    @property
    def is_untimely(self) -> bool:
        """True if a stream's result is right, and came at a wrong time because a state is lost."""
        return self.code == Code.CHUNKING and self.detail != ("", "")

    @cached_property
    def order(self) -> tuple[bool, int, bytes, str, int, bool, int, str]:
        """The order of examples: the least names its bucket.

        Wrong results before right ones at a wrong time; then shortlex by octets, then whole before chunked, explained
        first, shorter id.
        """
        vector, name = self.vector, self.vector.id
        length, octets = shortlex(vector.octets)
        words = not vector.comment, len(name), name
        return self.is_untimely, length, octets, self.operation, len(vector.chunks or ()), *words

    @property
    def line(self) -> str:
        """Its line in the digest of a run: vector, operation, code and answer, and the end of the line."""
        return f"{self.vector.id} {self.operation} {self.code} {answer_as_text(self.observed, self.operation)}\n"

    @cached_property
    def id(self) -> str:
        """``D-`` and eight digits of a hash of the finding."""
        text = f"{self.vector.octets.hex()}|{self.vector.chunks}|{self.operation}|{self.code}|{self.observed}"
        return id_of(text)


@dataclass(frozen=True)
class Why:
    """What the examiner found of a cause: a condition under which the decoder is wrong."""

    sentence: str
    id: str
    """The condition's id: the same for the same cause, whatever was found of it."""
    condition: dict[str, Any]
    confirmed: tuple[int, int]
    """The fresh inputs that the condition predicted, and all of them."""

    @property
    def share(self) -> float:
        """The share of fresh inputs that the condition predicted; 0 if there were none."""
        return share_of(*self.confirmed)


def share_of(predicted: int, checked: int) -> float:
    """The share of checked inputs that were predicted; 0 if none were checked."""
    return predicted / checked if checked else 0.0


@dataclass
class Bucket:
    """All findings of one cause: the shortlex-least of them that shows it itself, and their number."""

    example: Finding
    count: int = 0
    keys: frozenset[tuple[str, str]] = frozenset()
    """Code and place of each of its findings, if these differ."""
    why: Why | None = None
    """None if it was not examined."""

    @property
    def kinds(self) -> frozenset[tuple[str, str]]:
        """Code and place of each of its findings."""
        return self.keys or frozenset({self.example.bucket})

    def add(self, finding: Finding) -> None:
        self.count += 1
        if finding.order < self.example.order:
            self.example = finding

    def join(self, other: Bucket) -> None:
        """Take what another bucket of the same cause holds; the example stays."""
        self.count += other.count
        self.keys = self.kinds | other.kinds

    def show(self, finding: Finding) -> None:
        """Take a finding as the example if it is less by its octets; the count stays."""
        if finding.order[:3] < self.example.order[:3]:
            self.example = finding


def answer_as_text(observed: Observation, operation: str) -> str:
    """An answer in the format of a digest: its kind, then its members as JSON.

    The output follows in hexadecimal: an encoder's octets, or numbers as u32.
    """
    kind = type(observed).__name__.lower()
    if isinstance(observed, Accepted) and observed.values is not None:
        octets = bytes(observed.values) if operation in ENCODING else big_endian("I", observed.values)
        return f"{kind} {octets.hex()}"
    members = (getattr(observed, name) for name in observed.__slots__)
    return " ".join([kind, *map(json.dumps, members)])


def _joined(words: str, detail: str) -> str:
    return f"{words}; {detail}" if detail else words


def expected_in_words(expected: Outcome, operation: str = DECODE, payload: bytes = b"") -> str:
    """``reject at 0, 1 octet`` or the code points; for an encoder the octets; ``payload``: of a question."""
    if operation in ENCODING:
        if not isinstance(expected, Decoded):
            return f"refuse at index {expected.offset}"
        written = bytes(expected.scalars)
        return f"announce {_size(written)}" if operation == ANNOUNCE else f"encode as {spaced_hex(written)}"
    if operation == ASK and isinstance(expected, Decoded):
        return f"answer {answer_in_words(payload, expected.scalars)}"
    if operation in IN_MEMORY:
        return EXPECTED_IN_MEMORY
    if operation == SEPARATE:
        if isinstance(expected, Decoded):
            return "accept the list: each value is well-formed"
        return f"refuse the list: value {expected.offset + 1} is ill-formed"
    if isinstance(expected, Decoded):
        return f"accept {code_points(expected.scalars)}" if expected.scalars else "accept, nothing output"
    return f"reject at {expected.offset}, {counted(expected.length, 'octet')}" + (
        ", incomplete" if expected.incomplete else ""
    )


def observed_in_words(observed: Observation, operation: str = DECODE, payload: bytes = b"") -> str:
    """The target's answer, safe to show; ``payload``: of a question."""
    match observed:
        case Accepted(values) if operation in ENCODING:
            octets = bytes(values or ())
            return f"announced {_size(octets)}" if operation == ANNOUNCE else f"encoded as {spaced_hex(octets)}"
        case Refused(index) if operation in ENCODING:
            return "refused" if index is None else f"refused at index {index}"
        case Accepted(values) if operation == ASK:
            return f"answered {answer_in_words(payload, values or ())}"
        case Refused() if operation in IN_MEMORY:
            return memory_words(observed)
        case Accepted() if operation in IN_MEMORY:
            return "stayed within its memory, and answered alike"
        case Accepted() | Refused() if operation == SEPARATE:
            return "accepted the list" if isinstance(observed, Accepted) else "refused the list"
        case Accepted(values):
            return "accepted" if values is None else f"accepted {code_points(values)}"
        case Refused(offset, length, incomplete):
            if offset is None:
                return "refused"
            text = f"refused at {offset}"
            if length is not None:
                text += f", {counted(length, 'octet')}"
            return text + (", incomplete" if incomplete else "")
        case Failed(text):
            return f"internal error: {printable(text)}"
        case Crashed(how):
            return how
        case TimedOut():
            return observed.words
        case Misbehaved(what):
            return what
        case Unsupported():
            return "not supported"


def _size(octets: bytes) -> str:
    """A u32 as a number of octets; anything else as its octets."""
    if len(octets) != 4:
        return f"{spaced_hex(octets)}, which is no u32"
    size = int.from_bytes(octets, "big")
    return "1 octet" if size == 1 else f"{size} octets"
