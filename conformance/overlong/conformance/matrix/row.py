"""What became of one target of a matrix."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from overlong.conformance.printable import printable
from overlong.conformance.report.model import State
from overlong.conformance.runner import FAILS

_STATES = {0: State.CONFORMS, 1: State.DIVERGES, 3: State.NOTHING, 4: State.INCOMPLETE}
"""By the exit status of ``overlong certify``, where it wrote a statement."""


@dataclass(frozen=True)
class Row:
    """What became of one target."""

    target: str
    state: State
    why: str = ""
    """Why it was not measured, or not wholly."""
    version: str = ""
    language: str = ""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: tuple[dict[str, Any], ...] = ()
    """As ``certificate.json`` has them."""
    restarts: int = 0
    folder: str = ""
    """In the folder of the matrix, where ``results.jsonl`` is; empty if nothing was measured."""
    time: str = ""
    """When it was measured."""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "language": self.language,
            "version": self.version,
            "state": self.state.value,
            "why": self.why,
            "claims": self.claims,
            "buckets": list(self.buckets),
            "restarts": self.restarts,
            "folder": self.folder,
            "time": self.time,
            "seconds": self.seconds,
        }


def not_begun(target: str) -> Row:
    """The row of a target that nobody has asked yet."""
    return Row(target, State.INCOMPLETE, "interrupted before it began")


def row_of(
    target: str, status: int, written: bytes, said: bytes, seconds: float, when: str = "", folder: str = ""
) -> Row:
    """The row that a run of ``overlong certify --format json`` makes.

    Args:
        target: its name.
        status: of the run's process.
        written: its stdout.
        said: its stderr, whose last line says why there is no statement.
        seconds: that it took.
        when: it began.
        folder: of its results.
    """
    words = said.decode("utf-8", "backslashreplace").strip().splitlines()
    why = printable(words[-1].removeprefix("overlong: ")) if words else ""
    seconds = round(seconds, 3)
    state = _STATES.get(status, State.NOT_MEASURED)
    try:
        measured = json.loads(written)["predicate"]["overlong"]
        described, claims = measured["target"], measured["claims"]
        mode = printable(described["error_mode"])
        if state is State.CONFORMS and FAILS in claims.values():
            state = State.EXPECTED
        if state is State.NOTHING:
            why = why or f"it only replaces, in a way that is none of the error modes known here ({mode})"
        return Row(
            target,
            state,
            why,
            described["version"],
            described["language"],
            claims,
            tuple(measured["buckets"]),
            measured["restarts"],
            folder,
            when,
            seconds,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        state = state if state is State.INCOMPLETE else State.NOT_MEASURED
        return Row(target, state, why or f"certifying it ended with status {status}", time=when, seconds=seconds)
