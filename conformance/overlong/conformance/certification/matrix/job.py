"""The job of the worker of one row of a matrix, and its answers other than a certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from overlong.conformance.targets.limits import Limits

KEPT_LINE = b'{"kept": true}\n'
"""A worker's output if the target has not changed."""


@dataclass(frozen=True)
class MatrixJob:
    """One target for a worker, which reads it as a line of JSON."""

    speaks: str
    """The dialect to judge by."""
    quick: bool
    """Ask only the suites of ``--quick``. Sweeps and mixtures are never asked."""
    limits: Limits
    portrait: bool = False
    """Find the nearest model, and draw maps, even in a quick run."""
    warm: bool = True
    """Make the vectors of decoders once for all workers."""
    expected: str = ""
    """The file of expected deviations; empty for that of the project."""
    target: str = ""
    folder: str = ""
    """The folder for its results."""
    known: dict[str, Any] | None = None
    """The target in an earlier matrix: if it is unchanged, there is nothing to do. None: it is measured."""

    @classmethod
    def read(cls, line: bytes) -> MatrixJob:
        """The job in a line."""
        said: dict[str, Any] = json.loads(line)
        said["limits"] = Limits(**said["limits"])
        return cls(**said)
