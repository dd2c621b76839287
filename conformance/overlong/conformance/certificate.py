"""The certificate: an in-toto Statement that says what was asked of a decoder, and what held.

It holds no time and nothing of chance: the same decoder, asked by the same version, gives the same octets.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol import ENCODE, ENCODE_UTF16, GUARDED
from overlong.conformance.results import bucket_as_json, generator, plan_as_json, suite_as_json, target_as_json
from overlong.conformance.runner import FAILS, HOLDS, NOT_MEASURED, offered
from overlong.conformance.suites import SUITES

if TYPE_CHECKING:
    from overlong.conformance.runner import Run
    from overlong.conformance.targets.resolve import Identity

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

OF_MEMORY = "memory outside the input"
SAMPLED = (
    ("behaviour that depends on position or alignment", "the placements in core", "placed"),
    ("behaviour that depends on length", "that of the longest vector", "lengths"),
    ("hidden state between calls", "the order in which the suites run", "order"),
)
"""What suites only sample, how far they go, and the kind of plan that goes further. A certificate says so; and that
encoding was not asked, or :data:`OF_MEMORY`, where that is so."""
NOT_COVERED = (*(f"{behaviour}, beyond {suites}" for behaviour, suites, _ in SAMPLED), OF_MEMORY, "encoding")
"""What the suites alone do not measure."""


@dataclass(frozen=True)
class Certificate:
    """What a run showed. ``statement`` is the in-toto Statement as plain data."""

    run: Run
    identity: Identity
    command: str
    left_out: tuple[str, ...] = ()
    """Suites that this target was spared: it is certified without them, and the certificate says so."""

    @property
    def conformant(self) -> bool:
        return self.run.conformant

    @property
    def claims(self) -> dict[str, str]:
        return self.run.claims

    @property
    def refused(self) -> str:
        """Why this run cannot be certified; empty if it can."""
        if self.run.incomplete:
            return "the run is incomplete"
        if not self.run.buckets and not self.run.conformant:
            return "nothing was measured"
        ran = {part.suite.name for part in self.run.suites}
        asked = (suite for suite in SUITES.values() if offered(suite.asks, self.run.greeting))
        missing = [suite.name for suite in asked if suite.name not in ran and suite.name not in self.left_out]
        return f"only part of the suites ran (not {', '.join(missing)})" if missing else ""

    @property
    def not_covered(self) -> list[str]:
        """What no suite that ran measures."""
        encoder = any(set(part.operations) & set(ENCODE + ENCODE_UTF16) for part in self.run.suites)
        covered = ["encoding"] * encoder
        if any(GUARDED in part.operations for part in self.run.suites):
            covered.append(OF_MEMORY)
        left_out = [SUITES[name] for name in self.left_out if offered(SUITES[name].asks, self.run.greeting)]
        swept = {part.plan.name.partition("(")[0]: part.plan for part in self.run.swept.plans} if self.run.swept else {}
        further = {
            f"{behaviour}, beyond {suites}": f"{behaviour}, beyond the sweep {swept[plan].name}"
            for behaviour, suites, plan in SAMPLED
            if plan in swept
        }
        return [further.get(each, each) for each in NOT_COVERED if each not in covered] + [
            f"the suite {suite.name}: {suite.shows}" for suite in left_out
        ]

    @property
    def statement(self) -> dict[str, Any]:
        run = self.run
        subjects = self.identity.files or ((run.target, self.identity.digest),)
        vectors = hashlib.sha256("".join(part.vectors_digest for part in run.suites).encode()).hexdigest()
        return {
            "_type": STATEMENT,
            "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects],
            "predicateType": PREDICATE,
            "predicate": {
                "result": "PASSED" if run.conformant else "FAILED",
                "configuration": [{"name": run.profile.name, "digest": {"sha256": vectors}}],
                "passedTests": sorted(claim for claim, state in run.claims.items() if state == HOLDS),
                "warnedTests": [],
                "failedTests": sorted(claim for claim, state in run.claims.items() if state == FAILS),
                "overlong": {
                    "generator": generator(),
                    "profile": run.profile.name,
                    "command": self.command,
                    "environment": {"system": platform.system(), "machine": platform.machine()},
                    "target": target_as_json(run.target, run.greeting, self.identity.digest),
                    "claims": run.claims,
                    "suites": [suite_as_json(part) for part in run.suites],
                    "sweeps": [plan_as_json(part) for part in run.swept.plans] if run.swept else [],
                    "buckets": [bucket_as_json(bucket) for bucket in run.ordered_buckets],
                    "restarts": run.restarts,
                    "findings_digest": {"sha256": run.findings_digest},
                    "not_measured": sorted(c for c, state in run.claims.items() if state == NOT_MEASURED),
                    "not_covered": self.not_covered,
                },
            },
        }

    def to_json(self) -> str:
        """The statement, as it is written to a file."""
        return json.dumps(self.statement, indent=2) + "\n"
