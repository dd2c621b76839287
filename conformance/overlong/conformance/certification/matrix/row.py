"""The result of one target of a matrix."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from overlong.conformance.results.headline import State
from overlong.conformance.results.reading.recorded import cause_of, state_recorded
from overlong.conformance.support.printable import counted, printable

INCOMPLETE = 4
"""The exit status of a worker that was interrupted; a certificate does not record it."""


@dataclass(frozen=True)
class MatrixRow:
    """The result of one target."""

    target: str
    state: State
    why: str = ""
    """The reason why it was not measured, or not completely."""
    version: str = ""
    language: str = ""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: tuple[dict[str, Any], ...] = ()
    """The buckets in the form of ``certificate.json``."""
    restarts: int = 0
    folder: str = ""
    """The folder of ``results.jsonl`` in the matrix's folder; empty if nothing was measured."""
    time: str = ""
    """The time of the measurement."""
    seconds: float = 0.0
    set_aside: str = ""
    """In words, the vectors that were not asked because of declared traits."""

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
            **({"set_aside": self.set_aside} if self.set_aside else {}),
        }


def not_begun(target: str) -> MatrixRow:
    """The row of a target that is not asked yet."""
    return MatrixRow(target, State.INCOMPLETE, "interrupted before it began")


def row_of(
    target: str, status: int, written: bytes, said: bytes, seconds: float, when: str = "", folder: str = ""
) -> MatrixRow:
    """The row from a worker's output.

    Args:
        target: its name.
        status: the exit status of its process.
        written: its stdout.
        said: its stderr; the last line has the reason for a missing statement.
        seconds: the duration.
        when: the time of its start.
        folder: the folder of its results.
    """
    words = said.decode("utf-8", "backslashreplace").strip().splitlines()
    why = printable(words[-1].removeprefix("overlong: ")) if words else ""
    seconds = round(seconds, 3)
    incomplete = status == INCOMPLETE
    try:
        measured = json.loads(written)["predicate"]["overlong"]
        described, claims = measured["target"], measured["claims"]
        mode = printable(described["error_mode"])
        state = state_recorded(claims, tuple(map(cause_of, measured["buckets"])), incomplete=incomplete)
        if state is State.NOTHING:
            why = why or f"it only replaces streams, by no error mode known here ({mode})"
        elif stale := len(measured.get("stale", ())):
            why = why or counted(stale, "stale expectation")
        return MatrixRow(
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
            measured.get("set_aside", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        state = State.INCOMPLETE if incomplete else State.NOT_MEASURED
        return MatrixRow(target, state, why or f"certifying it ended with status {status}", time=when, seconds=seconds)
