"""The sweeps that a certificate rests on, beside the suites: which of them a target can bear, and what they add."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.certification.nearest_model import hold_to_sweeps
from overlong.conformance.oracle.expectation import expectation
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.results.run import FAILS
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.in_process import reason_against
from overlong.conformance.sweep.ledger import LedgerError
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.pool import cpus
from overlong.conformance.sweep.sweep import sweep
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.reference.extra import install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.oracle.finding import Bucket, Finding
    from overlong.conformance.results.run import Run
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.resolve import Limits

USUAL = ("depth-1", "placed-64")
"""What a target is swept with that can bear it."""
_BEARABLE = 10.0
"""Seconds that these may take by the rate at which the suites were answered. A decoder that raises for each ill-formed
string takes two or three times that; one that does not, less."""


def plans_for(
    target: FramedTarget, run: Run, suites: Sequence[str] | None, sweeps: Sequence[str] | None, *, thorough: bool
) -> tuple[str, ...]:
    """The plans to sweep a target with, after its suites; a note of the run says why not the usual ones.

    Args:
        target: that is not started.
        run: of its suites.
        suites: what was wanted of them; None for all: only then the usual plans are asked.
        sweeps: the plans that are wanted; they take the place of usual ones of their kind. None for none but the usual,
            empty for none at all.
        thorough: ask the usual ones also if that takes long.
    """
    wanted = tuple(sweeps or ())
    if suites is not None or sweeps == ():
        return wanted
    kinds = {name.partition("-")[0] for name in wanted}
    usual = tuple(name for name in USUAL if name.partition("-")[0] not in kinds)
    try:
        expectation(run.profile, run.greeting)
    except TargetError:
        return wanted  # nothing that it offers can be swept, unless somebody insists and is told why
    if find_spec("numpy") is None:
        run.notes.append(f"not swept ({' and '.join(usual)} need NumPy; {install('native')})")
        return wanted
    if not thorough and (reason := _unbearable(target, run)):
        run.notes.append(f"not swept: {reason}")
        return wanted
    return (*usual, *wanted)


def _unbearable(target: FramedTarget, run: Run) -> str:
    if run.restarts:
        return "it failed while the suites ran; 'overlong sweep' asks all the same"
    if not reason_against(target):
        return ""
    answers = sum(part.done * len(part.operations) for part in run.suites)
    strings = sum(plan_named(name, run.profile).size for name in USUAL)
    seconds = run.seconds / max(answers, 1) * strings
    return "" if seconds < _BEARABLE else f"{thousands(strings)} strings would take it long; --thorough asks them"


def sweep_too(
    run: Run,
    target: str | Sequence[str],
    plans: Sequence[str],
    limits: Limits | None,
    progress: Progress,
    found: Callable[[Finding], None] | None,
    unexpected: Mapping[tuple[str, str], Bucket],
) -> None:
    """Sweep a target with some plans, if any, as part of a run; ``found`` is told what its suites had none like.

    A bucket that its suites have, too, shows the string of a sweep if that is less than what they asked. A sweep that
    does not come to its end leaves the run incomplete, with all that the suites showed.

    Args:
        run: of the suites.
        target: as on the command line.
        plans: by name.
        limits: what the target may take.
        progress: called as the sweep goes on.
        found: called with each finding of a bucket that the suites do not have.
        unexpected: buckets of what nobody expected, if anything was: their examples are those of the run.
    """
    if not plans:
        return
    try:
        swept = sweep(
            target, plans, speaks=run.profile.speaks, jobs=cpus(), limits=limits, apart=True, progress=progress
        )
    except (TargetError, LedgerError) as error:
        run.incomplete = f"the sweep: {error}"
        return
    except KeyboardInterrupt:
        run.incomplete = "interrupted"
        return
    run.swept = swept
    if swept.incomplete or swept.wrong:
        run.incomplete = f"the sweep: {swept.incomplete or swept.wrong}"
    hold_to_sweeps(run)
    of_suites = set(run.buckets)
    for bucket in swept.buckets:
        finding = bucket.cause or bucket.finding
        run.claims[finding.claim] = FAILS
        for each in (finding, *bucket.others):
            if each.bucket in of_suites:
                shown = _as_known(each, bucket.found.description)
                for some in (run.buckets, unexpected):
                    if each.bucket in some:
                        some[each.bucket].show(shown)
        if finding.bucket in of_suites:
            continue
        finding = _as_known(finding, bucket.found.description)
        run.add(finding)
        run.buckets[finding.bucket].count += bucket.found.count - 1
        if found is not None:
            found(finding)


def _as_known(finding: Finding, description: str) -> Finding:
    """A finding of a sweep, under the name of the vector of the core that has its octets; else with what it is of."""
    for known in core_vectors():
        if known.octets == finding.vector.octets and known.chunks is None:
            return replace(finding, vector=replace(known, profile=finding.vector.profile))
    return replace(finding, vector=replace(finding.vector, comment=description))
