"""One target of a matrix: the job of the worker that measures it, and the row that results."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from overlong.conformance.results.model import State
from overlong.conformance.results.recorded import cause_of, state_recorded
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.targets.limits import Limits

INCOMPLETE = 4
"""The exit status of a worker that was interrupted; a certificate does not record it."""
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


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """The result of one target, in the order of ``matrix.json``."""

    target: str
    language: str = ""
    version: str = ""
    state: State
    why: str = ""
    """The reason why it was not measured, or not completely."""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """The state of each claim; empty if nothing was measured."""
    buckets: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
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
        fields = {**asdict(self), "state": self.state.value}
        return fields if self.set_aside else {name: each for name, each in fields.items() if name != "set_aside"}

    @classmethod
    def read(cls, row: dict[str, Any]) -> MatrixRow:
        """The row that :meth:`as_json` wrote."""
        fields: dict[str, Any] = {**row, "state": State(row["state"]), "buckets": list(row["buckets"])}
        return cls(**fields)


def not_begun(target: str) -> MatrixRow:
    """The row of a target that is not asked yet."""
    return MatrixRow(target=target, state=State.INCOMPLETE, why="interrupted before it began")


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
            target=target,
            language=described["language"],
            version=described["version"],
            state=state,
            why=why,
            claims=claims,
            buckets=measured["buckets"],
            restarts=measured["restarts"],
            folder=folder,
            time=when,
            seconds=seconds,
            set_aside=measured.get("set_aside", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        state = State.INCOMPLETE if incomplete else State.NOT_MEASURED
        why = why or f"certifying it ended with status {status}"
        return MatrixRow(target=target, state=state, why=why, time=when, seconds=seconds)
