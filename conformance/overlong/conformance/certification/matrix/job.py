"""The job of the worker of one row of a matrix, and its answers other than a certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from overlong.conformance.targets.resolve import Limits

KEPT_LINE = b'{"kept": true}\n'
"""A worker's output if the target has not changed."""


@dataclass(frozen=True)
class MatrixJob:
    """One target for a worker, which reads it as a line of JSON."""

    speaks: str
    """The dialect that it is measured by."""
    quick: bool
    """Leave out the scalar values; else all suites are asked, and no sweeps."""
    limits: Limits
    portrait: bool = False
    """Find the nearest model, and draw maps, even in a quick run."""
    expected: str = ""
    """The file of expected deviations; empty for that of the project."""
    target: str = ""
    folder: str = ""
    """For its results."""
    known: dict[str, Any] | None = None
    """The target as an earlier matrix had it: if it is still that, there is nothing to do. None: it is measured."""

    @classmethod
    def read(cls, line: bytes) -> MatrixJob:
        """The job that a line holds."""
        said: dict[str, Any] = json.loads(line)
        said["limits"] = Limits(**said["limits"])
        return cls(**said)
