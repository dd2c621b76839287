"""The certificate: an in-toto Statement of the suites and sweeps that a decoder ran, and of the claims that hold.

It holds no time, no path of the machine, and no random value but the seed of a sweep, which its command names: the same
decoder, seed and version give the same octets.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.wire import ENCODE, ENCODE_UTF16, IN_MEMORY
from overlong.conformance.results.invocation import identifier
from overlong.conformance.results.model import FAILS, HOLDS, NOT_MEASURED, State, result_of
from overlong.conformance.results.records import (
    bucket_as_json,
    expected_as_json,
    plan_as_json,
    standing_as_json,
    suite_as_json,
    target_as_json,
)
from overlong.conformance.results.records import spelt as as_text
from overlong.conformance.results.run import offered_in
from overlong.conformance.support.provenance import environment, generator, portable
from overlong.conformance.vectors.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from overlong.conformance.oracle.finding import Bucket
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.expected_file import Deviation
    from overlong.conformance.results.invocation import Invocation
    from overlong.conformance.results.run import Run
    from overlong.conformance.targets.identity import Identity

CERTIFICATE = "certificate.json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

OF_MEMORY = "memory outside the input"
SAMPLED = (
    ("behaviour that depends on position or alignment", "the placements in core", ("placed", "offsets")),
    ("behaviour that depends on length", "that of the longest vector", ("lengths", "far")),
    ("hidden state between calls", "the order in which the suites run", ("order",)),
)
"""What the suites only sample, how far they go, and the kinds of plans that go further; a certificate names the first
that ran. It also names encoding or :data:`OF_MEMORY` if no suite measured them."""
NOT_COVERED = (*(f"{behaviour}, beyond {suites}" for behaviour, suites, _ in SAMPLED), OF_MEMORY, "encoding")
"""Behaviour that the suites alone do not measure."""


OF_A_COMMAND = "files that the command loads and does not name; --subject FILE names those of the decoder"
"""What the subjects of a program leave out if no one names its other files."""
LEFT_OUT = "the suite "
"""How the line of a suite that was left out begins."""


def not_measured_by(operations: Iterable[str], plans: Iterable[str]) -> list[str]:
    """Behaviour that suites with these operations and these plans of sweeps do not measure."""
    asked = {operation for each in operations for operation in each}
    covered = ["encoding"] * bool(asked & set(ENCODE + ENCODE_UTF16)) + [OF_MEMORY] * bool(asked & set(IN_MEMORY))
    swept = {plan.partition("-")[0]: plan for plan in plans}
    further = {
        f"{behaviour}, beyond {suites}": f"{behaviour}, beyond the sweep {found[0]}"
        for behaviour, suites, kinds in SAMPLED
        if (found := [swept[kind] for kind in kinds if kind in swept])
    }
    return [further.get(each, each) for each in NOT_COVERED if each not in covered]


@dataclass(frozen=True)
class Certificate:
    """The result of a run. ``statement`` is the in-toto Statement as plain data."""

    run: Run
    identity: Identity
    invocation: Invocation
    left_out: tuple[str, ...] = ()
    """Suites left out because this target is slow. It is certified without them, and the certificate names them."""
    expected: Expectations | None = None
    """The expected deviations, settled; None if no expectations were read."""

    @property
    def command(self) -> str:
        """The command line that repeats the run."""
        return self.invocation.command

    @property
    def conformant(self) -> bool:
        return self.run.conformant

    @property
    def as_expected(self) -> bool:
        """True if the target diverges, only as expected, and every expected deviation occurred."""
        return self.state is State.EXPECTED and not self.stale

    @property
    def state(self) -> State:
        """The state of the run, given the expected deviations."""
        met = bool(self.run.buckets) and self.expected is not None and not self.expected.unexpected
        return self.run.state_if(as_expected=met)

    @property
    def stale(self) -> dict[Deviation, str]:
        """Expected deviations that no longer hold, and why."""
        return {} if self.expected is None else self.expected.stale

    @property
    def unexpected(self) -> list[Bucket]:
        """The buckets with unexpected divergences, in order; each with only these divergences if known."""
        if self.expected is None:
            return self.run.ordered_buckets
        unexpected = self.expected.unexpected
        return [
            _only(bucket, parts) if self.expected.covers_some(bucket) else bucket
            for bucket in self.run.ordered_buckets
            if (parts := {kind: unexpected[kind] for kind in sorted(bucket.kinds) if kind in unexpected})
        ]

    @property
    def claims(self) -> dict[str, str]:
        return self.run.claims

    @property
    def refused(self) -> str:
        """The reason why this run cannot be certified; empty if it can."""
        if self.run.incomplete:
            return "the run is incomplete"
        if not self.run.buckets and not self.run.conformant:
            return "nothing was measured"
        ran = {part.suite.name for part in self.run.suites}
        asked = (suite for suite in SUITES.values() if offered_in(suite, self.run.greeting))
        missing = [suite.name for suite in asked if suite.name not in ran and suite.name not in self.left_out]
        return f"only part of the suites ran (not {', '.join(missing)})" if missing else ""

    @property
    def not_covered(self) -> list[str]:
        """Behaviour that none of the suites measured."""
        left_out = [SUITES[name] for name in self.left_out if offered_in(SUITES[name], self.run.greeting)]
        plans = [part.plan for part in self.run.swept.plans] if self.run.swept else []
        return [
            *not_measured_by((part.operations for part in self.run.suites), plans),
            *[OF_A_COMMAND] * self.identity.of_a_command,
            *(f"{LEFT_OUT}{suite.name}: {suite.shows}" for suite in left_out),
        ]

    @property
    def statement(self) -> dict[str, Any]:
        run = self.run
        asked = replace(self.invocation, target=portable(self.invocation.target))
        name = identifier(asked.target) if run.target == identifier(self.invocation.target) else run.target
        warned = [] if self.expected is None else self.expected.failing_as_expected(run)
        subjects = self.identity.files or ((name, self.identity.digest),)
        vectors = hashlib.sha256("".join(part.vectors_digest for part in run.suites).encode()).hexdigest()
        return {
            "_type": STATEMENT,
            "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects],
            "predicateType": PREDICATE,
            "predicate": {
                "result": result_of(self.state, len(self.stale)),
                "configuration": [{"name": run.profile.name, "digest": {"sha256": vectors}}],
                "passedTests": sorted(claim for claim, state in run.claims.items() if state == HOLDS),
                "warnedTests": sorted(warned),
                "failedTests": sorted(c for c, state in run.claims.items() if state == FAILS and c not in warned),
                "overlong": {
                    "generator": generator(),
                    "profile": run.profile.name,
                    "command": asked.command,
                    "invocation": asked.as_json(),
                    "environment": environment(),
                    "target": target_as_json(name, run.greeting, self.identity.digest),
                    "claims": run.claims,
                    "suites": [suite_as_json(part) for part in run.suites],
                    **({"set_aside": run.aside} if run.aside else {}),
                    "sweeps": [plan_as_json(part) for part in run.swept.plans] if run.swept else [],
                    "buckets": [
                        bucket_as_json(bucket, asked.target) | standing_as_json(bucket, self.expected)
                        for bucket in run.ordered_buckets
                    ],
                    **expected_as_json(self.expected),
                    **({"sign": run.sign} if run.sign else {}),
                    "restarts": run.restarts,
                    "findings_digest": {"sha256": run.findings_digest},
                    "not_measured": sorted(c for c, state in run.claims.items() if state == NOT_MEASURED),
                    "not_covered": self.not_covered,
                },
            },
        }

    def to_json(self) -> str:
        """The statement in the form of its file."""
        return spelt(self.statement)


def _only(bucket: Bucket, unexpected: Mapping[tuple[str, str], Bucket]) -> Bucket:
    """A bucket with only its unexpected divergences, which are here by code and place."""
    example = bucket.example
    if example.bucket not in unexpected or bucket.why is None:
        example = next(iter(unexpected.values())).example
    count = sum(each.count for each in unexpected.values())
    return replace(bucket, example=example, count=count if bucket.why is None else min(bucket.count, count))


def spelt(statement: Any) -> str:
    """A statement in the form of its file."""
    return as_text(statement, indent=2) + "\n"
