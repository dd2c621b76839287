"""The runner: suites to a target, answers to the comparison, divergences to buckets.

It knows nothing of where the target runs and nothing of how results are shown.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from overlong.conformance.batch import Batch
from overlong.conformance.compare import compare, compare_batch
from overlong.conformance.finding import Bucket, Finding
from overlong.conformance.kind import CLAIMS, POSITION, REPLACEMENT, SCALARS, STREAMING, VERDICT
from overlong.conformance.observation import Accepted, Refused
from overlong.conformance.protocol import (
    DECODE,
    NOT_SAID,
    REFUSED,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    UNSUPPORTED,
    VALIDATE,
)
from overlong.conformance.protocol import STREAMING as STREAM_OPERATIONS
from overlong.conformance.suites.core import core_vectors
from overlong.conformance.target import BudgetSpent, TargetError
from overlong.conformance.vector import Vector

if TYPE_CHECKING:
    from overlong.conformance.protocol import Greeting
    from overlong.conformance.suites.suite import Suite
    from overlong.conformance.target import Answered, Target

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
MAXIMAL_SUBPART = "replacement"
"""The error mode that a target declares when it replaces maximal subparts."""

_MEASURED_BY = {
    VERDICT: VALIDATE + DECODE,
    SCALARS: DECODE,
    REPLACEMENT: REPLACE,
    STREAMING: STREAM_DECODE + STREAM_REPLACE,
}

Progress = Callable[[str, int, int], None]
"""Called with a suite's name, the vectors done, and all of the suite's."""


@dataclass
class SuiteRun:
    """What became of one suite."""

    suite: Suite
    operations: str
    done: int = 0
    unsupported: int = 0
    failing: int = 0
    asked_digest: str = ""
    answered_digest: str = ""

    @property
    def whole(self) -> bool:
        return self.done == self.suite.size


@dataclass
class Run:
    """What one target made of some suites."""

    target: str
    greeting: Greeting
    suites: list[SuiteRun] = field(default_factory=list[SuiteRun])
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict[tuple[str, str], Bucket])
    claims: dict[str, str] = field(default_factory=lambda: dict.fromkeys(CLAIMS, NOT_MEASURED))
    notes: list[str] = field(default_factory=list[str])
    restarts: int = 0
    seconds: float = 0.0
    incomplete: str = ""
    """Why the run ended early; empty if it did not."""

    @property
    def vectors(self) -> int:
        return sum(each.done for each in self.suites)

    @property
    def conformant(self) -> bool:
        """Everything that was measured holds, something was, and the run is whole."""
        states = set(self.claims.values())
        return not self.incomplete and FAILS not in states and HOLDS in states

    @property
    def ordered_buckets(self) -> list[Bucket]:
        return sorted(self.buckets.values(), key=lambda bucket: (bucket.example.code, bucket.example.order))


class Runner:
    """Runs suites on one target."""

    def __init__(self, target: Target, *, found: Callable[[Finding], None] | None = None) -> None:
        """``found`` is told every finding as it is made."""
        self.target = target
        self.run = Run(target.id, target.greeting)
        self._found = found
        self._whole: dict[tuple[bytes, bool], Finding] = {}  # of vectors that chunking asks again
        self._chunked_octets: frozenset[bytes] | None = None
        self._offsets_seen = False

    def suites(self, suites: Sequence[Suite], progress: Progress) -> Run:
        """Run ``suites``; an interruption or a spent budget ends the run and keeps what was measured."""
        started = time.monotonic()
        try:
            for suite in suites:
                self._suite(suite, progress)
        except KeyboardInterrupt:
            self.run.incomplete = "interrupted"
        except (BudgetSpent, TargetError) as error:
            self.run.incomplete = str(error)
        self.run.seconds = time.monotonic() - started
        self.run.restarts = self.target.restarts
        self._settle_claims()
        return self.run

    def operations(self, suite: Suite) -> str:
        """What the target offers of what the suite can ask."""
        greeting = self.run.greeting
        return "".join(
            operation
            for operation in (VALIDATE, DECODE, REPLACE, STREAM_DECODE, STREAM_REPLACE)
            if operation in greeting.operations
            and (operation in STREAM_OPERATIONS) == suite.streaming
            and (operation not in REPLACING or greeting.error_mode == MAXIMAL_SUBPART)
        )

    def _suite(self, suite: Suite, progress: Progress) -> None:
        operations = self.operations(suite)
        if not operations:
            return
        part = SuiteRun(suite, operations)
        self.run.suites.append(part)
        digest = _Digest(suite.name, operations[0])
        failing: set[tuple[bytes, tuple[int, ...] | None]] = set()
        doubtful: list[Finding] = []
        asked = ((batch, operation) for batch in suite.batches() for operation in operations)
        progress(suite.name, 0, suite.size)
        try:
            for answered in self.target.observe(asked):
                digest.add(answered)
                self._look_for_offsets(answered)
                part.unsupported += answered.answers.statuses.count(UNSUPPORTED) - len(answered.faults)
                for finding in self._judge(answered):
                    failing.add((finding.vector.octets, finding.vector.chunks))
                    if finding.code == "OV301":
                        doubtful.append(finding)
                    else:
                        self._add(finding)
                if answered.operation == operations[-1]:
                    part.done += len(answered.batch)
                    progress(suite.name, part.done, suite.size)
            for finding in self._second_look(doubtful):
                self._add(finding)
            doubtful = []
        finally:
            for finding in doubtful:
                self._add(finding)
            part.failing = len(failing)
            part.asked_digest, part.answered_digest = digest.asked, digest.answered

    def _judge(self, answered: Answered) -> Iterator[Finding]:
        yield from compare_batch(answered, self.run.greeting.units)
        if answered.unstable is not None:
            vector = answered.batch[0]
            yield Finding(vector, answered.operation, "OV605", vector.strict, answered.unstable)

    def _second_look(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Offsets beyond the first flaw: did the decoder report badly, or accept the flaw and fail later?

        It is asked about the octets before the offset that it reported. If it accepts those, then that is
        the fault, and these octets are its example.
        """
        beyond: dict[tuple[str, bytes], list[Finding]] = {}
        for finding in findings:
            flaw, observed = finding.vector.flaw, finding.observed
            assert flaw is not None
            assert isinstance(observed, Refused)
            if observed.offset is not None and flaw.offset < observed.offset < len(finding.vector.octets):
                key = finding.operation, finding.vector.octets[: observed.offset]
                beyond.setdefault(key, []).append(finding)
            else:
                yield finding
        asked = [(Batch.of([Vector("input", octets)]), operation) for operation, octets in beyond]
        for answered in self.target.observe(asked):
            units = self.run.greeting.units
            (observed,) = answered.answers.observations(units, verdict_only=answered.operation == VALIDATE)
            vector = answered.batch[0]
            for finding in beyond[answered.operation, vector.octets]:
                cause = None
                if isinstance(observed, Accepted) and not answered.faults:
                    prefix = Vector(finding.vector.category, vector.octets)
                    cause = compare(prefix, finding.operation, observed)
                yield cause or finding

    def _add(self, finding: Finding) -> None:
        finding = self._same_as_whole(finding)
        bucket = self.run.buckets.setdefault(finding.bucket, Bucket(finding))
        bucket.add(finding)
        if self._found is not None:
            self._found(finding)

    def _same_as_whole(self, finding: Finding) -> Finding:
        """A stream that fails as the whole input does has no fault of its own: it belongs to that bucket."""
        key = finding.vector.octets, finding.operation in REPLACING
        if finding.vector.chunks is None:
            if self._chunked_octets is None:
                self._chunked_octets = frozenset(vector.octets for vector in core_vectors())
            if finding.claim != POSITION and finding.vector.octets in self._chunked_octets:
                self._whole.setdefault(key, finding)
            return finding
        whole = self._whole.get(key)
        if whole is None or finding.code != "OV501":
            return finding
        return Finding(
            finding.vector, finding.operation, whole.code, finding.expected, finding.observed, whole.place
        )

    def _look_for_offsets(self, answered: Answered) -> None:
        if self._offsets_seen or answered.operation not in VALIDATE + DECODE:
            return
        answers = answered.answers
        if REFUSED in answers.statuses:
            numbers = struct.unpack(f">{len(answers.statuses)}I", answers.numbers)
            self._offsets_seen = any(
                status == REFUSED[0] and number != NOT_SAID
                for status, number in zip(answers.statuses, numbers, strict=True)
            )

    def _settle_claims(self) -> None:
        run = self.run
        asked = "".join(part.operations for part in run.suites if part.done > part.unsupported)
        for claim, operations in _MEASURED_BY.items():
            if set(asked) & set(operations):
                run.claims[claim] = HOLDS
        if self._offsets_seen:
            run.claims[POSITION] = HOLDS
        for bucket in run.buckets.values():
            run.claims[bucket.example.claim] = FAILS


class _Digest:
    """Hashes what was asked and what was answered, column by column: how batches were cut leaves no trace."""

    def __init__(self, suite: str, first: str) -> None:
        self._suite = suite
        self._first = first  # the operation whose requests stand for the vectors
        self._asked: dict[str, hashlib._Hash] = {}
        self._answered: dict[str, hashlib._Hash] = {}

    def add(self, answered: Answered) -> None:
        batch, operation = answered.batch, answered.operation
        if operation == self._first:
            lengths, octets = batch.payloads(operation)
            _update(self._asked, "lengths", struct.pack(f">{len(lengths)}I", *lengths))
            _update(self._asked, "octets", octets)
        for name, column in answered.answers._asdict().items():
            _update(self._answered, f"{operation} {name}", column)
        for _, fault in sorted(answered.faults.items()):
            _update(self._answered, f"{operation} faults", repr(fault).encode())

    @property
    def asked(self) -> str:
        return self._of(self._asked)

    @property
    def answered(self) -> str:
        return self._of(self._answered)

    def _of(self, columns: dict[str, hashlib._Hash]) -> str:
        lines = [f"{name} {digest.hexdigest()}\n" for name, digest in sorted(columns.items())]
        return hashlib.sha256("".join([f"{self._suite}\n", *lines]).encode()).hexdigest()


def _update(columns: dict[str, hashlib._Hash], name: str, octets: bytes) -> None:
    if name not in columns:
        columns[name] = hashlib.sha256()
    columns[name].update(octets)
