"""The state of a whole run, decided here from its claims, and nowhere else.

Every report, certificate and exit code asks this module; ``docs/command-line.md`` has the same as a table. How a state
is worded is in ``report/wording.py``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import CLAIMS, NORMATIVE

if TYPE_CHECKING:
    from collections.abc import Collection


class State(StrEnum):
    """The state of one target, in the words that files use."""

    CONFORMS = "conforms"
    EXPECTED = "diverges as expected"
    """Each of its divergences is an expected deviation: 0 unexpected, never "certified"."""
    EXCEPT = "conforms with exceptions"
    """Nothing fails that RFC 3629 demands; something else does."""
    DIVERGES = "diverges"
    INCOMPLETE = "incomplete"
    NOT_MEASURED = "not measured"
    """It could not be asked anything."""
    NOTHING = "nothing to judge"
    """It was asked, and no claim holds or fails."""


WAITS = "what was seen is not examined yet"
"""Why a campaign that had no time to say whether a divergence is a finding is incomplete."""
FAILING = (State.DIVERGES, State.EXCEPT)
"""States of a target that diverges otherwise than expected."""
WORST_FIRST = (
    *(State.INCOMPLETE, State.NOT_MEASURED, State.DIVERGES, State.EXCEPT),
    *(State.NOTHING, State.EXPECTED, State.CONFORMS),
)
_CODES = {State.CONFORMS: 0, State.EXPECTED: 0, State.NOT_MEASURED: 3, State.NOTHING: 3, State.INCOMPLETE: 4}


def state_of(failing: Collection[str], *, held: bool, incomplete: bool = False, as_expected: bool = False) -> State:
    """The state of a run.

    Args:
        failing: the claims that fail.
        held: a claim holds; of a sweep or a campaign, which settles no claims: something was asked.
        incomplete: the run ended early.
        as_expected: there are divergences, and each of them is expected.
    """
    if incomplete:
        return State.INCOMPLETE
    if as_expected:
        return State.EXPECTED
    if failing:
        graver = NORMATIVE.intersection(failing) or not CLAIMS.keys() >= set(failing)  # an unknown claim may be grave
        return State.DIVERGES if graver else State.EXCEPT
    return State.CONFORMS if held else State.NOTHING


def exit_code_of(state: State, stale: int = 0) -> int:
    """The exit code of a program whose result is a state; ``stale``: so many expected deviations occur no more."""
    return _CODES.get(state, 1) or int(stale > 0)


def result_of(state: State, stale: int = 0) -> str:
    """The ``result`` of a certificate: PASSED, WARNED or FAILED."""
    if state is State.CONFORMS:
        return "PASSED"
    return "WARNED" if state is State.EXPECTED and not stale else "FAILED"
