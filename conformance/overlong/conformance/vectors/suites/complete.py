"""The complete suite: see ``vectors/complete.py``."""

from __future__ import annotations

from overlong.conformance.protocol.kind import VERDICT
from overlong.conformance.vectors.complete import strings_for
from overlong.conformance.vectors.suites.suite import Suite, whole_inputs

COMPLETE = Suite(
    "complete-0",
    "no decoder of up to {states} states that differs from {speaks} passes this",
    lambda profile: whole_inputs("complete", strings_for(profile.dialect)),
    lambda profile: len(strings_for(profile.dialect)),
    proves=VERDICT,
)
