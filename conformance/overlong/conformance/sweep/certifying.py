"""The sweeps that a certificate rests on, beside the suites: which of them a target can bear, and what they add."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.printable import thousands
from overlong.conformance.runner import FAILS
from overlong.conformance.sweep.expectation import expectation
from overlong.conformance.sweep.in_process import reason_against
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.sweep import sweep
from overlong.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.finding import Finding
    from overlong.conformance.runner import Progress, Run
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.resolve import Limits

USUAL = ("depth(1)", "placed(64)")
"""What a target is swept with that can bear it."""
_BEARABLE = 20.0
"""Seconds that these may take by the rate at which the suites were answered; columns of a sweep are faster."""


def usual(target: FramedTarget, run: Run, *, thorough: bool) -> tuple[str, ...]:
    """The plans to sweep a target with, after its suites; none if it cannot bear them: then a note says why.

    ``thorough``: also if that takes long.
    """
    try:
        expectation(run.profile, run.greeting)
    except TargetError:
        return ()  # nothing that it offers can be swept
    if find_spec("numpy") is None:
        run.notes.append(f"not swept ({' and '.join(USUAL)} need NumPy: pip install 'overlong[native]')")
        return ()
    if not thorough and (reason := _unbearable(target, run)):
        run.notes.append(f"not swept: {reason}")
        return ()
    return USUAL


def with_others(plans: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Some plans and others, which take the place of those of their kind."""
    kinds = {name.partition("(")[0] for name in wanted}
    return (*(name for name in plans if name.partition("(")[0] not in kinds), *wanted)


def _unbearable(target: FramedTarget, run: Run) -> str:
    if run.restarts:
        return "it failed while the suites ran; 'overlong sweep' asks all the same"
    if not reason_against(target):
        return ""
    answers = sum(part.done * len(part.operations) for part in run.suites)
    strings = sum(plan_named(name, run.profile).size for name in USUAL)
    seconds = run.seconds / max(answers, 1) * strings
    return "" if seconds < _BEARABLE else f"{thousands(strings)} strings take it long; --thorough asks them"


def sweep_too(
    run: Run, target: str | Sequence[str], plans: Sequence[str], limits: Limits | None, progress: Progress
) -> list[Finding]:
    """Sweep a target with some plans, as part of a run; the findings of which its suites had none like them.

    Raises:
        TargetError: it cannot be swept.
    """
    run.swept = swept = sweep(target, plans, speaks=run.profile.speaks, limits=limits, progress=progress)
    if swept.incomplete or swept.wrong:
        run.incomplete = f"the sweep: {swept.incomplete or swept.wrong}"
    new: list[Finding] = []
    for bucket in swept.buckets:
        finding = bucket.finding
        run.claims[finding.claim] = FAILS
        if finding.bucket not in run.buckets:
            finding = replace(finding, vector=replace(finding.vector, comment=bucket.found.description))
            run.add(finding)
            run.buckets[finding.bucket].count = bucket.found.count
            new.append(finding)
    return new
