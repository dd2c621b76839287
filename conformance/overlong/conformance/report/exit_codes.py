"""The exit code that a program has whose result is a state (docs/command-line.md)."""

from __future__ import annotations

from overlong.conformance.report.model import State

EXIT_CODES = {
    State.CONFORMS: 0,
    State.EXPECTED: 0,
    State.DIVERGES: 1,
    State.NOT_MEASURED: 3,
    State.NOTHING: 3,
    State.INCOMPLETE: 4,
}
