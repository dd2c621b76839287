"""The state of a whole run. Only this module derives it from the claims.

Every report, certificate and exit code asks this module; ``docs/command-line.md`` has the same as a table.
``report/wording.py`` has the words for a state.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import CLAIMS, GRAVE

if TYPE_CHECKING:
    from collections.abc import Collection


class State(StrEnum):
    """The state of one target, in the words that files use."""

    CONFORMS = "conforms"
    EXPECTED = "diverges as expected"
    """Each of its divergences is an expected deviation: 0 unexpected, never "certified"."""
    EXCEPT = "conforms with exceptions"
    """No claim of :data:`~overlong.conformance.protocol.observation.GRAVE` fails, but another claim fails."""
    DIVERGES = "diverges"
    INCOMPLETE = "incomplete"
    NOT_MEASURED = "not measured"
    """The target answered nothing."""
    NOTHING = "nothing to judge"
    """The target answered, but no claim holds or fails."""


WAITS = "what was seen is not examined yet"
"""The reason why a campaign is incomplete if it had no time to examine a divergence."""
FAILING = (State.DIVERGES, State.EXCEPT)
"""The states of a target with unexpected divergences."""
WORST_FIRST = (
    *(State.INCOMPLETE, State.NOT_MEASURED, State.DIVERGES, State.EXCEPT),
    *(State.NOTHING, State.EXPECTED, State.CONFORMS),
)
_CODES = {State.CONFORMS: 0, State.EXPECTED: 0, State.NOT_MEASURED: 3, State.NOTHING: 3, State.INCOMPLETE: 4}


def state_of(failing: Collection[str], *, held: bool, incomplete: bool = False, as_expected: bool = False) -> State:
    """The state of a run.

    Args:
        failing: the claims that fail.
        held: a claim holds; or, in a sweep or a campaign, which settles no claims, the target answered something.
        incomplete: the run ended early.
        as_expected: there are divergences, and each of them is expected.
    """
    if incomplete:
        return State.INCOMPLETE
    if as_expected:
        return State.EXPECTED
    if failing:
        graver = GRAVE.intersection(failing) or not CLAIMS.keys() >= set(failing)  # an unknown claim may be grave
        return State.DIVERGES if graver else State.EXCEPT
    return State.CONFORMS if held else State.NOTHING


def exit_code_of(state: State, stale: int = 0) -> int:
    """The exit code for a state; ``stale``: the number of expected deviations that no longer occur."""
    return _CODES.get(state, 1) or int(stale > 0)


def result_of(state: State, stale: int = 0) -> str:
    """The ``result`` of a certificate: PASSED, WARNED or FAILED."""
    if state is State.CONFORMS:
        return "PASSED"
    return "WARNED" if state is State.EXPECTED and not stale else "FAILED"
