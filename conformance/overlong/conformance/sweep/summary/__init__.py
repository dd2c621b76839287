"""What a sweep found, said in a few sentences: divergent strings as sets, each with a description that is verified."""

from __future__ import annotations

from overlong.conformance.sweep.summary.summarise import summarise

__all__ = ["summarise"]
