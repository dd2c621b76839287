"""What is asked. Each suite is a module with one job; :data:`SUITES` names them in the order they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.suites.chunking import CHUNKING
from overlong.conformance.suites.complete import COMPLETE
from overlong.conformance.suites.core import CORE
from overlong.conformance.suites.scalars import BETWEEN_OTHERS, RUNS, SCALARS

if TYPE_CHECKING:
    from overlong.conformance.suites.suite import Suite

SUITES: dict[str, Suite] = {suite.name: suite for suite in (CORE, COMPLETE, SCALARS, BETWEEN_OTHERS, RUNS, CHUNKING)}
QUICK = ("core", "complete(0)", "chunking")

__all__ = ["QUICK", "SUITES"]
