"""What is asked. Each suite is a module with one job; :data:`SUITES` names them in the order they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.suites.chunking import CHUNKING
from overlong.conformance.suites.complete import COMPLETE
from overlong.conformance.suites.core import CORE, STREAMS
from overlong.conformance.suites.exhaustive import LONGEST, exhaustive
from overlong.conformance.suites.scalars import BETWEEN_OTHERS, RUNS, SCALARS

if TYPE_CHECKING:
    from overlong.conformance.suites.suite import Suite

SUITES: dict[str, Suite] = {
    suite.name: suite for suite in (CORE, COMPLETE, SCALARS, BETWEEN_OTHERS, RUNS, STREAMS, CHUNKING)
}
QUICK = ("core", "complete(0)", "streams", "chunking")

GENERATED = {f"exhaustive({longest})": longest for longest in range(1, LONGEST + 1)}
"""Suites that no certificate asks for: they are there to be written to files."""


def suite_named(name: str) -> Suite:
    """The suite of that name.

    Raises:
        KeyError: there is none.
    """
    return exhaustive(GENERATED[name]) if name in GENERATED else SUITES[name]


__all__ = ["GENERATED", "QUICK", "SUITES", "suite_named"]
