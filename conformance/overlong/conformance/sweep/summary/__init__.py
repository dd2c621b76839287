"""A sweep's divergences as a few sets: by their kind, by the defect of their first error; and the dialects that fit.

In: the kinds of all strings of a plan, in shards. Out: sets, counted over all of them. Must not know: why they diverge,
which the examiner finds out.
"""

from __future__ import annotations

from overlong.conformance.sweep.summary.summarise import summarise

__all__ = ["summarise"]
