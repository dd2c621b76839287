"""Turns the results of engines into findings: chooses the divergences to examine, and counts the rest.

Divergences with one fingerprint mostly have one cause. So the first is looked at, and the rest are counted. But another
cause may hide behind the same fingerprint, so one more is looked at each time the length of the campaign has doubled.
What a known condition predicts is not examined, which takes seconds. All this depends only on the numbers of inputs,
not on their division into units. A difference shows in every other input, and is no fault, so its first example is
enough.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.choosing import is_examinable, rank
from overlong.conformance.examination.shrinking import order
from overlong.conformance.support.interruption import held
from overlong.fuzz.campaign.state import Known
from overlong.fuzz.execution.job import BLOCK, octave
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.campaign.examiner import Probing
    from overlong.fuzz.campaign.state import State, StoredFinding
    from overlong.fuzz.engines.result import UnitResult
    from overlong.fuzz.execution.job import Divergence, Fingerprint

AT_ONCE = 64
"""Fingerprints of one target and kind that are examined as they come, if no known condition predicts them; of more, the
128th, the 256th and so on. This caps triage, so that one broken decoder cannot starve the rest."""


def triage(
    state: State, result: UnitResult, examiner: Probing, spent: Callable[[], float], examined: Callable[[], None]
) -> None:
    """Examine and count what a unit has shown. If an exception ends it, the next call for the unit goes on.

    Args:
        state: of the campaign; all earlier units are triaged.
        result: of the next unit.
        examiner: examines new divergences.
        spent: gives the seconds of campaign time.
        examined: called after each examination, which may have added a finding.

    Raises:
        CampaignError: a known finding cannot be read.
        TargetError: a target cannot be asked any more.
        Unfinished: there is no time left.
    """
    for each in sorted(result.divergences, key=_first):
        if (each.fingerprint, each.index) not in state.taken and _take(state, each, examiner, result, spent):
            examined()
    with held():
        left, end = Counter(result.counts), result.unit.first + result.unit.count
        for fingerprint, number in [each for each in state.taken if each[1] < end]:
            left[fingerprint] -= 1
            state.taken.discard((fingerprint, number))
        for fingerprint, count in (+left).items():
            state.count(fingerprint, count)
        state.inputs, state.octets = end, state.octets + result.octets
        state.asked += result.asked
        state.coverage = max(state.coverage, result.coverage)


def _first(divergence: Divergence) -> tuple[object, ...]:
    """The order of examinations in a block: what may explain others before them, then the least."""
    finding = divergence.finding
    examinable = not divergence.peer and is_examinable(finding.code, finding.operation)
    telling = rank(finding.code, finding.operation) if examinable else (0, 0)
    least, block = shortlex(finding.vector.octets), divergence.index // BLOCK
    return block, bool(divergence.peer), not examinable, telling, least, divergence.fingerprint


def _take(
    state: State, divergence: Divergence, examiner: Probing, result: UnitResult, spent: Callable[[], float]
) -> bool:
    """Look at a divergence if it is due. True if it was examined, which takes seconds."""
    fingerprint, when = divergence.fingerprint, octave(divergence.index // BLOCK)
    known = state.fingerprints.get(fingerprint, Known())
    if known.octave and (divergence.peer or when <= known.octave):
        return False
    found: StoredFinding | str = "" if divergence.peer else examiner.joined(divergence, [*state.findings.values()])
    new: StoredFinding | None = None
    due = not found and (bool(known.finding) if known.octave else _is_due(state, fingerprint))
    if due:
        found = examiner.examine(divergence, [*state.findings.values()])
    if not isinstance(found, str):
        there = state.findings.get(found.id)
        if there is None or (order(found), found.operation) < (order(there), there.operation):
            stable = found.stable if found.is_difference else examiner.stable(found)
            new = replace(found, stable=stable, seconds=spent())
            if there is not None:
                new = replace(new, first=there.first, seconds=there.seconds, count=there.count)
    with held():
        if new is not None:
            is_first = new.id not in state.findings
            state.findings[new.id] = new
            if is_first:
                state.discovered(new.seconds, result.executions, new.id)
        if name := found if isinstance(found, str) else found.id:
            state.count(fingerprint, 1, name)
            state.taken.add((fingerprint, divergence.index))
        state.fingerprints.setdefault(fingerprint, known).octave = when
    return due


def _is_due(state: State, fingerprint: Fingerprint) -> bool:
    """True if the example of a new fingerprint is to be examined."""
    number = 1 + state.distinct(fingerprint.target, fingerprint.kind)
    return number <= AT_ONCE or not number & (number - 1)
