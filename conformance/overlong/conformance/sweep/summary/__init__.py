"""A sweep's findings in a few sentences: sets of divergent strings, each with a verified description."""

from __future__ import annotations

from overlong.conformance.sweep.summary.summarise import summarise

__all__ = ["summarise"]
