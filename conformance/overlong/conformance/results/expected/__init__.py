"""Expected deviations: what a project knows its decoder to get wrong, answer by answer, with a reason.

A divergence that no entry names is unexpected; an entry that names nothing any more has gone stale. Both fail a run, so
a list of entries is always as exact as on the day when it was written. ``docs/expected.md`` tells the format.
"""

from __future__ import annotations

from overlong.conformance.results.expected.deviation import Deviation, ExpectationError
from overlong.conformance.results.expected.expectations import Expectations, Stale, Unasked

__all__ = ["Deviation", "ExpectationError", "Expectations", "Stale", "Unasked"]
