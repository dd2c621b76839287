"""Findings, one for each divergence; buckets, one for each cause as far as octets tell causes apart; and explanations.

An explanation is the paragraph of a code, or the walk of octets through the automaton.
"""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.faults import TOLD, answer_in_words, fault_in_words
from overlong.conformance.protocol.observation import (
    CLAIMS,
    ENCODER,
    EXPECTED_IN_MEMORY,
    FUNCTIONS,
    KINDS,
    MEMORY,
    VERDICT,
    Accepted,
    Code,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
    memory_words,
)
from overlong.conformance.protocol.wire import ANNOUNCE, ASK, ASKING, DECODE, ENCODING, IN_MEMORY, SEPARATE, big_endian
from overlong.conformance.support.printable import code_points, counted, printable, spaced_hex
from overlong.conformance.vectors.vector import RFC3629, Vector
from overlong.reference import DEFECTS, ERROR_MODES, Decoded, WellFormed
from overlong.reference.automaton import OCTETS, OctetClass, access_words, shortlex
from overlong.reference.decoder import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect, Outcome, Segment
    from overlong.reference.grammar import Position


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


_EXPLAINED = 64  # octets in a walk; a person reads the explanation


def explain_code(code: str, width: int) -> Iterator[str]:
    """The paragraph of a defect or a kind.

    Raises:
        KeyError: there is no such code.
    """
    if code in DEFECTS:
        defect = DEFECTS[code]
        yield f"{defect.code}  {defect.title}: {defect.line}"
        yield ""
        yield from textwrap.wrap(defect.paragraph, width)
        yield ""
        yield f"section  {defect.section}"
        yield f"effect   {defect.effect}"
        yield "CWE      " + ", ".join(f"CWE-{number}" for number in defect.cwe)
        if defect.cves:
            yield "CVE      " + ", ".join(defect.cves)
        return
    kind = KINDS[code]
    yield f"{kind.code}  {kind.title}"
    yield ""
    yield from textwrap.wrap(kind.paragraph, width)
    yield ""
    if kind.section:
        yield f"section  {kind.section}"
    yield from textwrap.wrap(f"claim    {kind.claim}: {CLAIMS[kind.claim]}", width, subsequent_indent=" " * 9)


def explain_octets(octets: bytes, width: int, profile: Profile = RFC3629) -> Iterator[str]:
    """The walk through the automaton, segment by segment, and the result of each error mode."""
    spoken, vector = profile.dialect, Vector("input", octets, profile=profile)
    verdict = "well-formed" if vector.flaw is None else "ill-formed"
    yield f"{spaced_hex(octets)}  {verdict} ({spoken.name})"
    yield ""
    before = b""  # the preceding characters, which matter in wtf-8
    for found in vector.segments:
        if found.offset >= _EXPLAINED:
            yield f"… {len(octets) - found.offset} more octets"
            break
        yield from _segment(octets, found, spoken, width, before)
        yield ""
        end = found.offset + found.length
        before = before + octets[found.offset : end] if isinstance(found, WellFormed) else b""
    names = len(max(ERROR_MODES, key=len)) + 2
    for mode in ERROR_MODES.values():
        if mode.stands_for is None:
            made = expected_in_words(vector.strict)
        else:
            made = code_points(tuple(fold(octets, mode, spoken)), 64)
        name = mode.name if vector.flaw is not None else "every error mode"
        yield from textwrap.wrap(f"{name:<{names}}{made}", width, subsequent_indent=" " * names)
        if vector.flaw is None:
            break


def _segment(octets: bytes, found: Segment, spoken: Dialect, width: int, before: bytes) -> Iterator[str]:
    automaton, unfolded = spoken.automaton, spoken.unfolded
    names = access_words(automaton)
    state, detail = automaton.run(before), unfolded.run(before)
    end = found.offset + found.length
    shown = end if isinstance(found, WellFormed) else min(end + 1, len(octets))
    for offset in range(found.offset, shown):
        octet = octets[offset]
        expected = sorted(unfolded.open[detail], key=lambda position: position.index)
        here = [position for position in expected if octet in position.octets]
        to, detail = automaton.table[state][octet], unfolded.table[detail][octet]
        move = f"state {_state(names, state)} → {_state(names, to, automaton.dead)}"
        line = f"  {offset:>4}  {octet:02X}  {octet:08b}  {move}  {_positions(here, expected)}"
        yield from textwrap.wrap(line, width, subsequent_indent=" " * 22)
        if to == automaton.dead:
            break
        state = to
    if isinstance(found, WellFormed):
        yield f"        U+{found.scalar:04X}, {counted(found.length, 'octet')}"
        return
    if found.incomplete:
        missing = sorted(unfolded.open[detail], key=lambda position: position.index)
        yield from textwrap.wrap(f"        the input ends; {_positions([], missing)}", width, subsequent_indent=" " * 8)
    yield from textwrap.wrap(
        f"        ill-formed at offset {found.offset}, {counted(found.length, 'octet')}: "
        f"{found.defect}: {found.defect.line} ({found.defect.section})",
        width,
        subsequent_indent=" " * 8,
    )


def _state(names: tuple[bytes, ...], state: int, dead: int | None = None) -> str:
    """A state, named by its access word: the shortest octets that lead there."""
    if state == dead:
        return "dead"
    return f"[{names[state].hex(' ').upper()}]" if names[state] else "[start]"


def _positions(here: list[Position], expected: list[Position]) -> str:
    if here:
        return "; ".join(dict.fromkeys(str(position.form) for position in here))
    wanted = OctetClass(tuple(octet for octet in OCTETS if any(octet in position.octets for position in expected)))
    forms = list(dict.fromkeys(str(position.form) for position in expected))
    return f"no alternative; wanted {wanted}" + (f" ({forms[0]})" if len(forms) == 1 else "")
