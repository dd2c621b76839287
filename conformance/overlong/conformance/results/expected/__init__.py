"""Expected deviations: the wrong answers that a project accepts from its decoder, each with a reason.

A divergence that no entry names is unexpected; an entry that no longer names a divergence is stale. Both fail a run, so
a list of entries stays exact. ``docs/expected.md`` describes the format.
"""

from __future__ import annotations

from overlong.conformance.results.expected.entries import ExpectationError
from overlong.conformance.results.expected.expectations import Expectations

__all__ = ["ExpectationError", "Expectations"]
