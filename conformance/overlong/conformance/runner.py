"""The runner: suites to a target, answers to the comparison, divergences to buckets.

It knows nothing of where the target runs and nothing of how results are shown.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from overlong.conformance.batch import Batch
from overlong.conformance.compare import compare, compare_batch, expected_of
from overlong.conformance.finding import Bucket, Finding
from overlong.conformance.kind import CLAIMS, POSITION, REPLACEMENT, SCALARS, STREAMING, VERDICT
from overlong.conformance.observation import Accepted, Refused
from overlong.conformance.protocol import (
    DECODE,
    MEASURED,
    NOT_SAID,
    REFUSED,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    UNSUPPORTED,
    VALIDATE,
    big_endian,
)
from overlong.conformance.suites.core import core_vectors
from overlong.conformance.target import BudgetSpent, TargetError
from overlong.conformance.vector import Vector
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from overlong.conformance.protocol import Greeting
    from overlong.conformance.suites.suite import Suite
    from overlong.conformance.target import Answered, Target

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
MEASURED_BY = {
    VERDICT: VALIDATE + DECODE,
    SCALARS: DECODE,
    REPLACEMENT: REPLACE,
    STREAMING: STREAM_DECODE + STREAM_REPLACE,
}

Progress = Callable[[str, int, int], None]
"""Called with the name of the suite at work, the vectors done, and all that will be, of every suite."""


@dataclass
class SuiteRun:
    """What became of one suite."""

    suite: Suite
    operations: str
    done: int = 0
    unsupported: Counter[str] = field(default_factory=Counter[str])
    """For each operation, the vectors that the target did not answer."""
    failing: set[tuple[bytes, tuple[int, ...] | None]] = field(
        default_factory=set[tuple[bytes, "tuple[int, ...] | None"]]
    )

    def __post_init__(self) -> None:
        self._lengths, self._octets = hashlib.sha256(), hashlib.sha256()

    @property
    def whole(self) -> bool:
        return self.done == self.suite.size

    def asked(self, answered: Answered) -> None:
        """Count what was answered, and hash what was asked: in columns, so how batches were cut leaves no trace."""
        if answered.operation == self.operations[0]:
            lengths, octets = answered.batch.payloads(answered.operation)
            self._lengths.update(big_endian("I", lengths))
            self._octets.update(octets)
        if answered.operation == self.operations[-1]:
            self.done += len(answered.batch)
        unsupported = answered.answers.statuses.count(UNSUPPORTED) - len(answered.faults)
        if unsupported:
            self.unsupported[answered.operation] += unsupported

    @property
    def vectors_digest(self) -> str:
        """Of the vectors asked."""
        return hashlib.sha256(self._lengths.digest() + self._octets.digest()).hexdigest()


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

    def __post_init__(self) -> None:
        self._findings = hashlib.sha256()

    def add(self, finding: Finding) -> None:
        """Count a finding, in its bucket and in the digest."""
        self.buckets.setdefault(finding.bucket, Bucket(finding)).add(finding)
        self._findings.update(f"{finding.id} {finding.vector.id}\n".encode())

    @property
    def findings_digest(self) -> str:
        """Of all findings in order: with the digests of the vectors it fixes what the target answered."""
        return self._findings.hexdigest()

    @property
    def vectors(self) -> int:
        return sum(each.done for each in self.suites)

    @property
    def unsupported(self) -> Counter[str]:
        """For each operation, the vectors that the target did not answer."""
        return sum((each.unsupported for each in self.suites), Counter[str]())

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
        """Run ``suites``; an interruption or a spent budget ends the run and keeps what was measured.

        All suites are one stream of requests, so the target works while the harness thinks.
        """
        started = time.monotonic()
        run = self.run
        parts = {suite.name: SuiteRun(suite, self.operations(suite)) for suite in suites}
        run.suites = [part for part in parts.values() if part.operations]
        total = sum(part.suite.size for part in run.suites)
        asked = (
            (batch, operation) for part in run.suites for batch in part.suite.batches() for operation in part.operations
        )
        doubtful: list[Finding] = []
        try:
            for answered in self.target.observe(asked):
                part = parts[answered.batch.suite]
                for finding in self._judge(answered, part):
                    if finding.code == "OV301":
                        doubtful.append(finding)
                    else:
                        self._add(finding)
                if answered.operation == part.operations[-1]:
                    progress(part.suite.name, run.vectors, total)
            doubtful = list(self._second_look(doubtful))
        except KeyboardInterrupt:
            run.incomplete = "interrupted"
        except (BudgetSpent, TargetError) as error:
            run.incomplete = str(error)
        for finding in doubtful:  # with what a second look found, or as they were if it was broken off
            self._add(finding)
        run.seconds = time.monotonic() - started
        run.restarts = self.target.restarts
        self._settle_claims()
        return run

    def operations(self, suite: Suite) -> str:
        """What the target offers of what the suite can ask."""
        greeting = self.run.greeting
        return "".join(
            operation
            for operation in MEASURED
            if operation in greeting.operations
            and operation in suite.asks
            and (operation not in REPLACING or greeting.error_mode in ERROR_MODES)
        )

    def _judge(self, answered: Answered, part: SuiteRun) -> Iterator[Finding]:
        """The findings in some answers; and all that is kept of them."""
        part.asked(answered)
        self._look_for_offsets(answered)
        for finding in compare_batch(answered, self.run.greeting):
            part.failing.add((finding.vector.octets, finding.vector.chunks))
            yield finding
        if answered.unstable is not None:
            among = "one of the vectors asked together; none fails when it is asked by itself"
            vector = replace(answered.batch[0], comment=among)
            part.failing.add((vector.octets, vector.chunks))
            yield Finding(
                vector, answered.operation, "OV605", expected_of(vector, answered.operation), answered.unstable
            )

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
            units = self.run.greeting.units_of(answered.operation)
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
        self.run.add(finding)
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
        return Finding(finding.vector, finding.operation, whole.code, finding.expected, finding.observed, whole.place)

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
        """A claim holds if an operation shows it that left no vector unanswered, and nothing refutes it."""
        run = self.run
        asked = {operation for part in run.suites if part.done for operation in part.operations}
        answered = asked - set(run.unsupported)
        for claim, operations in MEASURED_BY.items():
            if answered & set(operations):
                run.claims[claim] = HOLDS
        if self._offsets_seen and run.claims[VERDICT] == HOLDS:
            run.claims[POSITION] = HOLDS
        for bucket in run.buckets.values():
            run.claims[bucket.example.claim] = FAILS
